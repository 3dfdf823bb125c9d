/**
 * State that a chat model expects back on the next turn, such as signatures and reasoning, for endpoints that are built on
 * chats. The client carries it in an envelope for its maker: in `encrypted_content` of a reasoning item, or in the
 * `signature` of a thinking block.
 */
import { objectOf } from '../conversation/json.ts'
import { seal, unseal } from './envelope.ts'

/** The state of one assistant message. */
export interface ModelState {
  /** Fields of the message. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Fields of its tool calls, by the id of the call. */
  readonly calls?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Whether this item ends the message. */
  readonly last?: boolean
}

/** Fields of messages and calls with state. */
const stateNames = new Set(['reasoning_details', 'extra_content', 'thinking_blocks'])
/** Reasoning in plain text, which some models expect back while they use tools. */
const reasoningNames = new Set(['reasoning', 'reasoning_content'])

/** The state fields of a delta, message or call that say something. */
export function stateFields(source: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(source).filter(([name, value]) => stateNames.has(name) && saysSomething(value)),
  )
}

function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** Whether a delta, message or call has state fields. */
export function hasStateFields(source: object): boolean {
  for (const name of stateNames) if (saysSomething((source as Record<string, unknown>)[name])) return true
  return false
}

/** The envelope for a state. */
export function sealState(maker: string, state: ModelState): string {
  return seal(maker, packState(state))
}

/** A state as the text that an envelope contains. */
export function packState(state: ModelState): string {
  return Buffer.from(JSON.stringify(state)).toString('base64url')
}

/** For all envelopes of one request. A short text can hold very many parts, whose values take much memory. */
const maxParts = 200_000

/** Reads the states in the envelopes of one request, up to a bound that no conversation reaches. */
export class StateReader {
  #partsLeft = maxParts

  /** The state in an envelope; undefined if another maker made it. */
  read(envelope: unknown, maker: string): ModelState | undefined {
    const packed = unseal(envelope, maker)
    return packed === undefined ? undefined : this.unpack(packed)
  }

  /** The state in a text; undefined if it is malformed, or beyond the bound. */
  unpack(packed: string): ModelState | undefined {
    if (this.#partsLeft === 0) return undefined
    const bytes = Buffer.from(packed, 'base64url')
    this.#partsLeft = Math.max(0, this.#partsLeft - partsIn(bytes))
    return this.#partsLeft === 0 ? undefined : stateIn(bytes.toString('utf8'))
  }
}

/** The number of values in a JSON text, and of commas and brackets in its strings. */
function partsIn(json: Buffer): number {
  let parts = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === comma || byte === openBracket || byte === openBrace) parts++
  }
  return parts
}

const comma = 0x2c
const openBracket = 0x5b
const openBrace = 0x7b

function stateIn(json: string): ModelState | undefined {
  const state = objectOf(json)
  if (state === undefined) return undefined
  const { message, calls, last } = state as Partial<ModelState>
  const callFields = Object.entries(Object(calls) as object).map(
    ([id, fields]) => [id, stateFields(Object(fields) as object)] as const,
  )
  return { message: messageFields(message), calls: Object.fromEntries(callFields), last: last === true }
}

/** Only known fields: a client can modify the state, and must not inject others into a message. */
function messageFields(fields: unknown): Record<string, unknown> {
  const entries = Object.entries(Object(fields) as object)
  return Object.fromEntries(entries.filter(([name]) => stateNames.has(name) || reasoningNames.has(name)))
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
