import type {
  CapCharge,
  CapAmounts,
  CapClaim,
  CapLimits,
  CapMeasure,
  CapOverride,
  CapPeriod,
  CapState,
} from './contract.ts'

/** All measures of caps. */
export const capMeasures: readonly CapMeasure[] = ['money', 'tokens', 'calls']

/** The period of a claim at `now`, the store's time in milliseconds since the epoch. Throws if none of its periods contains it. */
export function capPeriodAt({ name, window, periods }: CapClaim, now: number): CapPeriod {
  if ('grainMs' in periods) {
    const { grainMs, rollingMs } = periods
    const start = Math.floor(now / grainMs) * grainMs
    return { name, window, start, end: start + grainMs, rollingMs }
  }
  const { boundaries } = periods
  const index = boundaries.findLastIndex((boundary) => boundary <= now)
  const [start, end] = [boundaries[index], boundaries[index + 1]]
  if (start !== undefined && end !== undefined) return { name, window, start, end, rollingMs: 0 }
  throw new Error(`the store's clock is outside the periods of the cap ${name}: set the clocks of gateway and store`)
}

/** The limits of a claim with the overrides that apply: first the one without `until`, then the one with it. */
export function capLimitsWith(limits: CapLimits, overrides: readonly CapOverride[]): CapLimits {
  if (overrides.length === 0) return limits
  const inForce: Partial<Record<CapMeasure, bigint>> = { ...limits }
  for (const { limits: replaced } of overrides) {
    for (const measure of capMeasures) {
      const limit = replaced[measure]
      if (limit === null) delete inForce[measure]
      else if (limit !== undefined) inForce[measure] = limit
    }
  }
  return inForce
}

/** Whether `more` can be held in addition without passing a limit. */
export function capFits({ settled, held, limits }: CapState, more: CapAmounts): boolean {
  return capMeasures.every((measure) => {
    const limit = limits[measure]
    return limit === undefined || settled[measure] + held[measure] + more[measure] <= limit
  })
}

type Threshold = NonNullable<CapCharge['thresholds']>[number]

/** The thresholds that `amounts` reach on top of what was settled before, each with the value after. */
export function thresholdsReached(
  thresholds: readonly Threshold[],
  before: CapAmounts,
  amounts: CapAmounts,
): readonly (readonly [threshold: Threshold, value: bigint])[] {
  return thresholds.flatMap((threshold) => {
    const { measure, at } = threshold
    const value = before[measure] + amounts[measure]
    return before[measure] < at && value >= at ? [[threshold, value] as const] : []
  })
}

/** What a store keeps of a settlement for its refund: where it counts, as JSON, and until when. */
export function countedPeriods(caps: readonly CapPeriod[]): readonly [periods: string, ends: number] {
  const periods = caps.map(({ name, window, start, end, rollingMs }) => ({ name, window, start, end, rollingMs }))
  return [JSON.stringify(periods), Math.max(...caps.map(({ end, rollingMs }) => end + rollingMs))]
}
