/** The demo model's tokens: short pieces of words. Joined, they are the original text. */
import type { ChatRequest } from '../../wire/chat.ts'
import { budget } from './budget.ts'

/** A piece of a word or number with the space before it; one other character; a run of white space. */
const token = / ?(?:\p{Ideographic}|[[\p{L}\p{M}]--\p{Ideographic}]{1,8}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}])|\s{1,8}/gv

export function tokensOf(text: string): string[] {
  return text.match(token) ?? []
}

/** Counts the tokens of several texts. Above the budget it extrapolates. */
export class TokenCounter {
  #split = 0
  #rest = 0
  #tokens = 0

  add(text: string): void {
    const read = text.slice(0, Math.max(budget.countedLength - this.#split, 0))
    if (read !== '') this.#tokens += tokensOf(read).length
    this.#split += read.length
    this.#rest += text.length - read.length
  }

  get tokens(): number {
    return this.#tokens + (this.#rest === 0 ? 0 : Math.ceil((this.#tokens / this.#split) * this.#rest))
  }
}

export function countTokens(text: string): number {
  const counter = new TokenCounter()
  counter.add(text)
  return counter.tokens
}

/** The overhead of a message, and of the response. */
const messageTokens = 4
const answerTokens = 3
/** For an image, audio or a file of any size. */
const attachmentTokens = 85

/** Tokens of a request: messages, attachments and tools. `requireOffer` has limited the size of the tools. */
export function promptTokens(request: ChatRequest): number {
  const { messages, tools, functions, response_format: format } = request
  const counter = new TokenCounter()
  let frames = answerTokens
  for (const { content, tool_calls: calls } of messages) {
    frames += messageTokens
    if (typeof content === 'string') counter.add(content)
    else {
      for (const { text } of content ?? []) {
        if (text === undefined) frames += attachmentTokens
        else counter.add(text)
      }
    }
    for (const call of calls ?? []) {
      frames += messageTokens
      counter.add(call.function?.name ?? '')
      counter.add(call.function?.arguments ?? '')
    }
  }
  for (const offer of [tools, functions, format?.json_schema]) {
    if (offer && (!Array.isArray(offer) || offer.length > 0)) counter.add(JSON.stringify(offer))
  }
  return frames + counter.tokens
}
