/**
 * An admission store over the ledger and the limits in memory, which draws slices as the contract says. Atomic, because it runs
 * without waiting. It keeps less back than real stores, so that slices are drawn where little is left.
 */
import type { AdmissionEnd, AdmissionStore, AdmissionVerdict } from '../../src/admission/contract.ts'
import type { SliceDraw, SliceEnds, SliceReturn, SliceWish } from '../../src/admission/contract.ts'
import type { Hold, Ledger, Settlement } from '../../src/money/ledger/contract.ts'
import type { LimitClaim, LimitStore, LimitVerdict, RateRule } from '../../src/money/limits/contract.ts'

/** The part of what is left that a slice takes at most. */
const share = 8

/** What is left of a slice. Its money is one hold at a time, and each of its places has a name of its own. */
interface Open {
  readonly account: string
  readonly until: number
  readonly buckets: readonly string[]
  readonly money: bigint
  readonly hold: number
  readonly places: number
}

export class SliceStore implements AdmissionStore {
  readonly drawsSlices = true
  readonly limits: LimitStore
  readonly ledger: Ledger
  readonly #open = new Map<string, Open>()
  readonly #moved = new Set<string>()

  constructor(limits: LimitStore, ledger: Ledger) {
    this.limits = limits
    this.ledger = ledger
  }

  admit(claim: LimitClaim, hold: Hold, slice?: SliceWish): AdmissionVerdict {
    const limits = this.limits.take(claim) as LimitVerdict
    if (!limits.admitted) return { limits }
    const held = this.ledger.hold(hold) as Awaited<ReturnType<Ledger['hold']>>
    if (held.outcome !== 'held') {
      const { id, rates, places } = claim
      void this.limits.give({ id, places: places.map(bucketOf), corrections: rates.map((rule) => times(rule, -1)) })
      const left = limits.left.map((units, at) => units + (rates[at] as RateRule).cost)
      return { limits: { admitted: true, left, free: limits.free.map((free) => free + 1) }, hold: held }
    }
    const room = [
      ...claim.rates.map(({ cost }, at) => (limits.left[at] as number) / cost),
      ...limits.free,
      Number(held.balance / hold.amount),
    ]
    const ahead = Math.floor(Math.min(slice?.calls ?? 0, ...room.map((calls) => calls / share)))
    if (slice === undefined || ahead < 1) return { limits, hold: held }
    this.#draw(slice, ahead, claim, hold)
    return { limits, hold: held, ahead }
  }

  finish(endings: readonly AdmissionEnd[], slices?: SliceEnds): void {
    for (const draw of slices?.draws ?? []) this.#move(draw)
    for (const each of slices?.returns ?? []) this.#return(each)
    for (const { returned, end } of endings) {
      if (returned !== undefined) void this.limits.give(returned)
      if (end?.amount !== undefined) void this.ledger.settle(end as Settlement)
      else if (end !== undefined) void this.ledger.release(end)
    }
  }

  #draw({ id }: SliceWish, calls: number, { rates, places, leaseMs }: LimitClaim, hold: Hold): void {
    const { account } = hold
    const money = hold.amount * BigInt(calls)
    void this.ledger.hold({ id: `${id} hold 0`, account, amount: money, leaseMs: hold.leaseMs })
    for (let place = 1; place <= calls; place++)
      void this.limits.take({ id: `${id} ${place}`, rates: [], places, leaseMs })
    void this.limits.give({ id, places: [], corrections: rates.map((rule) => times(rule, calls)) })
    const until = Date.now() + hold.leaseMs
    this.#open.set(id, { account, until, buckets: places.map(bucketOf), money, hold: 0, places: calls })
  }

  #move({ slice: id, hold, claim }: SliceDraw): void {
    const slice = this.#open.get(id)
    const now = Date.now()
    if (slice === undefined || slice.until <= now || this.#moved.has(hold.id)) return
    const { account, until, money, places } = slice
    void this.ledger.release({ id: `${id} hold ${slice.hold}`, account })
    const { outcome } = this.ledger.hold(hold) as Awaited<ReturnType<Ledger['hold']>>
    const isMoved = outcome === 'held'
    const left = isMoved ? money - hold.amount : money
    void this.ledger.hold({ id: `${id} hold ${slice.hold + 1}`, account, amount: left, leaseMs: until - now })
    this.#open.set(id, { ...slice, hold: slice.hold + 1, money: left, places: isMoved ? places - 1 : places })
    if (!isMoved) return
    this.#moved.add(hold.id)
    void this.limits.give({ id: `${id} ${places}`, places: slice.buckets, corrections: [] })
    const own = claim.places.map(({ bucket }) => ({ bucket, places: Infinity }))
    void this.limits.take({ id: hold.id, rates: [], places: own, leaseMs: claim.leaseMs })
  }

  #return({ id, account, corrections }: SliceReturn): void {
    const slice = this.#open.get(id)
    this.#open.delete(id)
    if (slice !== undefined) void this.ledger.release({ id: `${id} hold ${slice.hold}`, account })
    for (let place = slice?.places ?? 0; place > 0; place--) {
      void this.limits.give({ id: `${id} ${place}`, places: slice?.buckets ?? [], corrections: [] })
    }
    void this.limits.give({ id, places: [], corrections })
  }
}

function times(rule: RateRule, factor: number): RateRule {
  return { ...rule, cost: rule.cost * factor }
}

function bucketOf({ bucket }: { readonly bucket: string }): string {
  return bucket
}
