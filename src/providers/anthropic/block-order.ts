/**
 * Preserves the content blocks of a response until the next turn. A chat message has one text followed by its tool calls.
 * The Messages API has blocks in any order; it rejects modified thinking blocks, and those with other blocks before them
 * than in the response. So the client gets the thinking in `reasoning_details`, with the order of all blocks if it is not
 * the usual one.
 */
import { isRecord } from '../../wire/json.ts'

/** A content block of the Messages API. */
export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * A thinking block in `reasoning_details` of the assistant message. The format is OpenRouter's, which clients already send
 * back unchanged. `format` identifies the models that can read it.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted'
  readonly text?: string
  readonly signature?: string
  readonly data?: string
  readonly format: string
  readonly index: number
  /** In the first detail only: the blocks in the order of the response. A number is a text block with that length. */
  readonly order?: BlockSequence
}

type BlockSequence = readonly ('thinking' | 'call' | number)[]

const claude = 'anthropic-claude-v1'

/** Identifies the models that can read the thinking: all Claude models, at any vendor; any other model only its own. */
export function formatOf(model: string): string {
  return /claude/i.test(model) ? claude : `messages/${model}`
}

/** Records the blocks of a response as they arrive. */
export class BlockOrder {
  readonly #format: string
  readonly #details: ReasoningDetail[] = []
  readonly #order: ('thinking' | 'call' | { length: number })[] = []

  constructor(format: string) {
    this.#format = format
  }

  call(): void {
    this.#order.push('call')
  }

  /** Starts a text block. The caller increases its `length`. */
  text(): { length: number } {
    const text = { length: 0 }
    this.#order.push(text)
    return text
  }

  /** Starts a thinking block. The caller adds it with `add` once it is complete. */
  thinking(): void {
    this.#order.push('thinking')
  }

  add(block: Readonly<Record<string, unknown>>): void {
    const position = { format: this.#format, index: this.#details.length }
    if (block['type'] === 'redacted_thinking') {
      this.#details.push({ type: 'reasoning.encrypted', data: String(block['data']), ...position })
    } else {
      const [text, signature] = [String(block['thinking']), String(block['signature'])]
      this.#details.push({ type: 'reasoning.text', text, signature, ...position })
    }
  }

  /** The `reasoning_details` for the client; empty without thinking. */
  details(): readonly ReasoningDetail[] {
    const [first, ...others] = this.#details
    if (first === undefined) return []
    const blocks = this.#order
      .map((each) => (typeof each === 'object' ? each.length : each))
      .filter((each) => each !== 0)
    return isUsual(blocks) ? this.#details : [{ ...first, order: blocks }, ...others]
  }
}

/** The usual order: all thinking, at most one text, all calls. */
function isUsual(order: BlockSequence): boolean {
  const rank = (each: BlockSequence[number]) => (each === 'thinking' ? 0 : each === 'call' ? 2 : 1)
  return order.every((each, at) => {
    const before = order[at - 1]
    return before === undefined || rank(before) < rank(each) || (before === each && typeof each === 'string')
  })
}

/**
 * Restores the blocks of an earlier response. If the client has changed the message, they get an order that the API
 * accepts: thinking, text, calls. The thinking of other models is dropped; without a `format` all of it.
 */
export function restoreBlocks(
  texts: readonly Block[],
  calls: readonly Block[],
  details: unknown,
  format: string | undefined,
): Block[] {
  const ours = (Array.isArray(details) ? details : []).filter(isRecord).filter((detail) => detail['format'] === format)
  const thinking = ours.map(thinkingBlock)
  const order = ours[0]?.['order']
  const fullText = texts.map(({ text }) => text as string).join('')
  if (!Array.isArray(order) || !matches(order, fullText, calls, thinking)) {
    return [...thinking.flat(), ...texts, ...calls]
  }
  // The client's extra fields, such as cache markers, apply to everything before them: they belong on the last text.
  const { type: _, text: __, ...extras } = texts.at(-1) ?? { type: 'text' }
  const lastText = order.findLastIndex((each) => typeof each === 'number')
  let [at, nextThinking, nextCall] = [0, 0, 0]
  return order.flatMap((each, index): readonly Block[] => {
    if (each === 'thinking') return thinking[nextThinking++] ?? []
    if (each === 'call') return [calls[nextCall++] as Block]
    const text = fullText.slice(at, (at += each))
    return [{ type: 'text', text, ...(index === lastText && extras) }]
  })
}

/** Whether an order, which comes from the client, fits these blocks. */
function matches(
  order: readonly unknown[],
  fullText: string,
  calls: readonly Block[],
  thinking: readonly Block[][],
): order is BlockSequence {
  const lengths = order.filter((each) => typeof each === 'number')
  return (
    order.every((each) => each === 'thinking' || each === 'call' || (Number.isSafeInteger(each) && Number(each) > 0)) &&
    lengths.reduce((sum, length) => sum + length, 0) === fullText.length &&
    order.filter((each) => each === 'call').length === calls.length &&
    order.filter((each) => each === 'thinking').length === thinking.length
  )
}

function thinkingBlock({ type, text, signature, data, format }: Record<string, unknown>): Block[] {
  if (type === 'reasoning.encrypted' && typeof data === 'string') return [{ type: 'redacted_thinking', data }]
  if (type !== 'reasoning.text' || typeof signature !== 'string') return []
  // Claude rejects thinking without its signature. Other models have no signatures.
  if (signature === '' && format === claude) return []
  return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }]
}

export function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}
