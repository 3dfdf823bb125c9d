/** Non-streaming replies, and the one place that turns an error into a reply. */
import { GatewayError } from '../errors.ts'
import type { Reply, Sink } from './exchange.ts'
import { googleError } from './google-error.ts'
import { messageAdvice, messageError } from './message-error.ts'

const json = 'application/json; charset=utf-8'

/** A reply with a JSON body. */
export function jsonReply(body: unknown, status = 200): Reply {
  return bytesReply(JSON.stringify(body), status)
}

/** A reply with a body that is already serialized. `contentType` defaults to JSON. */
export function bytesReply(body: string | Uint8Array, status = 200, contentType: string = json): Reply {
  return { status, headers: { 'content-type': contentType }, body }
}

/** A JSON reply in pieces, which are sent without being joined: copying a large body costs more than sending it. */
export function piecesReply(pieces: readonly Uint8Array[]): Reply {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return bytesReply(only)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const start = (sink: Sink) => {
    // All pieces are in memory already, so that waiting for the client would not save any.
    for (const piece of pieces) sink.write(piece)
    sink.end()
  }
  return { status: 200, headers: { 'content-type': json, 'content-length': String(length) }, body: { start } }
}

/** Whose API a client speaks, which decides the format of errors. */
export type Dialect = 'openai' | 'anthropic' | 'google'

/**
 * The reply for any thrown value. Anything but a `GatewayError` becomes a generic `server_error`, so that no internals
 * leak. `id`: the request's.
 */
export function refuse(thrown: unknown, dialect: Dialect = 'openai', id: string = ''): Reply {
  try {
    return refusalOf(GatewayError.from(thrown), dialect, id)
  } catch {
    // An error object that was modified, or whose getters throw.
    return refusalOf(new GatewayError('server_error'), dialect, id)
  }
}

function refusalOf(error: GatewayError, dialect: Dialect, id: string): Reply {
  const { status } = error
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new TypeError(`${status} is not an HTTP error status`)
  const advice = dialect === 'anthropic' ? messageAdvice(error) : error.adviceHeaders()
  const body = JSON.stringify(bodyOf(error, dialect, id))
  return { status, headers: { 'content-type': json, ...advice }, body }
}

function bodyOf(error: GatewayError, dialect: Dialect, id: string): object {
  if (dialect === 'openai') return error
  return dialect === 'google' ? googleError(error) : messageError(error, id)
}
