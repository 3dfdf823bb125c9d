/** Non-streaming replies, and the one place that turns an error into a reply. */
import { GatewayError } from '../errors.ts'
import type { Reply } from './exchange.ts'

const json = 'application/json; charset=utf-8'

/** A reply with a JSON body. */
export function jsonReply(body: unknown, status = 200): Reply {
  return bytesReply(JSON.stringify(body), status)
}

/** A reply with a body that is already serialized. `contentType` defaults to JSON. */
export function bytesReply(body: string | Uint8Array, status = 200, contentType: string = json): Reply {
  return { status, headers: { 'content-type': contentType }, body }
}

/**
 * The reply for any thrown value. Anything but a `GatewayError` becomes a generic `server_error`, so that no internals
 * leak.
 */
export function refuse(thrown: unknown): Reply {
  try {
    return refusalOf(GatewayError.from(thrown))
  } catch {
    // An error object that was modified, or whose getters throw.
    return refusalOf(new GatewayError('server_error'))
  }
}

function refusalOf(error: GatewayError): Reply {
  const { status } = error
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new TypeError(`${status} is not an HTTP error status`)
  return { status, headers: { 'content-type': json, ...error.adviceHeaders() }, body: JSON.stringify(error) }
}
