/** The probabilities of tokens in a chat: those of the text and of the refusal, beside the message. */
import { isRecord } from '../../wire/json.ts'
import type { Block, Fields, TokenLogprob } from '../../conversation/conversation.ts'

/** The tokens in a list; undefined if there are none. */
export function tokensIn(list: unknown): readonly TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const tokens = list.filter(isToken)
  return tokens.length === 0 ? undefined : tokens
}

function isToken(value: unknown): value is TokenLogprob {
  if (!isRecord(value) || typeof value['token'] !== 'string' || typeof value['logprob'] !== 'number') return false
  const { top_logprobs: top } = value
  return top === undefined || (Array.isArray(top) && top.every(isToken))
}

/** `logprobs` of a choice with these blocks. */
export function logprobsOf(blocks: readonly Block[]): Fields | null {
  let content: TokenLogprob[] | null = null
  let refusal: TokenLogprob[] | null = null
  for (const block of blocks) {
    if ((block.kind !== 'text' && block.kind !== 'refusal') || block.logprobs === undefined) continue
    const all = block.kind === 'text' ? (content ??= []) : (refusal ??= [])
    for (const each of block.logprobs) all.push(each)
  }
  return content === null && refusal === null ? null : { content, refusal }
}
