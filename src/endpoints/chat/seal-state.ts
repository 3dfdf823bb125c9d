/**
 * The state of a chat's messages on its way out. In `reasoning_details`, the signatures and encrypted data of the
 * model are put into envelopes for their maker, except Anthropic's. Other fields, such as `extra_content`, stay as clients know them; because
 * many clients drop them, an additional detail repeats them.
 */
import type { AssistantMessage, Delta, ToolCall, ToolCallDelta } from '../../wire/chat.ts'
import { bareMaker, seal } from '../../formats/envelope.ts'
import { append, hasStateFields, stateFields, sealState } from '../../formats/model-state.ts'
import type { Fields } from '../../wire/json.ts'

/** The `format` of the detail that repeats the fields. */
export const stateFormat = 'modelhatch-v1'

/** The fields of a detail that only the maker can read. */
export const sealedNames: readonly string[] = ['signature', 'data']

/** Whether a delta may have state, or begins a call that may have some later. */
export function mayHoldState(delta: Delta): boolean {
  return Boolean(delta.tool_calls) || hasStateFields(delta)
}

/** The state of one choice of a streamed response. */
export class StateSealer {
  readonly #maker: string
  readonly #message: Record<string, unknown> = {}
  readonly #calls = new Map<string, Record<string, unknown>>()
  /** By the index of the call. */
  readonly #ids: string[] = []
  #details = 0

  constructor(maker: string) {
    this.#maker = maker
  }

  /** A delta for the client, with its `reasoning_details` sealed; the same object if it has none. */
  sealed(delta: Delta): Delta {
    const { reasoning_details: details, ...others } = delta
    for (const call of delta.tool_calls ?? []) this.#call(call)
    append(this.#message, stateFields(others))
    if (!Array.isArray(details)) return delta
    this.#details += details.length
    return { ...delta, reasoning_details: sealedDetails(details, this.#maker) }
  }

  /** The detail with the remaining state, if there is any. */
  rest(): readonly object[] {
    return stateDetails(this.#maker, this.#message, this.#calls, this.#details)
  }

  #call(piece: ToolCallDelta): void {
    const { index = 0, id } = piece
    if (typeof id === 'string') this.#ids[index] = id
    const known = this.#ids[index]
    if (known === undefined || !hasStateFields(piece)) return
    const before = this.#calls.get(known) ?? {}
    append(before, stateFields(piece))
    this.#calls.set(known, before)
  }
}

/** The message of a whole response for the client; the same object if it has no state. */
export function withSealedState(message: AssistantMessage, maker: string): AssistantMessage {
  if (!hasStateFields(message) && message.tool_calls?.some(hasStateFields) !== true) return message
  const { reasoning_details: given, ...others } = message
  const calls = new Map<string, Fields>()
  for (const call of message.tool_calls ?? []) addFields(calls, call)
  const details: unknown[] = Array.isArray(given) ? given : []
  const rest = stateDetails(maker, stateFields(others), calls, details.length)
  if (details.length === 0 && rest.length === 0) return message
  return { ...message, reasoning_details: [...sealedDetails(details, maker), ...rest] }
}

function addFields(calls: Map<string, Fields>, call: ToolCall): void {
  if (hasStateFields(call)) calls.set(call.id, stateFields(call))
}

function stateDetails(maker: string, message: Fields, calls: ReadonlyMap<string, Fields>, index: number): object[] {
  if (calls.size === 0 && Object.keys(message).length === 0) return []
  const data = sealState(maker, { message, calls: Object.fromEntries(calls) })
  return [{ type: 'reasoning.encrypted', data, format: stateFormat, index }]
}

function sealedDetails(details: readonly unknown[], maker: string): readonly unknown[] {
  if (maker === bareMaker) return details
  return details.map((detail) => {
    const changes = sealedNames.flatMap((name) => {
      const value = (Object(detail) as Fields)[name]
      return typeof value === 'string' && value !== '' ? [[name, seal(maker, value)] as const] : []
    })
    return changes.length === 0 ? detail : { ...(detail as object), ...Object.fromEntries(changes) }
  })
}
