/** The state of earlier messages on its way back: opened for its maker, removed for all others. */
import type { Call } from '../../providers/contract.ts'
import { yieldIfLarge } from '../../providers/yielding.ts'
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts'
import type { Order } from '../endpoint.ts'
import { bareMaker, isSealed, makerIn, unseal } from '../../formats/envelope.ts'
import { StateReader, type ModelState } from '../../formats/model-state.ts'
import { amend } from '../order.ts'
import { sealedNames, stateFormat } from './seal-state.ts'
import type { Fields } from '../../wire/json.ts'

/** In the name of the field with the envelopes. It starts with a character that base64, as of inline images, does not contain. */
const needle = Buffer.from('_details"')

/** Whether the messages of an order may hold envelopes. Parses nothing. */
export function mayHoldEnvelopes(order: Order<ChatRequest>): boolean {
  if (order.isParsed === true) return order.request.messages.some(hasDetails)
  const bytes = order.json({})
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(needle)
}

function hasDetails({ reasoning_details: details }: ChatMessage): boolean {
  return Array.isArray(details)
}

/** The call for the vendor `maker`, without the state of others; the same call if there are no envelopes. */
export async function withUnsealedState(call: Call<ChatRequest>, maker: string): Promise<Call<ChatRequest>> {
  await yieldIfLarge(call)
  const messages = call.field('messages')
  if (!Array.isArray(messages)) return call
  const states = new StateReader()
  const own = messages.map((message: unknown) => ownMessage(Object(message) as Fields, maker, states) ?? message)
  return own.some((message, index) => message !== messages[index]) ? amend(call, { messages: own }) : call
}

/** The message for the vendor `maker`; undefined if it has nothing to open or to remove. */
function ownMessage(message: Fields, maker: string, reader: StateReader): Fields | undefined {
  const { role, reasoning_details: details, ...fields } = message
  if (role !== 'assistant' || !Array.isArray(details)) return undefined
  if (!details.some((detail) => hasEnvelope(detail) || isForeign(detail, maker))) return undefined
  const states = details.filter(isState).map(({ data }) => data)
  const own = details.filter((detail) => !isState(detail)).flatMap((detail: unknown) => ownDetail(detail, maker))
  return { role, ...withStates(fields, states, maker, reader), ...(own.length > 0 && { reasoning_details: own }) }
}

function hasEnvelope(detail: unknown): boolean {
  const fields = Object(detail) as Fields
  return sealedNames.some((name) => isSealed(fields[name]))
}

/** Whether a detail has a signature without an envelope, which is Anthropic's, and `maker` is another vendor. */
function isForeign(detail: unknown, maker: string): boolean {
  if (maker === bareMaker) return false
  const fields = Object(detail) as Fields
  const { format } = fields
  // Other formats are those of aggregators, which earlier versions did not seal.
  if (typeof format === 'string' && !/^(?:anthropic-|messages\/)/.test(format)) return false
  return sealedNames.some((name) => typeof fields[name] === 'string' && fields[name] !== '' && !isSealed(fields[name]))
}

function isState(detail: unknown): detail is { readonly data: string } {
  const { format, data } = Object(detail) as Fields
  return format === stateFormat && isSealed(data)
}

/** A detail without its envelopes; none if another vendor made it. */
function ownDetail(detail: unknown, maker: string): unknown[] {
  if (isForeign(detail, maker)) return []
  const fields = Object(detail) as Fields
  const sealed = sealedNames.filter((name) => isSealed(fields[name]))
  const opened = sealed.map((name) => [name, unseal(fields[name], maker)] as const)
  if (opened.some(([, value]) => value === undefined)) return []
  return [sealed.length === 0 ? detail : { ...fields, ...Object.fromEntries(opened) }]
}

/** Restores the fields that the client has dropped, and removes those of other vendors. */
function withStates(fields: Fields, envelopes: readonly string[], maker: string, reader: StateReader): Fields {
  const own: State = { message: {}, calls: new Map() }
  const others: State = { message: {}, calls: new Map() }
  for (const envelope of envelopes) {
    const by = makerIn(envelope)
    const state = by === undefined ? undefined : reader.read(envelope, by)
    if (state !== undefined) collect(by === maker ? own : others, state)
  }
  const { tool_calls: calls, ...rest } = fields
  return {
    ...restored(rest, own.message, others.message),
    ...(Array.isArray(calls) && { tool_calls: calls.map((call: unknown) => restoredCall(call, own, others)) }),
  }
}

interface State {
  readonly message: Record<string, unknown>
  readonly calls: Map<string, Fields>
}

function collect(into: State, { message = {}, calls = {} }: ModelState): void {
  Object.assign(into.message, message)
  for (const [id, fields] of Object.entries(calls)) into.calls.set(id, fields)
}

function restoredCall(call: unknown, own: State, others: State): unknown {
  const { id } = Object(call) as { id?: unknown }
  const [mine, foreign] = [own.calls.get(id as string), others.calls.get(id as string)]
  return mine === undefined && foreign === undefined ? call : restored(call as Fields, mine ?? {}, foreign ?? {})
}

function restored(fields: Fields, own: Fields, others: Fields): Fields {
  const kept = Object.entries(fields).filter(([name]) => Object.hasOwn(own, name) || !Object.hasOwn(others, name))
  return { ...own, ...Object.fromEntries(kept) }
}
