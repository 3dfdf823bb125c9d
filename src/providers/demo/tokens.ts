/** The demo model's tokens: short pieces of words. Joined they are the text again, so counting and cutting agree. */
import type { ChatRequest } from '../../wire/chat.ts'

/** A word or number with the blank before it, up to a length; one other character; a run of white space. */
const token = / ?(?:\p{Ideographic}|[[\p{L}\p{M}]--\p{Ideographic}]{1,8}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}])|\s{1,8}/gv

export function tokensOf(text: string): string[] {
  return text.match(token) ?? []
}

/** Text beyond this many characters is not looked into for counting: it is taken to be like the beginning. */
const countedLength = 200_000

export function countTokens(text: string): number {
  if (text.length <= countedLength) return tokensOf(text).length
  return Math.ceil((tokensOf(text.slice(0, countedLength)).length * text.length) / countedLength)
}

/** What frames a message, and what opens the answer. */
const messageTokens = 4
const answerTokens = 3
/** Whatever the size of an image, a sound or a file. */
const attachmentTokens = 85

/** Tokens of a whole question: messages, attachments and the tools offered. */
export function promptTokens({ messages, tools, response_format: format }: ChatRequest): number {
  let count = answerTokens
  for (const { content, tool_calls: calls } of messages) {
    count += messageTokens
    if (typeof content === 'string') count += countTokens(content)
    else for (const part of content ?? []) count += part.text === undefined ? attachmentTokens : countTokens(part.text)
    if (calls?.length) count += countTokens(JSON.stringify(calls))
  }
  if (tools?.length) count += countTokens(JSON.stringify(tools))
  if (format?.json_schema !== undefined) count += countTokens(JSON.stringify(format.json_schema))
  return count
}
