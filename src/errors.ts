/**
 * Every refusal the gateway can give, in one table, and the one error class that carries them.
 *
 * The answer's body is OpenAI's: `{"error":{"message","type","param","code"}}`, all four keys always present.
 * Statuses and codes are those of the service's specification; where it names none, OpenAI's.
 */

interface Refusal {
  /** HTTP status. */
  readonly status: number
  /** `error.type` of the answer. */
  readonly type: string
  /** What the caller is told when the place that refuses has nothing more exact to say. */
  readonly message: string
  /** Sent as `x-should-retry`, which the official clients obey before they look at the status. */
  readonly shouldRetry?: boolean
}

/** The stable codes of `GatewayError.code`, which are also `error.code` of the answers. */
export type ErrorCode =
  | 'invalid_request_error'
  | 'unsupported_parameter'
  | 'unsupported_value'
  | 'context_length_exceeded'
  | 'content_policy_violation'
  | 'invalid_api_key'
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

const refusals: Readonly<Record<ErrorCode, Refusal>> = {
  invalid_request_error: { status: 400, type: 'invalid_request_error', message: 'The request is invalid.' },
  unsupported_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A parameter of this request is not supported by the model.',
  },
  unsupported_value: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A value in this request is not supported by the model.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is longer than the context window of the model. Shorten the messages.',
  },
  content_policy_violation: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request was refused by the safety system of the model.',
  },
  invalid_api_key: {
    status: 401,
    type: 'invalid_request_error',
    message: 'Incorrect API key provided. Send a valid key as "Authorization: Bearer <API_KEY>".',
  },
  model_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The model does not exist or you do not have access to it.',
  },
  not_found: { status: 404, type: 'invalid_request_error', message: 'No such resource.' },
  previous_response_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The response to be continued was not found.',
  },
  unknown_url: {
    status: 404,
    type: 'invalid_request_error',
    message: 'Unknown request URL. Check the path and the method against the documentation.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This URL does not take that method. See the "allow" header.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request body did not arrive in time. Send it again.',
  },
  conflict: { status: 409, type: 'invalid_request_error', message: 'The request conflicts with another one.' },
  request_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: 'The request body is larger than this server accepts.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'This endpoint takes "Content-Type: application/json" in UTF-8.',
  },
  upgrade_required: {
    status: 426,
    type: 'invalid_request_error',
    message: 'WebSockets are not served here. Send the request over HTTP, as a POST.',
  },
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    message: 'You exceeded your current quota. Top up your balance to go on.',
    shouldRetry: false,
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_exceeded',
    message: 'Too many requests. Reduce the request rate and try again after the time in "retry-after".',
  },
  client_closed: { status: 499, type: 'invalid_request_error', message: 'The client closed the connection.' },
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
}

export interface ErrorDetails {
  /** What the caller should change; never a vendor's text, never a secret. */
  readonly message?: string
  /** The request field at fault, such as `messages[0].role`. */
  readonly param?: string
  /** The reason, for the host's log. Never sent. */
  readonly cause?: unknown
  /** When another try makes sense, in milliseconds from now; becomes `retry-after` and `retry-after-ms`. */
  readonly retryAfterMs?: number
  /** Overrides the table's `x-should-retry`. */
  readonly shouldRetry?: boolean
  /** Further headers of the answer, such as `allow`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The longest wait we advise. The official clients ignore anything above 60 s and fall back to half a second. */
const longestRetryAfterMs = 60_000

/**
 * The one error of this library. Throw it from a provider, a store or a hook to choose what the caller is told;
 * anything else that is thrown becomes `server_error` and tells the caller nothing.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly retryAfterMs: number | undefined
  readonly shouldRetry: boolean | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const refusal = refusals[code]
    super(details.message ?? refusal.message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = refusal.status
    this.type = refusal.type
    this.param = details.param ?? null
    this.retryAfterMs = details.retryAfterMs
    this.shouldRetry = details.shouldRetry ?? refusal.shouldRetry
    this.headers = details.headers ?? {}
  }

  /** True for errors of this class, also those of another copy of this library in the same process. */
  static is(value: unknown): value is GatewayError {
    try {
      const { name, code } = Object(value) as { name?: unknown; code?: unknown }
      return name === 'GatewayError' && typeof code === 'string' && Object.hasOwn(refusals, code)
    } catch {
      return false
    }
  }

  /** Whatever was thrown, as an error that may be shown to a caller. Never throws. */
  static from(value: unknown): GatewayError {
    try {
      if (value instanceof GatewayError) return value
      if (GatewayError.is(value)) return copyOf(value)
    } catch {
      // Something that throws when it is looked at.
    }
    return new GatewayError('server_error', { cause: value })
  }

  /** The body of the answer, in OpenAI's shape. */
  toJSON(): { error: { message: string; type: string; param: string | null; code: string } } {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }

  /** The headers of the answer that advise clients whether and when to try again. */
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

/** An error of another copy of this library, or somebody's imitation: only what it says is taken over. */
function copyOf(error: GatewayError): GatewayError {
  const { code, message, param, retryAfterMs, shouldRetry, headers } = error
  return new GatewayError(code, {
    cause: error,
    ...(typeof message === 'string' && { message }),
    ...(typeof param === 'string' && { param }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(typeof shouldRetry === 'boolean' && { shouldRetry }),
    ...(typeof headers === 'object' && { headers: { ...headers } }),
  })
}

/** Whether a header of a thrown error can do no more than tell something: neither break the answer nor frame it. */
function isPlainHeader(name: string, value: unknown): boolean {
  const framing =
    /^(?:connection|keep-alive|content-.*|date|host|te|trailer|transfer-encoding|upgrade|proxy-.*|set-cookie)$/i
  return (
    /^[a-z0-9-]+$/i.test(name) && !framing.test(name) && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value)
  )
}

/** Short for the most common refusal: 400 with the field at fault. */
export function invalid(message: string, param?: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request_error', {
    message,
    ...(param === undefined ? {} : { param }),
    ...(cause === undefined ? {} : { cause }),
  })
}
