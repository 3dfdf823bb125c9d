/**
 * Maps a vendor's error to the error for our client. The vendor's ids and links are never passed on, nor its text unless the
 * reader of the error says so: only codes that OpenAI documents, and the names of fields that the client itself sent.
 */
import { entryIn, fieldsOf, textOf } from '../wire/json.ts'
import type { ErrorCode } from '../errors.ts'
import type { Call } from './call.ts'
import { ProviderError, unavailable, type RetryAdvice, tryNext } from './failure.ts'

export interface VendorFault {
  /** HTTP status, or the status that an error inside a stream names. */
  readonly status: number
  /** The `error` object in OpenAI's format, if there is one. */
  readonly error?: unknown
  /** The vendor's text says that it does not support the request. */
  readonly unsupported?: boolean
  /** From `retry-after-ms` or `retry-after`. */
  readonly waitMs?: number | undefined
  /** The message of a 400, if the vendor's own words may be passed on. Default: the gateway's. */
  readonly quote?: string | undefined
  /** See `Call.openModel`. */
  readonly openModel: boolean
  /** `Call.field`. The error names a parameter only if the client sent it. */
  readonly sent?: ((field: string) => unknown) | undefined
}

/** Converts a vendor's error to OpenAI's format. */
export type FaultReader = (fault: VendorFault) => VendorFault

/** How a vendor writes its errors. */
export interface Faults {
  /** The status of an error inside an answer. */
  readonly statusOf: (error: unknown) => number
  readonly read: FaultReader
}

/** Codes of a 400 that a client can act on. */
const actionableCodes = new Set<string>([
  'unsupported_parameter',
  'unsupported_value',
  'context_length_exceeded',
  'content_policy_violation',
])

/** Codes about our account at the vendor, which are not the client's fault: unknown key, no credit left. */
const accountCodes = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'access_terminated',
])

/** Other values of `code` or `type`, and the HTTP status that each implies. */
const statusByName: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  model_not_found: 404,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  too_many_requests: 429,
  overloaded_error: 503,
  server_error: 500,
  image_generation_user_error: 400,
  image_generation_server_error: 500,
}

/** Vendors' codes for which we have another name. */
const synonyms: Readonly<Record<string, ErrorCode>> = { moderation_blocked: 'content_policy_violation' }

export function vendorError(fault: VendorFault): ProviderError {
  const { code, type, param } = errorFieldsOf(fault.error)
  const name = [code, type].find((each) => each !== undefined && isKnown(each))
  const cause = new Error(`the vendor answered ${fault.status}${name === undefined ? '' : ` ${name}`}`)
  const unused = { begun: false, vendorStatus: fault.status }
  const rejected = { ...unused, fault: 'provider_rejected' } as const
  if (accountCodes.has(code ?? '') || accountCodes.has(type ?? '')) return tryNext(cause, rejected)
  if (code === 'model_not_found' || (fault.status === 404 && fault.openModel)) {
    return fault.openModel
      ? new ProviderError('model_not_found', { retry: 'next', cause, ...unused })
      : tryNext(cause, rejected)
  }
  switch (fault.status) {
    case 400:
    case 422:
      return badRequest(code, sentParam(param, fault.sent), cause, fault.quote)
    case 413:
      return new ProviderError('request_too_large', {
        retry: 'never',
        cause,
        message: 'The request is larger than the model accepts.',
      })
    case 429:
      return new ProviderError('rate_limit_exceeded', {
        retry: 'same',
        cause,
        message: limitedFor(fault.waitMs ?? 1_000),
        vendorWaitMs: fault.waitMs,
        retryAfterMs: fault.waitMs ?? 1_000,
        ...unused,
      })
    default:
      return unavailable(adviceFor(fault.status), cause, {
        vendorWaitMs: fault.waitMs,
        vendorStatus: fault.status,
        begun: adviceFor(fault.status) === 'same',
        lasting: fault.unsupported === true && (fault.status === 500 || fault.status === 501),
      })
  }
}

/** The error for an error object inside an answer. `faults`: default as OpenAI writes them. */
export function answeredError(
  error: unknown,
  { openModel, field }: Pick<Call<unknown>, 'openModel' | 'field'>,
  { statusOf, read }: Faults = usualFaults,
): ProviderError {
  return vendorError(read({ status: statusOf(error), error, openModel, sent: field }))
}

/** The caller's own limits have other words. */
function limitedFor(waitMs: number): string {
  const when = waitMs <= 60_000 ? `in ${Math.ceil(waitMs / 1000)}s` : 'later'
  return `The vendor of this model limits its requests at the moment. Try again ${when}.`
}

/** The text of an error object; empty if it has none. */
export function messageOf(error: unknown): string {
  return textOf(fieldsOf(error)['message'])
}

/** Whether the text of a vendor's error calls the request unsupported: then a retry cannot succeed. */
export function saysUnsupported(error: unknown): boolean {
  const { message, detail, code } = Object(error) as Record<string, unknown>
  const words = [error, message, detail, code]
    .filter((each) => typeof each === 'string')
    .join(' ')
    .slice(0, 2_000)
  return /\b(?:not|n't|isn.t)\s+(?:yet\s+|currently\s+)?(?:supported|implemented)|unsupported|does(?: not|n.t) support/i.test(
    words,
  )
}

/** The status that an error inside a 200 response implies: some vendors put a number in one of these fields, others a word. */
export function statusIn(error: unknown): number {
  const { code, status, status_code: statusCode, type } = Object(error) as Record<string, unknown>
  for (const value of [statusCode, status, code]) {
    const number = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && number >= 400 && number < 600) return number
  }
  for (const name of [code, type]) {
    const known = actionableCodes.has(textOf(name)) ? 400 : entryIn(statusByName, name)
    if (known !== undefined) return known
  }
  return 503
}

/** Errors in OpenAI's format. */
export const usualFaults: Faults = { statusOf: statusIn, read: (fault) => fault }

function badRequest(
  code: string | undefined,
  param: string | undefined,
  cause: Error,
  quote: string | undefined,
): ProviderError {
  const known = code !== undefined && actionableCodes.has(code) ? (code as ErrorCode) : 'invalid_request_error'
  const where = param === undefined ? '' : ` Check the parameter "${param}".`
  const message = quote ?? `The model rejected the request as invalid.${where}`
  return new ProviderError(known, {
    retry: 'never',
    cause,
    param,
    message: quote !== undefined || known === 'invalid_request_error' ? message : undefined,
  })
}

/** 401, 402, 403 and 404 concern our account, so a retry cannot succeed. Timeouts, conflicts and 5xx are often temporary. */
function adviceFor(status: number): RetryAdvice {
  return status === 408 || status === 409 || status === 425 || status >= 500 ? 'same' : 'next'
}

interface ErrorFields {
  readonly code: string | undefined
  readonly type: string | undefined
  readonly param: string | undefined
}

function errorFieldsOf(error: unknown): ErrorFields {
  const { code, type, param } = fieldsOf(error)
  return { code: entryIn(synonyms, code) ?? shortText(code), type: shortText(type), param: shortText(param) }
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 ? value : undefined
}

function isKnown(name: string): boolean {
  return actionableCodes.has(name) || accountCodes.has(name) || Object.hasOwn(statusByName, name)
}

/** The path of a field: `messages`, `messages[0].content`, `tools.0.function`. */
const path = /^([A-Za-z_]{1,40})(?:\[\d{1,6}\]|\.\d{1,6}|\.[A-Za-z_]{1,24})*$/

function sentParam(param: string | undefined, sent: VendorFault['sent']): string | undefined {
  const root = param === undefined ? undefined : path.exec(param)?.[1]
  return root !== undefined && sent?.(root) !== undefined ? param : undefined
}

/**
 * How long to wait, in milliseconds, from `retry-after-ms` or from `retry-after` in seconds or as a date. At most 5 min;
 * undefined if absent or invalid.
 */
export function waitOf(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const exact = numberOf(header('retry-after-ms'))
  if (exact !== undefined && exact > 0) return Math.min(exact, maxWaitMs)
  const text = header('retry-after')
  if (text === undefined) return undefined
  const seconds = numberOf(text)
  const wait = seconds === undefined ? Date.parse(text) - now : seconds * 1000
  // Zero, or a date that is past because the clocks differ, becomes one second: never a tight loop.
  return Number.isNaN(wait) || (seconds !== undefined && seconds < 0)
    ? undefined
    : Math.min(Math.max(wait, 1_000), maxWaitMs)
}

const maxWaitMs = 300_000

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
