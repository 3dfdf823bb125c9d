import { GatewayError } from '../../errors.ts'
import type { LimitClaim, LimitVerdict } from './contract.ts'
import { limitHeaders, refillMs, spanOf, type Measured } from './headers.ts'

/** The official clients retry by themselves after at most this wait. */
const longestRetryMs = 60_000

/** When a place becomes free is unknown, so this is a guess. */
const placeWaitMs = 1_000

export function tooManyRequests(rate: Measured, waitMs: number, headers: Record<string, string> = {}): GatewayError {
  return limited(`${reached(rate)}. Try again in ${spanOf(waitMs)}.`, waitMs, headers)
}

/** `owner`: see `Measured`. Default: not known. */
export function tooManyAtOnce(places: number, owner?: string): GatewayError {
  const whose = owner === undefined ? '' : ` of ${owner}`
  return limited(`At most ${places} requests${whose} may run at the same time. Wait until one has ended.`, placeWaitMs)
}

/** The begin of a message: which limit is reached. */
function reached({ measure, rule: { limit, periodMs }, owner }: Measured): string {
  const unit = limit === 1 ? measure.slice(0, -1) : measure
  return `The rate limit of ${owner} is reached: ${limit} ${unit} per ${periods.get(periodMs) ?? spanOf(periodMs)}`
}

const periods: ReadonlyMap<number, string> = new Map([
  [1_000, 'second'],
  [60_000, 'minute'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
])

/** The 429 of a rejected claim. It describes the rule with the longest wait. */
export function refusalOf(claim: LimitClaim, rates: readonly Measured[], verdict: LimitVerdict): GatewayError {
  const headers = limitHeaders(rates, verdict)
  let longest: { waitMs: number; rate: Measured } | undefined
  rates.forEach((rate, index) => {
    const { rule } = rate
    const left = verdict.left[index] ?? 0
    if (left >= rule.cost) return
    const waitMs = rule.cost > rule.burst ? Infinity : refillMs(rule, rule.cost - left)
    if (longest === undefined || waitMs > longest.waitMs) longest = { waitMs, rate }
  })
  if (longest === undefined) {
    const full = claim.places[verdict.free.findIndex((free) => free < 1)]
    return tooManyAtOnce(full?.places ?? 0)
  }
  const { waitMs, rate } = longest
  if (waitMs === Infinity) return tooLargeAtOnce(rate, headers)
  if (rate.measure === 'requests') return tooManyRequests(rate, waitMs, headers)
  const { cost } = rate.rule
  const message = `${reached(rate)}; this request asks for about ${cost}. Try again in ${spanOf(waitMs)}.`
  return limited(message, waitMs, headers)
}

/** Waiting does not help: the request needs more units than the bucket can hold. */
function tooLargeAtOnce({ rule }: Measured, headers: Record<string, string>): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This request asks for about ${rule.cost} tokens, the limit is ${rule.burst} at once. Shorten it, or lower the limit of output tokens.`,
    shouldRetry: false,
    headers,
  })
}

function limited(message: string, waitMs: number, headers: Record<string, string> = {}): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message,
    retryAfterMs: waitMs,
    headers,
    ...(waitMs > longestRetryMs && { shouldRetry: false }),
  })
}
