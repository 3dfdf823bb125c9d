/**
 * A vendor's refusal → what our caller is told. The vendor's own words, ids and links stay here: only the names of
 * fields and codes that OpenAI documents are repeated.
 */
import type { ErrorCode } from '../errors.ts'
import { ProviderError, unavailable, type RetryAdvice } from './failure.ts'

export interface VendorFault {
  /** HTTP status, or the status an error inside a stream speaks of. */
  readonly status: number
  /** The `error` object in OpenAI's shape, as far as there is one. */
  readonly error?: unknown
  /** From `retry-after` and its relatives. */
  readonly waitMs?: number | undefined
  /** The client chose the vendor's model name itself. */
  readonly openModel: boolean
}

/** Codes of a 400 that a client can act on. */
const tellingCodes = new Set<string>([
  'unsupported_parameter',
  'unsupported_value',
  'context_length_exceeded',
  'content_policy_violation',
])

/** Codes by which a vendor says that our account with it has run out. */
const accountCodes = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'access_terminated',
])

const fieldName = /^[A-Za-z_][A-Za-z0-9_]*(?:[.[][A-Za-z0-9_\]]+)*$/

export function vendorError(fault: VendorFault): ProviderError {
  const { code, type, param } = fieldsOf(fault.error)
  const cause = new Error(`the vendor answered ${fault.status}${code === undefined ? '' : ` ${code}`}`)
  if (accountCodes.has(code ?? '') || accountCodes.has(type ?? '')) return unavailable('next', cause, undefined, false)
  if (code === 'model_not_found' || (fault.status === 404 && fault.openModel)) {
    return fault.openModel
      ? new ProviderError('model_not_found', { retry: 'next', cause, begun: false })
      : unavailable('next', cause, undefined, false)
  }
  switch (fault.status) {
    case 400:
    case 413:
    case 422:
      return badRequest(code, param, cause)
    case 429:
      return new ProviderError('rate_limit_exceeded', {
        retry: 'same',
        cause,
        vendorWaitMs: fault.waitMs,
        retryAfterMs: fault.waitMs ?? 1_000,
        begun: false,
      })
    default:
      return unavailable(adviceFor(fault.status), cause, fault.waitMs, adviceFor(fault.status) === 'same')
  }
}

function badRequest(code: string | undefined, param: string | undefined, cause: Error): ProviderError {
  const known = code !== undefined && tellingCodes.has(code) ? (code as ErrorCode) : 'invalid_request_error'
  const where = param === undefined ? '' : ` Look at "${param}".`
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

function fieldsOf(error: unknown): {
  code?: string | undefined
  type?: string | undefined
  param?: string | undefined
} {
  if (typeof error !== 'object' || error === null) return {}
  const { code, type, param } = error as Record<string, unknown>
  return {
    code: word(code),
    type: word(type),
    param: typeof param === 'string' && param.length <= 64 && fieldName.test(param) ? param : undefined,
  }
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[a-z_]{1,64}$/.test(value) ? value : undefined
}

/** `retry-after-ms`, `retry-after` in seconds or as a date. Milliseconds, between 1 s and 5 min; undefined for nonsense. */
export function waitOf(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const exact = Number(header('retry-after-ms') ?? Number.NaN)
  const coarse = header('retry-after')
  let wait = exact
  if (Number.isNaN(wait) && coarse !== undefined) {
    wait = Number(coarse) * 1000
    if (Number.isNaN(wait)) wait = Date.parse(coarse) - now
  }
  if (Number.isNaN(wait) || wait < 0) return undefined
  return Math.min(Math.max(wait, exact >= 0 ? 1 : 1_000), 300_000)
}
