/** Whole answers: JSON, and the one door by which every refusal leaves. */
import { GatewayError } from '../errors.ts'
import type { Reply } from './exchange.ts'

const json = 'application/json; charset=utf-8'

export function jsonReply(body: unknown, status = 200): Reply {
  return bytesReply(JSON.stringify(body), status)
}

/** For a body that already is JSON text. */
export function bytesReply(body: string | Uint8Array, status = 200, contentType: string = json): Reply {
  return { status, headers: { 'content-type': contentType }, body }
}

/** Any thrown value as an answer: a `GatewayError` as itself, everything else as `server_error` that tells nothing. */
export function refuse(thrown: unknown): Reply {
  try {
    return refusalOf(GatewayError.from(thrown))
  } catch {
    // An error that was tampered with, or one that throws when it is looked at.
    return refusalOf(new GatewayError('server_error'))
  }
}

function refusalOf(error: GatewayError): Reply {
  const { status } = error
  if (!Number.isInteger(status) || status < 400 || status > 599) throw new TypeError('this is no status of a refusal')
  return { status, headers: { 'content-type': json, ...error.adviceHeaders() }, body: JSON.stringify(error) }
}
