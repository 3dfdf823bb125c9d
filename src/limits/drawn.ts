/** What is left of the rates and places of a claim once it is granted. */
import type { LimitClaim, LimitVerdict } from './contract.ts'

/** `found` tells how things stood before. */
export function drawn({ rates }: LimitClaim, found: LimitVerdict): LimitVerdict {
  if (!found.admitted) return found
  return {
    admitted: true,
    left: found.left.map((room, index) => room - (rates[index]?.cost ?? 0)),
    free: found.free.map((places) => places - 1),
  }
}
