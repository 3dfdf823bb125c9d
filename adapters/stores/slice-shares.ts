/** For how many calls a store draws a slice. */
import type { AdmissionItem } from './batched-admission.ts'
import { capMeasures, type HoldVerdict, type LimitVerdict } from './index.ts'

/**
 * The parts of what is left that a slice takes at most: so small that the slices of many processes together leave plenty. Of
 * places it may be more, because limits of a few are usual, and a call that lacks one waits until slices are over.
 */
export const shares = { units: 64, places: 16 } as const

/** For how many calls to draw, with a call that is admitted. `limits` and `held`: what is left with it. `now`: as of the store. */
export function callsAhead(
  { claim, hold, slice }: AdmissionItem,
  limits: LimitVerdict | undefined,
  { balance, caps = [] }: HoldVerdict,
  { now, isUnlimited }: { readonly now: number; readonly isUnlimited: boolean },
): number {
  if (slice === undefined || hold === undefined || hold.durable === true) return 0
  if (caps.some(({ end }) => end < now + slice.ms)) return 0
  const { amount: money, tokens = 0n } = hold
  const needs = { money, tokens, calls: 1n }
  const most = [slice.calls, isUnlimited ? Infinity : share(balance, money)]
  for (const [index, { cost }] of (claim?.rates ?? []).entries())
    most.push(cost === 0 ? Infinity : (limits?.left[index] ?? 0) / (cost * shares.units))
  for (const free of limits?.free ?? []) most.push(free / shares.places)
  for (const { limits: own, settled, held } of caps)
    for (const measure of capMeasures) {
      const limit = own[measure]
      if (limit !== undefined) most.push(share(limit - settled[measure] - held[measure], needs[measure]))
    }
  return Math.max(0, Math.floor(Math.min(...most)))
}

function share(left: bigint, need: bigint): number {
  return need === 0n ? Infinity : Number(left / (need * BigInt(shares.units)))
}
