/**
 * An admission store over the ledger and the limits in memory, which draws slices as the contract says. Atomic, because it runs
 * without waiting. It keeps less back than real stores, so that slices are drawn where little is left.
 */
import type { AdmissionEnd, AdmissionStore, AdmissionVerdict } from '../../src/admission/contract.ts'
import type { SliceDraw, SliceEnds, SliceReturn, SliceWish } from '../../src/admission/contract.ts'
import type { CapClaim, CapOverride, CapState } from '../../src/money/caps/contract.ts'
import { capMeasures } from '../../src/money/caps/period.ts'
import type { Hold, HoldVerdict, Ledger, Settlement } from '../../src/money/ledger/contract.ts'
import type { LimitClaim, LimitStore, LimitVerdict, RateRule } from '../../src/money/limits/contract.ts'

/** The part of what is left that a slice takes at most. */
const share = 8

/**
 * What is left of a slice. Its money is one hold at a time, each of its places has a name of its own, and so has a hold of
 * nothing for each of its calls but one, because a hold counts as one call for caps: also that of money without calls.
 */
interface Open {
  readonly hold: Hold
  readonly until: number
  readonly buckets: readonly string[]
  /** How often its hold was made. */
  readonly made: number
  readonly calls: number
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
    const held = this.ledger.hold(hold) as HoldVerdict
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
      ...(held.caps ?? []).flatMap((state) => roomOf(state, hold)),
    ]
    const ends = Math.min(...(held.caps ?? []).map(({ end }) => end))
    const ahead = Math.floor(Math.min(slice?.calls ?? 0, ...room.map((calls) => calls / share)))
    if (slice === undefined || ahead < 1 || ends < Date.now() + slice.ms) return { limits, hold: held }
    this.#draw(slice, ahead, claim, { ...hold, caps: (held.caps ?? []).map(claimOf) })
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
    const { amount, tokens = 0n } = hold
    const all = { ...hold, id, amount: amount * BigInt(calls), tokens: tokens * BigInt(calls) }
    for (let place = 1; place <= calls; place++)
      void this.limits.take({ id: `${id} ${place}`, rates: [], places, leaseMs })
    void this.limits.give({ id, places: [], corrections: rates.map((rule) => times(rule, calls)) })
    this.#keep({ hold: all, until: Date.now() + hold.leaseMs, buckets: places.map(bucketOf), made: 0, calls })
    for (let call = 2; call <= calls; call++) this.#hold({ ...hold, id: `${id} call ${call}`, amount: 0n, tokens: 0n })
  }

  /** Makes the hold of a slice. It is never refused, whatever the limits of its caps are now. */
  #keep(slice: Open): void {
    const { hold, until, made } = slice
    const leaseMs = until - Date.now()
    this.#open.set(hold.id, slice)
    this.#hold({ ...hold, id: `${hold.id} hold ${made}`, leaseMs })
  }

  #hold(hold: Hold): HoldVerdict {
    const { caps } = this.ledger
    const own = (hold.caps ?? []).flatMap(({ name }) => caps?.overrides(name) as readonly CapOverride[])
    for (const { name, until } of own) void caps?.override({ name, limits: {}, ...(until !== undefined && { until }) })
    const verdict = this.ledger.hold(hold) as HoldVerdict
    for (const override of own) void caps?.override(override)
    return verdict
  }

  #move({ slice: id, hold, claim }: SliceDraw): void {
    const slice = this.#open.get(id)
    const now = Date.now()
    if (slice === undefined || slice.until <= now || this.#moved.has(hold.id)) return
    const { hold: all, made, calls, buckets } = slice
    const { account, amount, tokens = 0n, caps = [] } = all
    void this.ledger.release({ id: `${id} hold ${made}`, account })
    const isMoved = this.#hold({ ...hold, caps }).outcome === 'held'
    if (!isMoved) return this.#keep({ ...slice, made: made + 1 })
    const left = { ...all, amount: amount - hold.amount, tokens: tokens - (hold.tokens ?? 0n) }
    if (calls > 1) void this.ledger.release({ id: `${id} call ${calls}`, account })
    this.#keep({ ...slice, hold: left, made: made + 1, calls: calls - 1 })
    this.#moved.add(hold.id)
    void this.limits.give({ id: `${id} ${calls}`, places: buckets, corrections: [] })
    const own = claim.places.map(({ bucket }) => ({ bucket, places: Infinity }))
    void this.limits.take({ id: hold.id, rates: [], places: own, leaseMs: claim.leaseMs })
  }

  #return({ id, account, corrections }: SliceReturn): void {
    const { made, calls = 0, buckets = [] }: Partial<Open> = this.#open.get(id) ?? {}
    this.#open.delete(id)
    if (made !== undefined) void this.ledger.release({ id: `${id} hold ${made}`, account })
    for (let call = calls; call > 0; call--) {
      if (call > 1) void this.ledger.release({ id: `${id} call ${call}`, account })
      void this.limits.give({ id: `${id} ${call}`, places: buckets, corrections: [] })
    }
    void this.limits.give({ id, places: [], corrections })
  }
}

/** How many such calls fit into a cap, by each of its measures. */
function roomOf({ limits, settled, held }: CapState, { amount: money, tokens = 0n }: Hold): number[] {
  const needs = { money, tokens, calls: 1n }
  return capMeasures.flatMap((measure) => {
    const limit = limits[measure]
    return limit === undefined ? [] : Number(limit - settled[measure] - held[measure]) / Number(needs[measure])
  })
}

/** A claim that counts in the period of a state, whenever it is made, and is never refused. */
function claimOf({ name, window, start }: CapState): CapClaim {
  return { name, window, periods: { boundaries: [start, Number.MAX_SAFE_INTEGER] }, limits: {} }
}

function times(rule: RateRule, factor: number): RateRule {
  return { ...rule, cost: rule.cost * factor }
}

function bucketOf({ bucket }: { readonly bucket: string }): string {
  return bucket
}
