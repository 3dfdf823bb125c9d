/**
 * The blocks of an answer on their way through the client and back. A chat message has one text and its calls behind it;
 * the API has blocks in any order, refuses thinking that was edited, and binds it to what stands before it. So the
 * thinking travels in `reasoning_details`, together with the order of all blocks wherever it is not the usual one.
 */
import { isRecord } from '../reading/parts.ts'

/** A content block of the Messages API. */
export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * A thinking block in the field `reasoning_details` of the assistant message. The shape is OpenRouter's, which clients
 * know to send back untouched; `format` names the maker.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted'
  readonly text?: string
  readonly signature?: string
  readonly data?: string
  readonly format: string
  readonly index: number
  /** In the first detail: a thinking block, a call, or the length of a text, in the order of the answer. */
  readonly order?: Order
}

type Order = readonly ('thinking' | 'call' | number)[]

const claude = 'anthropic-claude-v1'

/** Who can read the thinking: every Claude, wherever it runs; of other models that speak its API, each for itself. */
export function formatOf(model: string): string {
  return /claude/i.test(model) ? claude : `messages/${model}`
}

/** Notes the blocks of an answer while they arrive. */
export class Arrangement {
  readonly #format: string
  readonly #details: ReasoningDetail[] = []
  readonly #order: ('thinking' | 'call' | { length: number })[] = []

  constructor(format: string) {
    this.#format = format
  }

  call(): void {
    this.#order.push('call')
  }

  /** A block of text begins; its `length` grows as it arrives. */
  text(): { length: number } {
    const text = { length: 0 }
    this.#order.push(text)
    return text
  }

  /** A block of thinking begins; it is `add`ed when it is whole. */
  thinking(): void {
    this.#order.push('thinking')
  }

  add(block: Readonly<Record<string, unknown>>): void {
    const place = { format: this.#format, index: this.#details.length }
    if (block['type'] === 'redacted_thinking') {
      this.#details.push({ type: 'reasoning.encrypted', data: String(block['data']), ...place })
    } else {
      const [text, signature] = [String(block['thinking']), String(block['signature'])]
      this.#details.push({ type: 'reasoning.text', text, signature, ...place })
    }
  }

  /** What the client keeps of it; nothing where the model did not think. */
  details(): readonly ReasoningDetail[] {
    const [first, ...others] = this.#details
    if (first === undefined) return []
    const blocks = this.#order
      .map((each) => (typeof each === 'object' ? each.length : each))
      .filter((each) => each !== 0)
    return isUsual(blocks) ? this.#details : [{ ...first, order: blocks }, ...others]
  }
}

/** All thinking, at most one text, all calls. */
function isUsual(order: Order): boolean {
  const place = (each: Order[number]) => (each === 'thinking' ? 0 : each === 'call' ? 2 : 1)
  return order.every((each, at) => {
    const before = order[at - 1]
    return before === undefined || place(before) < place(each) || (before === each && typeof each === 'string')
  })
}

/**
 * The blocks of an answer as the model made them; where the client has changed it, in an order the API takes: thinking,
 * text, calls. What another vendor's model thought is left out.
 */
export function arranged(texts: readonly Block[], calls: readonly Block[], details: unknown, format: string): Block[] {
  const ours = (Array.isArray(details) ? details : []).filter(isRecord).filter((detail) => detail['format'] === format)
  const thinking = ours.map(thinkingBlock)
  const order = ours[0]?.['order']
  const said = texts.map(({ text }) => text as string).join('')
  if (!Array.isArray(order) || !describes(order, said, calls, thinking)) {
    return [...thinking.flat(), ...texts, ...calls]
  }
  // Marks of the client, such as of a cache, hold for all that stands before them.
  const { type: _, text: __, ...marks } = texts.at(-1) ?? { type: 'text' }
  const lastText = order.findLastIndex((each) => typeof each === 'number')
  let [at, thought, called] = [0, 0, 0]
  return order.flatMap((each, place): readonly Block[] => {
    if (each === 'thinking') return thinking[thought++] ?? []
    if (each === 'call') return [calls[called++] as Block]
    const text = said.slice(at, (at += each))
    return [{ type: 'text', text, ...(place === lastText && marks) }]
  })
}

/** Whether these are the blocks the order speaks of. It comes from the client. */
function describes(
  order: readonly unknown[],
  said: string,
  calls: readonly Block[],
  thinking: readonly Block[][],
): order is Order {
  const lengths = order.filter((each) => typeof each === 'number')
  return (
    order.every((each) => each === 'thinking' || each === 'call' || (Number.isSafeInteger(each) && Number(each) > 0)) &&
    lengths.reduce((sum, length) => sum + length, 0) === said.length &&
    order.filter((each) => each === 'call').length === calls.length &&
    order.filter((each) => each === 'thinking').length === thinking.length
  )
}

function thinkingBlock({ type, text, signature, data, format }: Record<string, unknown>): Block[] {
  if (type === 'reasoning.encrypted' && typeof data === 'string') return [{ type: 'redacted_thinking', data }]
  if (type !== 'reasoning.text' || typeof signature !== 'string') return []
  // Claude refuses what it has not signed; others do not sign.
  if (signature === '' && format === claude) return []
  return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }]
}

export function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}
