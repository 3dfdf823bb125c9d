/**
 * A vendor's refusal → what our caller is told. The vendor's own words, ids and links stay here: only the codes that
 * OpenAI documents and the names of fields that the client itself sent are repeated.
 */
import type { ErrorCode } from '../errors.ts'
import { ProviderError, unavailable, type RetryAdvice, tryNext } from './failure.ts'

export interface VendorFault {
  /** HTTP status, or the status an error inside a stream speaks of. */
  readonly status: number
  /** The `error` object in OpenAI's shape, as far as there is one. */
  readonly error?: unknown
  /** The answer says that the request is not supported. */
  readonly unsupported?: boolean
  /** From `retry-after` and its relatives. */
  readonly waitMs?: number | undefined
  /** The client chose the vendor's model name itself. */
  readonly openModel: boolean
  /** `Call.field`: a parameter the client did not send is not named to it. */
  readonly sent?: ((field: string) => unknown) | undefined
}

/** Codes of a 400 that a client can act on. */
const tellingCodes = new Set<string>([
  'unsupported_parameter',
  'unsupported_value',
  'context_length_exceeded',
  'content_policy_violation',
])

/** Codes by which a vendor refuses us, not our caller: our account with it has run out, or is unknown. */
const accountCodes = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'access_terminated',
])

/** What else vendors call things, in `code` or `type`, and the status it means. */
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

/** Other names for codes of ours. */
const synonyms: Readonly<Record<string, ErrorCode>> = { moderation_blocked: 'content_policy_violation' }

export function vendorError(fault: VendorFault): ProviderError {
  const { code, type, param } = fieldsOf(fault.error)
  const name = [code, type].find((each) => each !== undefined && isKnown(each))
  const cause = new Error(`the vendor answered ${fault.status}${name === undefined ? '' : ` ${name}`}`)
  if (accountCodes.has(code ?? '') || accountCodes.has(type ?? '')) return tryNext(cause, { begun: false })
  if (code === 'model_not_found' || (fault.status === 404 && fault.openModel)) {
    return fault.openModel
      ? new ProviderError('model_not_found', { retry: 'next', cause, begun: false })
      : tryNext(cause, { begun: false })
  }
  switch (fault.status) {
    case 400:
    case 422:
      return badRequest(code, sentParam(param, fault.sent), cause)
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
        vendorWaitMs: fault.waitMs,
        retryAfterMs: fault.waitMs ?? 1_000,
        begun: false,
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

/** Whether a vendor's own words say that no repetition helps. */
export function saysUnsupported(error: unknown): boolean {
  const { message, detail, code } = Object(error) as Record<string, unknown>
  const said = [error, message, detail, code]
    .filter((each) => typeof each === 'string')
    .join(' ')
    .slice(0, 2_000)
  return /\b(?:not|n't|isn.t)\s+(?:yet\s+|currently\s+)?(?:supported|implemented)|unsupported|does(?: not|n.t) support/i.test(
    said,
  )
}

/** The status that an error under a 200 means: some vendors name it in one of these fields, others by a word. */
export function statusIn(error: unknown): number {
  const { code, status, status_code: statusCode, type } = Object(error) as Record<string, unknown>
  for (const value of [statusCode, status, code]) {
    const number = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && number >= 400 && number < 600) return number
  }
  for (const name of [code, type]) {
    if (typeof name !== 'string') continue
    if (tellingCodes.has(name)) return 400
    if (Object.hasOwn(statusByName, name)) return statusByName[name] as number
  }
  return 503
}

function badRequest(code: string | undefined, param: string | undefined, cause: Error): ProviderError {
  const known = code !== undefined && tellingCodes.has(code) ? (code as ErrorCode) : 'invalid_request_error'
  const where = param === undefined ? '' : ` Check the parameter "${param}".`
  const message = `The model refused the request as invalid.${where}`
  return new ProviderError(known, {
    retry: 'never',
    cause,
    ...(param !== undefined && { param }),
    ...(known === 'invalid_request_error' && { message }),
  })
}

/** 401, 402, 403, 404 are about our account: no repetition helps. Timeouts, conflicts and 5xx pass. */
function adviceFor(status: number): RetryAdvice {
  return status === 408 || status === 409 || status === 425 || status >= 500 ? 'same' : 'next'
}

interface Fields {
  readonly code: string | undefined
  readonly type: string | undefined
  readonly param: string | undefined
}

function fieldsOf(error: unknown): Fields {
  const { code, type, param } = Object(error) as Record<string, unknown>
  const name = textOf(code)
  const known = name !== undefined && Object.hasOwn(synonyms, name) ? synonyms[name] : name
  return { code: known, type: textOf(type), param: textOf(param) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 ? value : undefined
}

function isKnown(name: string): boolean {
  return tellingCodes.has(name) || accountCodes.has(name) || Object.hasOwn(statusByName, name)
}

/** A field and what is below it: `messages`, `messages[0].content`, `tools.0.function`. */
const path = /^([a-z_]{1,40})(?:\[\d{1,6}\]|\.\d{1,6}|\.[a-z_]{1,24})*$/

function sentParam(param: string | undefined, sent: VendorFault['sent']): string | undefined {
  const root = param === undefined ? undefined : path.exec(param)?.[1]
  return root !== undefined && sent?.(root) !== undefined ? param : undefined
}

/** `retry-after-ms`, `retry-after` in seconds or as a date. Milliseconds, at most 5 min; undefined for nonsense. */
export function waitOf(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const exact = numberOf(header('retry-after-ms'))
  if (exact !== undefined && exact > 0) return Math.min(exact, longestWaitMs)
  const coarse = header('retry-after')
  if (coarse === undefined) return undefined
  const seconds = numberOf(coarse)
  const wait = seconds === undefined ? Date.parse(coarse) - now : seconds * 1000
  // At once, or in the past by a clock that goes otherwise than ours, is a second from now: never a tight loop.
  return Number.isNaN(wait) || (seconds !== undefined && seconds < 0)
    ? undefined
    : Math.min(Math.max(wait, 1_000), longestWaitMs)
}

const longestWaitMs = 300_000

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
