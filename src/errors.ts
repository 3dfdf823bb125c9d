/** The error class of the gateway, and the table of its codes. Codes and statuses follow OpenAI's. */

interface Refusal {
  /** HTTP status. */
  readonly status: number
  /** `error.type` in the response body. Default: `invalid_request_error`. */
  readonly type?: string
  /** The default message, for errors without a more specific one. */
  readonly message: string
  /** Sent as `x-should-retry`, which takes precedence over the status in the official clients. */
  readonly shouldRetry?: boolean
}

/** The stable values of `GatewayError.code`, which are also `error.code` in response bodies. */
export type ErrorCode =
  | 'invalid_request_error'
  | 'unsupported_parameter'
  | 'mutually_exclusive_parameters'
  | 'unsupported_value'
  | 'context_length_exceeded'
  | 'content_policy_violation'
  | 'invalid_stream_id'
  | 'websocket_stream_limit_reached'
  | 'websocket_connection_limit_reached'
  | 'invalid_api_key'
  | 'origin_not_allowed'
  | 'forbidden'
  | 'model_not_found'
  | 'not_found'
  | 'previous_response_not_found'
  | 'unknown_url'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'request_too_large'
  | 'unsupported_media_type'
  | 'upgrade_required'
  | 'insufficient_quota'
  | 'rate_limit_exceeded'
  | 'client_closed'
  | 'server_error'
  | 'service_unavailable'
  | 'upstream_credentials_exhausted'

/** Whose fault an error was, and what was wrong: a closed vocabulary, for metrics. */
export type Fault =
  | `caller_${'invalid_request' | 'too_large' | 'unauthenticated' | 'not_found' | 'timeout' | 'disconnected'}`
  | `policy_${'rate_limit' | 'quota' | 'content'}`
  | `provider_${'rate_limit' | 'unavailable' | 'timeout' | 'rejected' | 'invalid_response' | 'error'}`
  | `gateway_${'store' | 'overloaded' | 'closing' | 'error'}`

const refusals: Readonly<Record<ErrorCode, Refusal>> = {
  invalid_request_error: { status: 400, message: 'The request is invalid.' },
  unsupported_parameter: { status: 400, message: 'A parameter of this request is not supported by the model.' },
  mutually_exclusive_parameters: { status: 400, message: 'Parameters are exclusive.' },
  unsupported_value: { status: 400, message: 'A value in this request is not supported by the model.' },
  context_length_exceeded: {
    status: 400,
    message: 'The request is longer than the context window of the model. Shorten the messages.',
  },
  content_policy_violation: {
    status: 400,
    message: 'The safety system of the model rejected the request. Change the prompt or the attached content.',
  },
  invalid_stream_id: {
    status: 400,
    message: 'A "stream_id" must be a string of 1 to 256 letters, digits, underscores, hyphens and periods.',
  },
  websocket_stream_limit_reached: {
    status: 400,
    message:
      'Too many different values of "stream_id" on this WebSocket. Use one of the earlier ones, or open another WebSocket.',
  },
  websocket_connection_limit_reached: {
    status: 400,
    message: 'This WebSocket connection takes no further requests. Create a new websocket connection to continue.',
  },
  invalid_api_key: {
    status: 401,
    message: 'Incorrect API key provided. Send a valid key as "Authorization: Bearer <API_KEY>".',
  },
  origin_not_allowed: { status: 403, message: 'Pages of this origin may not open WebSockets here.' },
  forbidden: { status: 403, message: 'The request is not allowed.' },
  model_not_found: { status: 404, message: 'The model does not exist or you do not have access to it.' },
  not_found: { status: 404, message: 'No such resource.' },
  previous_response_not_found: { status: 400, message: 'The response to be continued was not found.' },
  unknown_url: {
    status: 404,
    message: 'Unknown request URL. Check the path and the method against the documentation.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This URL does not support that method. Use one of those in the "allow" header.',
  },
  request_timeout: { status: 408, message: 'The request body did not arrive in time. Send it again.' },
  conflict: { status: 409, message: 'The request conflicts with another one.' },
  request_too_large: { status: 413, message: 'The request body is larger than this server accepts.' },
  unsupported_media_type: {
    status: 415,
    message: 'Unsupported media type. Send the body with "Content-Type: application/json", in UTF-8.',
  },
  upgrade_required: {
    status: 426,
    message: 'There is no WebSocket at this URL. Send the request over HTTP, as a POST.',
  },
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    message: 'You exceeded your current quota. Top up your balance to continue.',
    shouldRetry: false,
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_exceeded',
    message: 'Too many requests. Reduce the request rate and try again after the time in "retry-after".',
  },
  client_closed: { status: 499, message: 'The client closed the connection.' },
  server_error: {
    status: 500,
    type: 'server_error',
    message: 'The server had an error while processing your request.',
  },
  service_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The service is temporarily unavailable. Try again later.',
  },
  upstream_credentials_exhausted: { status: 503, type: 'server_error', message: 'The vendor accepts no key now.' },
}

/** Optional properties of a `GatewayError`. */
export interface ErrorDetails {
  /** What the client should change; sent to it, so never a vendor's text or a secret. Default: depends on the code. */
  readonly message?: string | undefined
  /** The invalid request field, such as `messages[0].role`. */
  readonly param?: string | undefined
  /** The underlying error, for the host's log. Never sent. */
  readonly cause?: unknown
  /** Milliseconds after which the client should retry; sent as `retry-after` and `retry-after-ms`, at most 60 s. */
  readonly retryAfterMs?: number | undefined
  /** Whether the client should retry; sent as `x-should-retry`. Default: depends on the code. */
  readonly shouldRetry?: boolean | undefined
  /** Further response headers, such as `allow`. Headers that affect the framing of the response are dropped. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whose fault it was, in telemetry. Default: depends on the code. */
  readonly fault?: Fault | undefined
}

/** The official clients ignore a longer `retry-after` and retry after half a second. */
const longestRetryAfterMs = 60_000

/**
 * The error class of this library. Throw one from a provider, a store or a hook to choose the response that the client
 * gets: status, code and message. Any other thrown value becomes a `server_error` that reveals nothing to the client.
 *
 * @example
 * throw new GatewayError('unsupported_value', { message: '"temperature" must be at most 1.', param: 'temperature' })
 */
export class GatewayError extends Error {
  /** Always `GatewayError`, also in subclasses. */
  override readonly name = 'GatewayError'
  /** The stable code, also `error.code` in the response body. */
  readonly code: ErrorCode
  /** The HTTP status of the response. */
  readonly status: number
  /** `error.type` in the response body. */
  readonly type: string
  /** The invalid request field, also `error.param` in the response body. */
  readonly param: string | null
  /** Milliseconds after which the client should retry. */
  readonly retryAfterMs: number | undefined
  /** Sent as `x-should-retry`; undefined: not sent. */
  readonly shouldRetry: boolean | undefined
  /** Further response headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Whose fault it was, in telemetry; undefined: what the code says. */
  readonly fault: Fault | undefined

  /** `code` determines status, type and the default message. */
  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const refusal = refusals[code]
    super(details.message ?? refusal.message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = refusal.status
    this.type = refusal.type ?? 'invalid_request_error'
    this.param = details.param ?? null
    this.retryAfterMs = details.retryAfterMs
    this.shouldRetry = details.shouldRetry ?? refusal.shouldRetry
    this.headers = details.headers ?? {}
    this.fault = details.fault
  }

  /** Whether a value is a `GatewayError`, of this or another copy of the library in the same process. */
  static is(value: unknown): value is GatewayError {
    try {
      const { name, code } = Object(value) as { name?: unknown; code?: unknown }
      return name === 'GatewayError' && typeof code === 'string' && Object.hasOwn(refusals, code)
    } catch {
      return false
    }
  }

  /** Converts any thrown value to a `GatewayError`; another one becomes the `cause` of a `server_error`. Never throws. */
  static from(value: unknown): GatewayError {
    try {
      if (value instanceof GatewayError) return value
      if (GatewayError.is(value)) return copyOf(value)
    } catch {
      // A value whose getters throw.
    }
    return new GatewayError('server_error', { cause: value })
  }

  /** The response body in OpenAI's shape; all four keys are always present. */
  toJSON(): { error: { message: string; type: string; param: string | null; code: string } } {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }

  /** The response headers of this error: `headers`, and whether and when to retry. */
  adviceHeaders(): Record<string, string> {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(this.headers)) {
      if (isPlainHeader(name, value)) headers[name.toLowerCase()] = value
    }
    if (this.shouldRetry !== undefined) headers['x-should-retry'] = String(this.shouldRetry)
    if (this.retryAfterMs !== undefined && Number.isFinite(this.retryAfterMs)) {
      const wait = Math.min(Math.max(Math.ceil(this.retryAfterMs), 1), longestRetryAfterMs)
      headers['retry-after'] = String(Math.ceil(wait / 1000))
      headers['retry-after-ms'] = String(wait)
    }
    return headers
  }
}

/** Copies an error of another copy of this library, or an object that imitates one. Only well-typed properties count. */
function copyOf(error: GatewayError): GatewayError {
  const { code, message, param, retryAfterMs, shouldRetry, headers, fault } = error
  return new GatewayError(code, {
    cause: error,
    fault,
    ...(typeof message === 'string' && { message }),
    ...(typeof param === 'string' && { param }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(typeof shouldRetry === 'boolean' && { shouldRetry }),
    ...(typeof headers === 'object' && { headers: { ...headers } }),
  })
}

/** Whether a header is safe to send: neither its syntax nor its meaning can affect the framing of the response. */
function isPlainHeader(name: string, value: unknown): boolean {
  const framing =
    /^(?:connection|keep-alive|content-.*|date|host|te|trailer|transfer-encoding|upgrade|proxy-.*|set-cookie)$/i
  return (
    /^[a-z0-9-]+$/i.test(name) && !framing.test(name) && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value)
  )
}

/** A 400 `invalid_request_error`, the most common error. `param`: the invalid field. */
export function invalid(message: string, param?: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request_error', { message, ...(param !== undefined && { param }), cause })
}

/** A 400 for a field that the gateway or the model does not support. */
export function refusedField(message: string, param: string): GatewayError {
  return new GatewayError('unsupported_parameter', { message, param })
}

/** A 400 for a value that the gateway or the model does not support. `param`: the field that has it. */
export function refusedValue(message: string, param: string, cause?: unknown): GatewayError {
  return new GatewayError('unsupported_value', { message, param, cause })
}
