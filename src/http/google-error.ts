/** Errors in the format of Google's API, for clients of that API. Source: google.rpc.Status, RetryInfo and BadRequest. */
import type { GatewayError } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'
import { isGoogles, pathOf } from './target.ts'

/** Whether the client expects replies in Google's format: by the path, or for the models by the header of its clients. */
export function speaksGoogle(exchange: Pick<Exchange, 'target' | 'headers'>): boolean {
  const { target } = exchange
  if (isGoogles(target)) return true
  return target.includes('/models') && /^\/v1\/models(?:\/|$)/.test(pathOf(target)) && hasGoogleKey(exchange)
}

/** Whether the key is where only clients of Google's API send it. */
export function hasGoogleKey(exchange: Pick<Exchange, 'headers'>): boolean {
  return header(exchange, 'x-goog-api-key') !== undefined && header(exchange, 'anthropic-version') === undefined
}

const names: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const types = 'type.googleapis.com/google.rpc.'

/** The body of an error. */
export function googleError({ status, message, code, param, retryAfterMs }: GatewayError): Record<string, unknown> {
  const details: object[] = [{ '@type': `${types}ErrorInfo`, reason: code.toUpperCase(), domain: 'modelhatch' }]
  if (param !== null)
    details.push({ '@type': `${types}BadRequest`, fieldViolations: [{ field: param, description: message }] })
  if (retryAfterMs !== undefined) details.push({ '@type': `${types}RetryInfo`, retryDelay: `${retryAfterMs / 1000}s` })
  const name = names[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL')
  return { error: { code: status, message, status: name, details } }
}
