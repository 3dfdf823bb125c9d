import { JsonBody } from '../../src/http/json-body.ts'
import { invalid } from '../../src/errors.ts'
import type { Sizes } from '../../src/index.ts'

/** A message of a client. */
export interface ClientEvent {
  /** The request for a response; undefined if there is nothing to do. */
  readonly request: Uint8Array | undefined
  /** Whether the request only prepares the next one. */
  readonly prewarm: boolean
  /** Put into every event of the response. */
  readonly lane: string | undefined
}

const nothing: ClientEvent = { request: undefined, prewarm: false, lane: undefined }

/** Fields of the message that do not belong to the request. */
const ofMessage = { type: undefined, generate: undefined, stream_id: undefined, stream: true }

/** Reads a message. Throws 400 for one that is not JSON or not known, 413 if it is too long. */
export function clientEvent(message: Buffer, sizes: Sizes): ClientEvent {
  const body = JsonBody.fromBytes(message, sizes)
  const type = body.get('type')
  // Codex says that it has read a response, and waits for no answer.
  if (type === 'response.processed') return nothing
  if (type !== 'response.create') {
    throw invalid('Invalid value for "type": the events of this connection are "response.create".', 'type')
  }
  const generate = body.get('generate') ?? true
  if (typeof generate !== 'boolean') throw invalid('Invalid value for "generate": must be a boolean.', 'generate')
  return { request: body.with(ofMessage), prewarm: !generate, lane: laneIn(body) }
}

/** The `stream_id` of a message, also of one that is not valid otherwise. */
export function laneOf(message: Buffer, sizes: Sizes): string | undefined {
  try {
    return laneIn(JsonBody.fromBytes(message, sizes))
  } catch {
    return undefined
  }
}

function laneIn(body: JsonBody): string | undefined {
  const lane = body.get('stream_id') ?? undefined
  if (lane === undefined || (typeof lane === 'string' && lane.length >= 1 && lane.length <= 256)) return lane
  throw invalid('Invalid value for "stream_id": must be a string of 1 to 256 characters.', 'stream_id')
}
