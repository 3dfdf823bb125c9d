/** The probabilities of tokens. */
import { fieldsOf, isRecord, itemsOf, numberOf, textOf, type Fields } from '../../wire/json.ts'
import type { TokenLogprob } from '../../conversation/conversation.ts'

/** Undefined if there are none. */
export function readLogprobs(raw: unknown): readonly TokenLogprob[] | undefined {
  const { chosenCandidates, topCandidates } = fieldsOf(raw)
  const [chosen, top] = [itemsOf(chosenCandidates).filter(isRecord), itemsOf(topCandidates)]
  if (chosen.length === 0) return undefined
  return chosen.map((token, index) => {
    const alternatives = itemsOf(fieldsOf(top[index])['candidates']).filter(isRecord)
    return { ...readToken(token), top_logprobs: alternatives.map(readToken) }
  })
}

function readToken({ token, logProbability }: Fields): TokenLogprob {
  const text = textOf(token)
  return { token: text, logprob: numberOf(logProbability) ?? 0, bytes: [...Buffer.from(text)] }
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
