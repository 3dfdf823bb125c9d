/**
 * `reasoning_details` of a chat: the reasoning that clients carry for its maker, one detail for each block with state. The
 * first one has the order of all blocks, if it is not the usual one.
 */
import { bareMaker, isSealed, makerIn, seal, unseal } from '../envelope.ts'
import { isRecord, textOf } from '../../wire/json.ts'
import type { Block, Fields, ReasoningBlock, State, TextBlock } from '../../conversation/conversation.ts'
import { isTextOnly } from './states.ts'

const claude = 'anthropic-claude-v1'
/** Formats of details whose maker the gateway knows. */
const known = /^(?:anthropic-|messages\/|modelhatch-)/

/** The details of a message. `rest`: those of other makers, as they are. */
export interface ReadDetails {
  readonly blocks: readonly ReasoningBlock[]
  readonly rest: readonly unknown[]
  readonly order: readonly unknown[] | undefined
}

export function readDetails(details: readonly unknown[]): ReadDetails {
  const blocks: ReasoningBlock[] = []
  const rest: unknown[] = []
  let order: readonly unknown[] | undefined
  for (const detail of details) {
    if (!isRecord(detail) || typeof detail['format'] !== 'string' || !known.test(detail['format'])) {
      rest.push(detail)
      continue
    }
    if (order === undefined && Array.isArray(detail['order'])) order = detail['order'] as unknown[]
    const block = readDetail(detail, detail['format'])
    if (block !== undefined) blocks.push(block)
  }
  return { blocks, rest, order }
}

function readDetail({ type, text, signature, data }: Fields, format: string): ReasoningBlock | undefined {
  const isSealedOnly = type === 'reasoning.encrypted'
  const written = isSealedOnly ? data : signature
  // The order counts it all the same.
  if (typeof written !== 'string') return isSealedOnly ? undefined : { kind: 'reasoning', text: textOf(text) }
  const maker = makerIn(written) ?? (format === claude || format.startsWith('modelhatch-') ? bareMaker : format)
  const state = { maker, data: isSealed(written) ? (unseal(written, maker) ?? '') : written }
  if (isSealedOnly) return { kind: 'reasoning', text: '', form: 'sealed', state }
  return { kind: 'reasoning', text: textOf(text), state: written === '' ? undefined : state }
}

/** The blocks in the order of the answer, unless the client has changed the message. */
export function inOrder(
  order: readonly unknown[] | undefined,
  reasoning: readonly Block[],
  texts: readonly Block[],
  calls: readonly Block[],
): Block[] {
  const usual = [...reasoning, ...texts, ...calls]
  if (order === undefined) return usual
  const full = texts.map((each) => (each.kind === 'text' ? each.text : '')).join('')
  const lengths = order.filter((each): each is number => Number.isSafeInteger(each) && Number(each) > 0)
  const count = (what: string) => order.filter((each) => each === what).length
  const fits =
    lengths.reduce((sum, each) => sum + each, 0) === full.length &&
    count('call') === calls.length &&
    count('thinking') === reasoning.length &&
    lengths.length + calls.length + reasoning.length === order.length
  if (!fits) return usual
  const last = order.findLastIndex((each) => typeof each === 'number')
  const extras = texts.at(-1) as TextBlock | undefined
  let [at, nextReasoning, nextCall] = [0, 0, 0]
  return order.map((each, index): Block => {
    if (each === 'thinking') return reasoning[nextReasoning++] as Block
    if (each === 'call') return calls[nextCall++] as Block
    const text = full.slice(at, (at += each as number))
    return index === last ? { ...extras, kind: 'text', text } : { kind: 'text', text }
  })
}

/** What details are made of: a block, of a text only its length. */
export interface Said {
  readonly kind: Block['kind']
  readonly length: number
  readonly text?: string | undefined
  readonly form?: ReasoningBlock['form']
  readonly state?: State | undefined
}

/** The details of these blocks; none if no block has state. */
export function detailsOf(blocks: Iterable<Said>): readonly Fields[] {
  const details: Fields[] = []
  const order: ('thinking' | 'call' | number)[] = []
  for (const block of blocks) {
    // Reasoning that is all text is in a field of its own.
    const state = block.state !== undefined && isTextOnly(block.state) ? undefined : block.state
    if (block.kind === 'text' && block.length > 0) order.push(block.length)
    else if (block.kind === 'call') order.push('call')
    else if ((block.kind === 'reasoning' || block.kind === 'own') && state !== undefined) order.push('thinking')
    if (state !== undefined) details.push(detailOf(block, state, details.length))
  }
  const [first, ...rest] = details
  if (first === undefined || isUsual(order)) return details
  return [{ ...first, order }, ...rest]
}

/** The blocks of a whole answer. */
export function saidIn(blocks: readonly Block[]): Said[] {
  return blocks.map((block) => ({ ...block, length: block.kind === 'text' ? block.text.length : 0 }))
}

export function detailOf(block: Said, { maker, data }: State, index: number): Fields {
  if (!isSignature(maker))
    return { type: 'reasoning.encrypted', data: seal(maker, data), format: 'modelhatch-v1', index }
  const format = maker === bareMaker ? claude : maker
  const sealed = maker === bareMaker ? data : seal(maker, data)
  if (block.kind !== 'reasoning' || block.form === 'sealed')
    return { type: 'reasoning.encrypted', data: sealed, format, index }
  return { type: 'reasoning.text', text: block.text ?? '', signature: sealed, format, index }
}

/** Whether a maker's states are signatures of its reasoning, which it wants back with the text that they sign. */
export function isSignature(maker: string): boolean {
  return maker === bareMaker || maker.startsWith('messages/')
}

function rank(each: 'thinking' | 'call' | number): number {
  return each === 'thinking' ? 0 : each === 'call' ? 2 : 1
}

/** All thinking, at most one text, all calls. */
function isUsual(order: readonly ('thinking' | 'call' | number)[]): boolean {
  return order.every((each, at) => {
    const before = order[at - 1]
    return before === undefined || rank(before) < rank(each) || (before === each && typeof each === 'string')
  })
}
