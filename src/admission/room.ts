/** How many more calls the limits and the account of a call would admit. */
import type { CapAmounts, CapClaim, CapState } from '../money/caps/contract.ts'
import { capFits } from '../money/caps/period.ts'
import type { Hold, HoldVerdict, LedgerAccount } from '../money/ledger/contract.ts'
import type { LimitClaim, LimitVerdict } from '../money/limits/contract.ts'

/** If so many more such calls fit, what one of them gives back may wait. */
const many = 16
const nothing: CapAmounts = { money: 0n, tokens: 0n, calls: 0n }

/** Whether many more such calls fit. */
export function hasRoom(
  claim: LimitClaim | undefined,
  limits: LimitVerdict | undefined,
  hold: Hold | undefined,
  held: HoldVerdict | undefined,
): boolean {
  if (claim !== undefined) {
    if (limits === undefined) return false
    if (claim.rates.some(({ cost }, index) => (limits.left[index] ?? 0) < cost * many)) return false
    // Half of the places, because limits of a few are usual.
    if (claim.places.some(({ places }, index) => (limits.free[index] ?? 0) * 2 < places)) return false
  }
  if (hold === undefined) return true
  if (held === undefined) return false
  // Only an unlimited account is below zero.
  const isFunded = held.balance < 0n || held.balance >= hold.amount * BigInt(many)
  return isFunded && (held.caps ?? []).every((state) => capFits(state, moreOf(hold, BigInt(many))))
}

/** Limits of at most so many places are assumed to have none in slices: these are drawn only while plenty is free. */
const fewPlaces = 16

/**
 * Whether a refused call would fit if all open calls returned what they hold; with `ofSlices`, if slices did. `account`: asked
 * for if the balance is too small. `caps`: for the slices of caps.
 */
export async function mightFit(
  ofSlices: boolean,
  claim: LimitClaim | undefined,
  hold: Hold | undefined,
  limits: LimitVerdict | undefined,
  held: HoldVerdict | undefined,
  account: (id: string) => Promise<Pick<LedgerAccount, 'balance' | 'held' | 'ahead'> | undefined>,
  caps: (claims: readonly CapClaim[]) => Promise<readonly CapState[]>,
): Promise<boolean> {
  if (limits?.admitted === false) {
    const few = ofSlices ? fewPlaces : 0
    return limits.free.some((free, index) => free < 1 && (claim?.places[index]?.places ?? 0) > few)
  }
  if (hold === undefined || held === undefined) return false
  if (held.outcome === 'capped') {
    const fits = (held.caps ?? []).every((state) => capFits({ ...state, held: nothing }, moreOf(hold, 1n)))
    return fits && (!ofSlices || (await caps(hold.caps ?? [])).some(({ ahead = 0n }) => ahead > 0n))
  }
  if (held.outcome !== 'insufficient') return false
  const payer = await account(hold.account)
  if (payer === undefined || (ofSlices && (payer.ahead ?? 0n) === 0n)) return false
  return payer.balance + payer.held >= hold.amount
}

function moreOf({ amount, tokens = 0n }: Hold, calls: bigint): CapAmounts {
  return { money: amount * calls, tokens: tokens * calls, calls }
}
