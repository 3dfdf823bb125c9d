/** Divides a call among the nodes that have its keys: its account comes first, buckets that accounts share come last. */
import type { LimitClaim, LimitReturn } from '../index.ts'
import { capHoldOf } from './cap-arguments.ts'
import type { AdmissionPart, AdmittedPart } from './admit.ts'
import type { EndingPart } from './finish.ts'
import type { KeyBases } from './key-bases.ts'

/** A step of an admission, and what came of it. */
export interface Step {
  readonly base: string
  readonly part: AdmissionPart
  readonly admitted: AdmittedPart
  /** Whether it drew its buckets and took its hold. */
  readonly drew: boolean
}

/** The parts by their base, in the order in which to take them. */
export function admissionSteps(keyBases: KeyBases, { claim, hold, slice }: AdmissionPart): [string, AdmissionPart][] {
  const bases = new Set(hold === undefined ? [] : [keyBases.baseOf(hold.account)])
  const buckets = [...(claim?.rates ?? []), ...(claim?.places ?? [])].map(({ bucket }) => keyBases.baseOfBucket(bucket))
  for (const base of buckets) if (base !== keyBases.shared) bases.add(base)
  const capped = hold?.caps !== undefined && hold.caps.length > 0
  if (capped || buckets.includes(keyBases.shared) || bases.size === 0) bases.add(keyBases.shared)
  return [...bases].map((base, index) => {
    const here = ({ bucket }: { readonly bucket: string }) => keyBases.baseOfBucket(bucket) === base
    const part = claim && { ...claim, rates: claim.rates.filter(here), places: claim.places.filter(here) }
    const caps = index === 0 || base === keyBases.shared ? capHoldOf(hold) : undefined
    return [
      base,
      { claim: part, hold: index === 0 ? hold : undefined, caps, slice: bases.size === 1 ? slice : undefined },
    ]
  })
}

export function endingSteps(
  keyBases: KeyBases,
  returned: LimitReturn | undefined,
  end: EndingPart['end'],
): [string, EndingPart][] {
  const { places = [], corrections = [] } = returned ?? {}
  const bases = new Set(end === undefined ? [] : [keyBases.baseOf(end.account)])
  for (const bucket of places) bases.add(keyBases.baseOfBucket(bucket))
  for (const { bucket } of corrections) bases.add(keyBases.baseOfBucket(bucket))
  return [...bases].map((base, index) => {
    const here = (bucket: string) => keyBases.baseOfBucket(bucket) === base
    const part = returned && {
      ...returned,
      places: places.filter(here),
      corrections: corrections.filter(({ bucket }) => here(bucket)),
    }
    return [base, { returned: part, end: index === 0 ? end : undefined }]
  })
}

/** Gives back exactly what a step drew: not the places and the hold that the call had before. */
export function undoOf({ part: { claim, hold }, admitted }: Step): EndingPart {
  return {
    returned: claim && {
      id: claim.id,
      places: claim.places.filter((_, index) => admitted.taken[index]).map(({ bucket }) => bucket),
      corrections: claim.rates.map((rule) => ({ ...rule, cost: -rule.cost })),
    },
    end:
      hold !== undefined && admitted.hold?.isNew === true
        ? { id: hold.id, account: hold.account, undo: true }
        : undefined,
  }
}

/** The verdict on the whole claim, after all steps or, if one drew nothing, after the others have been undone. */
export function joined(claim: LimitClaim | undefined, steps: readonly Step[]): AdmittedPart {
  const undone = steps.some(({ drew }) => !drew)
  const left = new Map<string, number>()
  const free = new Map<string, number>()
  for (const { part, admitted, drew } of steps) {
    part.claim?.rates.forEach(({ bucket, cost }, index) => {
      left.set(bucket, (admitted.left[index] as number) + (undone && drew ? cost : 0))
    })
    part.claim?.places.forEach(({ bucket }, index) => {
      free.set(bucket, (admitted.free[index] as number) + (undone && drew ? 1 : 0))
    })
  }
  const admitted = steps.every((step) => step.admitted.admitted)
  const held = steps[0]?.admitted.hold
  const counted = steps.find(({ part, admitted: { hold } }) => part.hold === undefined && hold !== undefined)?.admitted
    .hold
  const hold = held && counted && { ...held, outcome: counted.outcome, caps: counted.caps ?? [] }
  // The hold is undone if it does not fit its caps.
  const returned = undone && held?.isNew === true ? (steps[0]?.part.hold?.amount ?? 0n) : 0n
  return {
    admitted,
    left: claim?.rates.map(({ bucket }) => left.get(bucket) as number) ?? [],
    free: claim?.places.map(({ bucket }) => free.get(bucket) as number) ?? [],
    taken: [],
    hold: admitted && held ? { ...(hold ?? held), balance: held.balance + returned } : undefined,
    ahead: steps[0]?.admitted.ahead ?? 0,
  }
}
