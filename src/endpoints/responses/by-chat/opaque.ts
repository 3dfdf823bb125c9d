/**
 * State that a chat model expects back on the next turn, such as signatures and reasoning. For the client it is the
 * `encrypted_content` of a reasoning item, in an envelope for its maker.
 */
import { objectIn } from '../../../http/json.ts'
import { seal, unseal } from '../../envelope.ts'

/** The opaque state of one assistant message. */
export interface OpaqueState {
  /** Fields of the message. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Fields of its tool calls, by the id of the call. */
  readonly calls?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Whether this item ends the message. */
  readonly last?: boolean
}

/** Fields of messages and calls with opaque state. */
const opaqueNames = new Set(['reasoning_details', 'extra_content', 'thinking_blocks'])
/** Reasoning in plain text, which some models expect back while they use tools. */
const reasoningNames = new Set(['reasoning', 'reasoning_content'])

/** The opaque fields of a delta, message or call. */
export function opaqueFields(source: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([name]) => opaqueNames.has(name)))
}

/** The `encrypted_content` for a state. */
export function pack(maker: string, state: OpaqueState): string {
  return seal(maker, Buffer.from(JSON.stringify(state)).toString('base64url'))
}

/** The state in `encrypted_content`; undefined if another maker made it, or if it is malformed. */
export function unpack(opaque: unknown, maker: string): OpaqueState | undefined {
  const packed = unseal(opaque, maker)
  if (packed === undefined) return undefined
  const state = objectIn(Buffer.from(packed, 'base64url').toString('utf8'))
  if (state === undefined) return undefined
  const { message, calls, last } = state as Partial<OpaqueState>
  const callFields = Object.entries(Object(calls) as object).map(
    ([id, fields]) => [id, opaqueFields(Object(fields) as object)] as const,
  )
  return { message: messageFields(message), calls: Object.fromEntries(callFields), last: last === true }
}

/** Only known fields: a client can modify the state, and must not inject others into a message. */
function messageFields(fields: unknown): Record<string, unknown> {
  const entries = Object.entries(Object(fields) as object)
  return Object.fromEntries(entries.filter(([name]) => opaqueNames.has(name) || reasoningNames.has(name)))
}

/** Merges `more` into `fields`: strings and lists are appended, anything else is replaced. */
export function append(fields: Record<string, unknown>, more: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(more)) {
    const before = fields[name]
    if (value === null || value === undefined) continue
    if (typeof before === 'string' && typeof value === 'string') fields[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value)) for (const each of value as unknown[]) before.push(each)
    // A copy, because it grows in place.
    else fields[name] = Array.isArray(value) ? [...(value as unknown[])] : value
  }
}
