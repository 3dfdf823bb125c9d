import { callback, checkKnown } from '../../records/known-options.ts'
import type { LimitClaim, LimitStore, PlaceRule, RateRule, LimitReturn, LimitVerdict } from './contract.ts'

interface Bucket {
  /** Units drawn and not yet refilled, at the time `at`. */
  used: number
  at: number
  /** When nothing will be drawn any more: the bucket can then be forgotten. */
  fullAt: number
}

/** The concurrency slots of one bucket that are held. */
interface Slots {
  /** Claim → end of its lease. */
  readonly leases: Map<string, number>
  /** No lease ends earlier: until then there is nothing to look for. */
  soonest: number
}

/** Options of `memoryLimitStore`. */
export interface MemoryLimitStoreOptions {
  /** Milliseconds; only differences matter. Default `performance.now`, which no change of the system clock disturbs. */
  readonly clock?: () => number
}

/** A limit store in the memory of this process. Each process counts alone; all counters start anew on restart. */
export function memoryLimitStore(options: MemoryLimitStoreOptions = {}): LimitStore {
  checkKnown('memoryLimitStore', options, { clock: callback })
  return new MemoryLimits(options.clock ?? (() => performance.now()))
}

class MemoryLimits implements LimitStore {
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()
  readonly #places = new Map<string, Slots>()
  #sweep: Iterator<[string, Bucket]> | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  take(claim: LimitClaim): LimitVerdict {
    const { id, rates, places, leaseMs } = claim
    const now = this.#now()
    const left = rates.map((rule) => rule.burst - usedAt(this.#buckets.get(rule.bucket), rule, now))
    const free = places.map((rule) => rule.places - this.#held(rule.bucket, id, now))
    if (!fits(rates, left, free)) return { admitted: false, left, free }
    for (let at = 0; at < rates.length; at++) {
      const rule = rates[at] as RateRule
      this.#draw(rule, now)
      left[at] = (left[at] as number) - rule.cost
    }
    for (let at = 0; at < places.length; at++) {
      const { bucket } = places[at] as PlaceRule
      free[at] = (free[at] as number) - 1
      let slots = this.#places.get(bucket)
      if (slots === undefined) this.#places.set(bucket, (slots = { leases: new Map(), soonest: Infinity }))
      slots.leases.set(id, now + leaseMs)
      slots.soonest = Math.min(slots.soonest, now + leaseMs)
    }
    return { admitted: true, left, free }
  }

  give({ id, places, corrections }: LimitReturn): void {
    const now = this.#now()
    for (const bucket of places) {
      const slots = this.#places.get(bucket)
      slots?.leases.delete(id)
      if (slots?.leases.size === 0) this.#places.delete(bucket)
    }
    for (const rule of corrections) this.#draw(rule, now)
  }

  renew(holders: readonly Pick<LimitReturn, 'id' | 'places'>[], leaseMs: number): void {
    const now = this.#now()
    for (const { id, places } of holders) {
      for (const bucket of places) {
        const slots = this.#places.get(bucket)
        if (slots === undefined || (slots.leases.get(id) ?? 0) <= now) continue
        slots.leases.set(id, now + leaseMs)
        slots.soonest = Math.min(slots.soonest, now + leaseMs)
      }
    }
  }

  #draw(rule: RateRule, now: number): void {
    const bucket = this.#buckets.get(rule.bucket)
    const used = Math.max(0, usedAt(bucket, rule, now) + rule.cost)
    const fullAt = now + (used * rule.periodMs) / rule.limit
    if (bucket === undefined) {
      this.#forgetFull(now)
      this.#buckets.set(rule.bucket, { used, at: now, fullAt })
      return
    }
    bucket.used = used
    bucket.at = now
    bucket.fullAt = fullAt
  }

  /** Slots held by other claims. Expired leases are dropped, at the cost of a walk only when one can have expired. */
  #held(bucket: string, id: string, now: number): number {
    const slots = this.#places.get(bucket)
    if (slots === undefined) return 0
    const { leases } = slots
    if (now >= slots.soonest) {
      slots.soonest = Infinity
      for (const [holder, end] of leases) {
        if (end <= now) leases.delete(holder)
        else slots.soonest = Math.min(slots.soonest, end)
      }
      if (leases.size === 0) this.#places.delete(bucket)
    }
    return leases.size - (leases.has(id) ? 1 : 0)
  }

  /** Looks at two buckets for each new one, so that the number of those that hold nothing stays small without a timer. */
  #forgetFull(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = (this.#sweep ??= this.#buckets.entries()).next()
      if (next.done === true) return void (this.#sweep = undefined)
      const [name, bucket] = next.value
      if (bucket.fullAt <= now) this.#buckets.delete(name)
    }
  }
}

/** Units drawn from a bucket and not yet refilled. */
function usedAt(bucket: Bucket | undefined, { limit, periodMs }: RateRule, now: number): number {
  return bucket === undefined ? 0 : Math.max(0, bucket.used - (Math.max(0, now - bucket.at) * limit) / periodMs)
}

function fits(rates: readonly RateRule[], left: readonly number[], free: readonly number[]): boolean {
  for (let at = 0; at < rates.length; at++) {
    if ((left[at] as number) < (rates[at] as RateRule).cost) return false
  }
  return free.every((places) => places >= 1)
}
