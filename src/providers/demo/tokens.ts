/** The demo model's tokens: short pieces of words. Joined, they are the original text. */
import { invalid } from '../../errors.ts'
import type { Block, Conversation } from '../../conversation/conversation.ts'
import { isShort } from '../../wire/json.ts'

/** A piece of a word or number with the space before it; one other character; a run of white space. */
const token = / ?(?:\p{Ideographic}|[[\p{L}\p{M}]--\p{Ideographic}]{1,8}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}])|\s{1,8}/gv

/** Characters that are read of a text: to answer it, and to split it into tokens; the tokens of the rest are extrapolated. */
export const readLength = 8_000
const splitLength = 100_000
/** Characters of the tools and the schema of a request. */
const maxOffer = 500_000
/** The overhead of a turn, and of an image, audio or a file of any size. */
const [turnTokens, mediaTokens] = [4, 85]

export function tokensOf(text: string): string[] {
  return text.match(token) ?? []
}

export function countTokens(text: string, split: number = splitLength): number {
  const known = text.slice(0, split)
  return Math.ceil((tokensOf(known).length * text.length) / Math.max(known.length, 1))
}

/** Tokens of a conversation: turns, media, tools and the schema of the answer. Throws 400 for too large tools or schemas. */
export function promptTokens({ turns, tools, output }: Conversation): number {
  const texts: string[] = []
  let tokens = turnTokens - 1
  const add = (block: Block): void => {
    if (block.kind === 'text') texts.push(block.text)
    else if (block.kind === 'media') tokens += mediaTokens
    else if (block.kind === 'call') texts.push(block.name, block.input)
    else if (block.kind === 'result') block.blocks.forEach(add)
    if (block.kind === 'call' || block.kind === 'result') tokens += turnTokens
  }
  for (const { blocks } of turns) {
    tokens += turnTokens
    blocks.forEach(add)
  }
  const offers = { tools: tools.map((tool) => ({ ...tool, place: undefined })), output }
  for (const [name, offer] of Object.entries(offers)) {
    if (!isShort(offer, maxOffer)) {
      throw invalid(`"${name}" is too large for this model: at most ${maxOffer} characters.`, name)
    }
  }
  if (tools.length > 0) texts.push(JSON.stringify(offers.tools))
  if (output?.kind === 'schema') texts.push(JSON.stringify(output.schema))
  return tokens + countTokens(texts.join(' '))
}
