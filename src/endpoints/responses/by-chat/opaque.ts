/**
 * What a chat model needs to see again on the next turn, and no client understands: signatures, redacted thinking, the
 * reasoning itself. It travels as the `encrypted_content` of reasoning items, in an envelope for its maker.
 */
import { objectIn } from '../../../http/json.ts'
import { seal, unseal } from '../../envelope.ts'

export interface Carried {
  /** Fields of the assistant's message. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Fields of its tool calls, by the id of the call. */
  readonly calls?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Nothing more comes of this answer. */
  readonly last?: boolean
}

/** Where models leave it, in their messages and in their calls. */
const carried = new Set(['reasoning_details', 'extra_content', 'thinking_blocks'])
/** What is shown as reasoning is carried as well: some models want it back while they use tools. */
const shown = new Set(['reasoning', 'reasoning_content'])

export function carriedFields(told: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).filter(([name]) => carried.has(name)))
}

export function pack(maker: string, carried: Carried): string {
  return seal(maker, Buffer.from(JSON.stringify(carried)).toString('base64url'))
}

/** Undefined for what another made, and for our own when it was damaged. */
export function unpack(opaque: unknown, maker: string): Carried | undefined {
  const packed = unseal(opaque, maker)
  if (packed === undefined) return undefined
  const carried = objectIn(Buffer.from(packed, 'base64url').toString('utf8'))
  if (carried === undefined) return undefined
  const { message, calls, last } = carried as Partial<Carried>
  const kept = Object.entries(Object(calls) as object).map(
    ([id, fields]) => [id, carriedFields(Object(fields) as object)] as const,
  )
  return { message: carriedOrShown(message), calls: Object.fromEntries(kept), last: last === true }
}

/** Whatever a client made of it, nothing else gets into a message this way. */
function carriedOrShown(fields: unknown): Record<string, unknown> {
  const given = Object.entries(Object(fields) as object)
  return Object.fromEntries(given.filter(([name]) => carried.has(name) || shown.has(name)))
}

/** Two sets of fields as one: texts and lists are continued, anything else is replaced. */
export function continued(sofar: Record<string, unknown>, more: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(more)) {
    const before = sofar[name]
    if (value === null || value === undefined) continue
    if (typeof before === 'string' && typeof value === 'string') sofar[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value)) for (const each of value as unknown[]) before.push(each)
    // A copy, as it is lengthened in place.
    else sofar[name] = Array.isArray(value) ? [...(value as unknown[])] : value
  }
}
