import type { LimitClaim, LimitVerdict } from './contract.ts'

/** The verdict of an admitted claim after its draw, given the state `before` it. */
export function verdictAfter({ rates }: LimitClaim, before: LimitVerdict): LimitVerdict {
  if (!before.admitted) return before
  return {
    admitted: true,
    left: before.left.map((units, index) => units - (rates[index]?.cost ?? 0)),
    free: before.free.map((places) => places - 1),
  }
}
