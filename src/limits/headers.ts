import type { RateRule, LimitVerdict } from './contract.ts'

export type Measure = 'requests' | 'tokens'

/** A rate and the unit it counts. */
export interface Measured {
  readonly measure: Measure
  readonly rule: RateRule
}

/** OpenAI's `x-ratelimit-*` headers. For each measure, they describe the rule with the smallest fraction left. */
export function limitHeaders(rates: readonly Measured[], verdict: LimitVerdict): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const measure of ['requests', 'tokens'] as const) {
    let tightest: { rule: RateRule; left: number } | undefined
    rates.forEach((rate, index) => {
      const left = verdict.left[index] ?? 0
      if (rate.measure !== measure) return
      if (tightest === undefined || left / rate.rule.burst < tightest.left / tightest.rule.burst) {
        tightest = { rule: rate.rule, left }
      }
    })
    if (tightest === undefined) continue
    const { rule, left } = tightest
    headers[`x-ratelimit-limit-${measure}`] = String(rule.limit)
    headers[`x-ratelimit-remaining-${measure}`] = String(Math.max(0, Math.floor(left)))
    headers[`x-ratelimit-reset-${measure}`] = spanOf(refillMs(rule, rule.burst - left))
  }
  return headers
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
