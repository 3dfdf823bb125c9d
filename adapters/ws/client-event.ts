import type { JsonBody } from '../../src/http/json-body.ts'
import { GatewayError, invalid } from '../../src/errors.ts'

/** A message of a client. */
export interface ClientEvent {
  /** The request for a response; undefined if there is nothing to do. */
  readonly request: Uint8Array | undefined
  /** Whether the request only prepares the next one. */
  readonly prewarm: boolean
}

const nothing: ClientEvent = { request: undefined, prewarm: false }

/** Fields of the message that do not belong to the request. */
const ofMessage = { type: undefined, generate: undefined, stream_id: undefined, stream: true }

/** Reads a message. Throws 400 for one that is not known. */
export function clientEvent(body: JsonBody): ClientEvent {
  const type = body.get('type')
  // Codex says that it has read a response, and waits for no answer.
  if (type === 'response.processed') return nothing
  if (type !== 'response.create') {
    throw invalid('Invalid value for "type": the events of this connection are "response.create".', 'type')
  }
  const generate = body.get('generate') ?? true
  if (typeof generate !== 'boolean') throw invalid('Invalid value for "generate": must be a boolean.', 'generate')
  return { request: body.with(ofMessage), prewarm: !generate }
}

const isName = /^[\w.-]{1,256}$/

/** The `stream_id` of a message, which is put into every event of its response. Throws 400 for an invalid one. */
export function laneIn(body: JsonBody): string | undefined {
  const lane = body.get('stream_id') ?? undefined
  if (lane === undefined || (typeof lane === 'string' && isName.test(lane))) return lane
  throw new GatewayError('invalid_stream_id', { param: 'stream_id' })
}
