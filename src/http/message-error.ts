/** Errors in the format of Anthropic's API, for clients of that API. */
import { GatewayError } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'
import { eventFrame } from './sse.ts'
import { isMessages, pathOf } from './target.ts'

/** Whether the client expects replies in Anthropic's format: by the path, or by the header of its clients on paths that OpenAI's API does not have alone. */
export function speaksAnthropic(exchange: Pick<Exchange, 'target' | 'headers'>): boolean {
  const { target } = exchange
  if (isMessages(target)) return true
  return header(exchange, 'anthropic-version') !== undefined && !onlyOpenAI.test(pathOf(target))
}

const onlyOpenAI = /^\/v1\/(?:chat|completions|responses|embeddings|moderations|images|audio|videos?)(?:\/|$)/

/** Source: Anthropic's API reference, Errors. */
const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
}

/** Agents shorten their conversation at these words. */
const tooLong = 'prompt is too long'

/** By these details, Anthropic's clients know to send the whole conversation instead of its last turn. */
const withoutThreads = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** The body of an error. `id`: the request's. */
export function messageError(error: GatewayError, id: string): object {
  const { status, code, message, param } = error
  const type = code === 'insufficient_quota' ? 'billing_error' : (types[status] ?? 'invalid_request_error')
  const words = code === 'context_length_exceeded' && !message.startsWith(tooLong) ? `${tooLong}: ${message}` : message
  const details = param === 'thread' && code === 'unsupported_parameter' ? { details: withoutThreads } : {}
  return { type: 'error', error: { type, message: words, ...details }, request_id: id }
}

/** The last event of a stream that failed. */
export function messageErrorFrame(error: GatewayError, id: string): string {
  return eventFrame('error', messageError(error, id))
}

/** The headers of an error: whether to retry is always said where the official clients would otherwise guess. */
export function messageAdvice(error: GatewayError): Record<string, string> {
  const headers = error.adviceHeaders()
  return error.status === 429 ? { 'x-should-retry': 'true', ...headers } : headers
}
