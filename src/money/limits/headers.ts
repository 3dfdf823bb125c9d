import type { RateRule, LimitVerdict } from './contract.ts'

export type Measure = 'requests' | 'tokens'

/** A rate and the unit it counts. */
export interface Measured {
  readonly measure: Measure
  readonly rule: RateRule
  /** Whose limit it is, for people, such as `this key`. */
  readonly owner: string
}

/** OpenAI's `x-ratelimit-*` headers. For each measure, they describe the rule with the smallest fraction left. */
export function limitHeaders(rates: readonly Measured[], verdict: LimitVerdict): Record<string, string> {
  const requests = headerValues(rates, verdict, 'requests')
  const tokens = headerValues(rates, verdict, 'tokens')
  // Literals with all names are many times faster than names that are computed.
  const ofRequests = requests && {
    'x-ratelimit-limit-requests': requests.limit,
    'x-ratelimit-remaining-requests': requests.remaining,
    'x-ratelimit-reset-requests': requests.reset,
  }
  if (tokens === undefined) return ofRequests ?? {}
  return {
    ...ofRequests,
    'x-ratelimit-limit-tokens': tokens.limit,
    'x-ratelimit-remaining-tokens': tokens.remaining,
    'x-ratelimit-reset-tokens': tokens.reset,
  }
}

/** The values of the headers of one measure; undefined if it has no rule. */
function headerValues(rates: readonly Measured[], verdict: LimitVerdict, measure: Measure) {
  const at = tightest(rates, verdict.left, measure)
  const rule = rates[at]?.rule
  if (rule === undefined) return undefined
  const left = verdict.left[at] ?? 0
  return {
    limit: String(rule.limit),
    remaining: String(Math.max(0, Math.floor(left))),
    reset: spanOf(refillMs(rule, rule.burst - left)),
  }
}

/** The index of the rate of this measure with the smallest fraction left; -1 if there is none. */
function tightest(rates: readonly Measured[], left: readonly number[], measure: Measure): number {
  let found = -1
  let least = Infinity
  for (let at = 0; at < rates.length; at++) {
    const rate = rates[at]
    if (rate === undefined || rate.measure !== measure) continue
    const share = (left[at] ?? 0) / rate.rule.burst
    if (found !== -1 && share >= least) continue
    found = at
    least = share
  }
  return found
}

/** Milliseconds until `units` are refilled. */
export function refillMs(rule: RateRule, units: number): number {
  return Math.max(0, (units * rule.periodMs) / rule.limit)
}

/** A duration in OpenAI's format, such as `1m30.5s` or `250ms`. */
export function spanOf(milliseconds: number): string {
  const ms = Math.ceil(milliseconds)
  if (ms < 1_000) return `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor(ms / 60_000) % 60
  const seconds = (ms % 60_000) / 1_000
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
