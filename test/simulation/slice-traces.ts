/** What slices hold, what is drawn from them, and the calls that processes admit by them before a store hears of it. */
import type { SliceDraw, SliceReturn, SliceWish } from '../../src/admission/contract.ts'
import type { Hold } from '../../src/money/ledger/contract.ts'
import type { LimitClaim, RateRule } from '../../src/money/limits/contract.ts'
import { periodAt, type LedgerModel } from '../model/ledger-model.ts'
import { LimitModel } from '../model/store-models.ts'
import { Violation } from './request.ts'
import type { Machine } from './scheduler.ts'

/** Milliseconds within which a store hears of a call. */
const toldMs = 4_000

interface Traced {
  readonly by: Machine
  readonly account: string
  readonly requests: readonly RateRule[]
  /** Until when it may admit calls. */
  until: number
  /** The end of its lease. */
  readonly leased: number
  /** Left of it. */
  readonly units: Map<string, number>
  money: bigint
  tokens: bigint
  calls: number
}

interface Begun {
  readonly at: number
  readonly most: bigint
}

const isExceeded = 'the calls of a slice never exceed it'

export class SliceTraces {
  readonly #ledger: LedgerModel
  readonly #limits: LimitModel
  readonly #slices = new Map<string, Traced>()
  /** Calls that a store has admitted. */
  readonly #admitted = new Set<string>()
  /** Calls that only a slice can have admitted. */
  readonly #begun = new Map<string, Begun>()
  readonly #drawn = new Set<string>()
  readonly #returned = new Set<string>()
  /** The rates of requests, counted when their processes admit them. */
  readonly #rates = new LimitModel()
  /** The longest time of a slice: its units may be used so much later than they are drawn. */
  #longestMs = 0
  #hasJumped = false

  constructor(ledger: LedgerModel, limits: LimitModel) {
    this.#ledger = ledger
    this.#limits = limits
  }

  /** A store has admitted a call. */
  admitted(claim: LimitClaim, now: number): void {
    this.#admitted.add(claim.id)
    this.#count(claim.id, claim.rates.filter(isOfRequests), now)
  }

  /** Rates are corrected, but not by slices: what they return no process has used. */
  corrected(rules: readonly RateRule[], now: number): void {
    const corrections = rules.filter(isOfRequests)
    if (corrections.length > 0) this.#rates.give({ id: '', places: [], corrections }, now)
  }

  /** A slice is drawn with a call. */
  draw({ id, ms }: SliceWish, calls: number, claim: LimitClaim, hold: Hold, by: Machine, now: number): void {
    const { account, amount, leaseMs, caps = [], tokens = 0n } = hold
    const periods = caps.map((claim) => periodAt(claim, now))
    if (periods.some(({ end }) => end < now + ms)) throw new Violation('a slice ends in the periods of its caps', id)
    const amounts = { money: amount * BigInt(calls), tokens: tokens * BigInt(calls), calls: BigInt(calls) }
    this.#ledger.holds.set(id, { account, amounts, periods, until: now + leaseMs })
    this.#limits.drawAhead(id, calls, claim, now)
    this.#longestMs = Math.max(this.#longestMs, ms)
    const units = new Map(claim.rates.map(({ bucket, cost }) => [bucket, cost * calls]))
    const requests = claim.rates.filter(isOfRequests)
    this.#slices.set(id, {
      by,
      account,
      requests,
      until: now + ms + 1,
      leased: now + leaseMs,
      units,
      money: amounts.money,
      tokens: amounts.tokens,
      calls,
    })
  }

  /** Whether a call that calls its vendor is covered by a slice of its process. */
  begin(id: string, account: string, by: Machine, most: bigint, now: number): boolean {
    if (this.#admitted.has(id) || this.#drawn.has(id)) return false
    const known = this.#begun.get(id)
    if (known !== undefined) return known.at + toldMs > now
    const all = [...this.#slices].filter(([, slice]) => slice.by === by && slice.account === account)
    if (all.length === 0) return false
    this.#begun.set(id, { at: now, most })
    this.#count(id, all[0]?.[1].requests ?? [], now)
    return all.some(([slice, { until }]) => until >= now && this.#ledger.holds.has(slice))
  }

  /** A store hears of a call that a slice has admitted. Returns whether it does for the first time. */
  move({ slice: name, hold, claim }: SliceDraw, by: Machine, now: number): boolean {
    const slice = this.#slices.get(name)
    if (slice === undefined || slice.by !== by) throw new Violation(isExceeded, `${hold.id} is of no slice: ${name}`)
    const [ledger, limits] = [this.#ledger, this.#limits]
    const isFirst = !this.#drawn.has(hold.id)
    if (isFirst) this.#take(slice, hold, claim)
    ledger.expire(now)
    const from = ledger.holds.get(name)
    if (isFirst && from === undefined && slice.leased > now)
      throw new Violation('a slice is returned after its draws', `${hold.id} of ${name}`)
    if (from === undefined || ledger.holds.has(hold.id) || ledger.ended.has(hold.id)) return isFirst
    const { account, leaseMs } = hold
    const { amounts, periods, until } = from
    const part = { money: hold.amount, tokens: hold.tokens ?? 0n, calls: 1n }
    const [money, tokens, calls] = [amounts.money - part.money, amounts.tokens - part.tokens, amounts.calls - 1n]
    ledger.holds.set(name, { account, amounts: { money, tokens, calls }, periods, until })
    ledger.holds.set(hold.id, { account, amounts: part, periods, until: now + leaseMs })
    limits.moveAhead(name, claim, now)
    return isFirst
  }

  /** A call ends. */
  ended(id: string): void {
    if (this.#begun.has(id) && !this.#drawn.has(id)) throw new Violation('a slice covers its calls until they end', id)
  }

  /** What is left of a slice is returned. */
  end({ id, corrections }: SliceReturn, now: number): void {
    this.#returned.add(id)
    this.#ledger.holds.delete(id)
    this.#limits.endAhead(id)
    this.#limits.give({ id, places: [], corrections }, now)
    const units = this.#slices.get(id)?.units
    for (const { bucket, cost } of corrections) {
      const left = (units?.get(bucket) ?? 0) + cost
      units?.set(bucket, left)
      if (left < -1e-6) throw new Violation('a slice gives back what is left of it', `${-left} too much of ${id}`)
    }
  }

  /** The number of open slices of which all calls are drawn. A store may count one for what is left of each. */
  get emptied(): number {
    return [...this.#slices].filter(([id, { calls }]) => calls === 0 && this.#ledger.holds.has(id)).length
  }

  /** A slice that is held `ms` after its time, although its process is healthy. One that was returned before it was drawn may be. */
  left(isHealthy: (machine: Machine) => boolean, ms: number, now: number): string | undefined {
    for (const [id, { by, until }] of this.#slices) {
      const hold = until + ms < now && !this.#returned.has(id) ? this.#ledger.holds.get(id) : undefined
      if (hold !== undefined && hold.until > now && isHealthy(by)) return id
    }
    return undefined
  }

  /** The clock of the stores jumps: slices outlive the time for which these keep units for them. */
  jump(): void {
    this.#hasJumped = true
    for (const slice of this.#slices.values()) slice.until = Infinity
  }

  #take(slice: Traced, { id, amount, tokens = 0n }: Hold, { rates }: LimitClaim): void {
    this.#drawn.add(id)
    slice.calls--
    slice.money -= amount
    slice.tokens -= tokens
    let isOver = slice.calls < 0 || slice.money < 0n || slice.tokens < 0n
    for (const { bucket, cost } of rates) {
      const left = (slice.units.get(bucket) ?? 0) - cost
      slice.units.set(bucket, left)
      isOver ||= left < -1e-6
    }
    if (isOver) throw new Violation(isExceeded, `${id} exceeds what was drawn for it`)
    const begun = this.#begun.get(id)
    if (begun === undefined) return
    if (begun.at > slice.until)
      throw new Violation('a slice admits calls in its time', `${id} began ${begun.at - slice.until} ms later`)
    if (begun.most > amount) throw new Violation('a hold covers its call', `${id}: ${amount} of ${begun.most}`)
  }

  #count(id: string, rates: readonly RateRule[], now: number): void {
    const later = rates.map((rule) => ({ ...rule, burst: rule.burst + (rule.limit * this.#longestMs) / rule.periodMs }))
    const fits = this.#rates.take({ id, rates: later, places: [], leaseMs: 0 }, now, true)
    if (fits === false && !this.#hasJumped)
      throw new Violation('rates hold for the times at which processes admit calls', id)
  }
}

function isOfRequests({ bucket }: RateRule): boolean {
  return bucket.endsWith('requests')
}
