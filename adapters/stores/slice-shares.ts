/** For how many calls a store draws a slice. */
import type { AdmissionItem } from './batched-admission.ts'
import type { LimitVerdict } from './index.ts'

/**
 * The parts of what is left that a slice takes at most: so small that the slices of many processes together leave plenty. Of
 * places it may be more, because limits of a few are usual, and a call that lacks one waits until slices are over.
 */
export const shares = { units: 64, places: 16 } as const

/** For how many calls to draw, with a call that is admitted. `limits` and `balance`: what is left with it. */
export function callsAhead(
  { claim, hold, slice }: AdmissionItem,
  limits: LimitVerdict | undefined,
  balance: bigint,
): number {
  if (slice === undefined || hold === undefined || balance < 0n) return 0
  const { amount, caps = [], durable = false } = hold
  if (caps.length > 0 || durable) return 0
  const most = [slice.calls, amount === 0n ? Infinity : Number(balance / (amount * BigInt(shares.units)))]
  for (const [index, { cost }] of (claim?.rates ?? []).entries())
    most.push(cost === 0 ? Infinity : (limits?.left[index] ?? 0) / (cost * shares.units))
  for (const free of limits?.free ?? []) most.push(free / shares.places)
  return Math.max(0, Math.floor(Math.min(...most)))
}
