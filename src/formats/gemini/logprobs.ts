/** The probabilities of tokens. */
import { isRecord, type Fields } from '../../wire/json.ts'
import type { TokenLogprob } from '../../conversation/conversation.ts'

/** Undefined if there are none. */
export function readLogprobs(raw: unknown): readonly TokenLogprob[] | undefined {
  const { chosenCandidates: chosen, topCandidates: top } = isRecord(raw) ? raw : {}
  if (!Array.isArray(chosen) || chosen.length === 0) return undefined
  return chosen.filter(isRecord).map((token, index) => {
    const alternatives: unknown = Array.isArray(top) ? top[index] : undefined
    const list: unknown = isRecord(alternatives) ? alternatives['candidates'] : undefined
    return { ...readToken(token), top_logprobs: Array.isArray(list) ? list.filter(isRecord).map(readToken) : [] }
  })
}

function readToken({ token, logProbability }: Fields): TokenLogprob {
  const text = typeof token === 'string' ? token : ''
  return {
    token: text,
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: [...Buffer.from(text)],
  }
}

export function writeLogprobs(tokens: readonly TokenLogprob[]): Fields {
  return {
    topCandidates: tokens.map(({ top_logprobs: top = [] }) => ({ candidates: top.map(writeToken) })),
    chosenCandidates: tokens.map(writeToken),
  }
}

function writeToken({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>): object {
  return { token, logProbability: logprob }
}
