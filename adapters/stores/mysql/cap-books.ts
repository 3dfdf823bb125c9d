/** The caps of a batch of calls: locked, read, changed and written back. */
import {
  capFits,
  capLimitsWith,
  capPeriodAt,
  countedPeriods,
  thresholdsReached,
  type AlertThreshold,
  type CapAmounts,
  type CapClaim,
  type CapOverride,
  type CapPeriod,
  type CapState,
  type Hold,
  type Settlement,
  type SliceDraw,
} from '../index.ts'
import type { Ask } from './transaction.ts'
import { insertRows, lockRows, marks, timeOf } from './locks.ts'
import { CapParts, partOf, partsOfSlices, type Part } from './cap-parts.ts'
import { capOf, CapUses, countsIn } from './cap-uses.ts'
import { overrideOf } from '../sql/overrides.ts'

/** The claims of a batch and the ids of its holds and slices, and the periods in which its settlements and refunds count. */
export interface CapQuestion {
  readonly claims: readonly CapClaim[]
  /** The claims of draws from slices. They count in the periods of the slices. */
  readonly moved?: readonly CapClaim[]
  readonly holds: readonly string[]
  readonly periods: readonly CapPeriod[]
  /** Whether some of the holds may count in caps that are not among these. */
  readonly isPartial?: boolean
}

export class CapBooks {
  readonly #ask: Ask
  readonly #soonest = new Map<string, { ends: number; isChanged: boolean }>()
  readonly #uses = new CapUses()
  readonly #overrides = new Map<string, CapOverride[]>()
  readonly #parts = new CapParts()
  readonly #charges: (readonly unknown[])[] = []
  readonly #notices: (readonly unknown[])[] = []
  #now = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** Locks the caps, after the accounts. Returns the time. */
  async lock({ claims, moved = [], holds, periods, isPartial = false }: CapQuestion): Promise<number> {
    // Read before, so that all caps are locked in their order.
    if (isPartial) await this.#parts.read(this.#ask, holds)
    const known = [...[...claims, ...moved, ...periods].map(capOf), ...this.#parts.caps()]
    // The accounts are locked, so that no holds have come to count.
    if (isPartial && known.length === 0) return 0
    const [now] = await Promise.all([this.#lock(known), this.#parts.read(this.#ask, holds)])
    const more = this.#parts.caps().filter((cap) => !this.#soonest.has(cap))
    if (more.length === 0) return now
    const later = await this.#lock(more)
    // Again, because another transaction may have taken them off those caps before this one locked them.
    await this.#parts.read(this.#ask, holds)
    return Math.max(now, later)
  }

  async #lock(caps: readonly string[]): Promise<number> {
    const locked = await lockRows(this.#ask, 'caps', 'cap', caps)
    for (const [cap, { row }] of locked) {
      const ends = row['soonest'] === null ? Infinity : Number(row['soonest'])
      this.#soonest.set(cap, { ends, isChanged: false })
    }
    return timeOf(locked)
  }

  /** Reads what is counted, and takes off what expired holds count. */
  async read(now: number, { claims, periods }: CapQuestion): Promise<void> {
    this.#now = now
    if (this.#soonest.size === 0) return
    const due = [...this.#soonest].filter(([, { ends }]) => ends <= now).map(([cap]) => cap)
    const expired = due.length === 0 ? [] : await this.#expired(due)
    const from = new Map<string, number>()
    const need = (cap: string, start: number) => from.set(cap, Math.min(from.get(cap) ?? Infinity, start))
    for (const { cap, start } of expired) need(cap, start)
    for (const part of this.#parts.all()) need(part.cap, part.start)
    for (const period of periods) need(capOf(period), period.start - period.rollingMs)
    for (const claim of claims) {
      const { start, rollingMs } = capPeriodAt(claim, now)
      const earlier = from.get(capOf(claim)) ?? start
      need(capOf(claim), Math.min(start, earlier) - rollingMs)
    }
    if (from.size === 0) return
    const which = [...from].map(() => '(cap = ? AND start >= ?)').join(' OR ')
    const [{ rows }] = await Promise.all([
      this.#ask(`SELECT * FROM @.cap_use FORCE INDEX (PRIMARY) WHERE ${which}`, [...from].flat()),
      this.#readOverrides([...new Set(claims.map(({ name }) => name))]),
    ])
    for (const row of rows) this.#uses.add(row)
    for (const part of expired) this.#count(part, -1n)
  }

  /** What expired holds still count in these caps. Waits for holds that are being renewed. */
  async #expired(due: readonly string[]): Promise<readonly Part[]> {
    const joined = `@.cap_holds c FORCE INDEX (cap_holds_of) LEFT JOIN @.holds h ON h.id = c.hold WHERE c.cap IN (${marks(due)})`
    const { rows } = await this.#ask(`SELECT c.*, h.ends FROM ${joined} AND coalesce(h.ends, 0) <= ? FOR UPDATE`, [
      ...due,
      this.#now,
    ])
    for (const row of rows) this.#parts.expire(this.#ask, row['hold'] as string, row['cap'] as string)
    const next = await this.#ask(`SELECT c.cap, min(h.ends) AS soonest FROM ${joined} AND h.ends > ? GROUP BY c.cap`, [
      ...due,
      this.#now,
    ])
    const soonest = new Map(next.rows.map((row) => [row['cap'], Number(row['soonest'])]))
    for (const cap of due) this.#soonest.set(cap, { ends: soonest.get(cap) ?? Infinity, isChanged: true })
    return rows.map(partOf)
  }

  async #readOverrides(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const { rows } = await this.#ask(
      `SELECT name, limits, until FROM @.cap_overrides WHERE name IN (${marks(names)}) AND coalesce(until > ?, true)
      ORDER BY name, temporary`,
      [...names, this.#now],
    )
    for (const row of rows) {
      const name = row['name'] as string
      this.#overrides.set(name, [...(this.#overrides.get(name) ?? []), overrideOf(row)])
    }
  }

  state(claim: CapClaim, period: CapPeriod = capPeriodAt(claim, this.#now)): CapState {
    const { first, settled, held } = this.#uses.sums(period)
    const limits = capLimitsWith(claim.limits, this.#overrides.get(claim.name) ?? [])
    return { ...period, resetsAt: first ?? period.end + period.rollingMs, settled, held, limits }
  }

  /** How many calls slices hold for each claim, in the periods that count. */
  async ahead(claims: readonly CapClaim[]): Promise<readonly bigint[]> {
    const parts = await partsOfSlices(this.#ask, claims.map(capOf))
    return claims.map((claim) => {
      const period = capPeriodAt(claim, this.#now)
      const counted = parts.filter(({ cap, start }) => cap === capOf(claim) && countsIn(period, start))
      return counted.reduce((sum, { calls }) => sum + calls, 0n)
    })
  }

  /** Holds for all caps, or for none. */
  hold(wanted: Hold): { fits: boolean; states: readonly CapState[] } {
    const { amount: money, tokens = 0n, caps = [] } = wanted
    const states = () => caps.map((claim) => this.state(claim))
    if (!states().every((state) => capFits(state, { money, tokens, calls: 1n })))
      return { fits: false, states: states() }
    this.make(wanted, 1n)
    return { fits: true, states: states() }
  }

  /** Holds for so many calls, whether or not they fit. */
  make({ id, amount: money, tokens = 0n, leaseMs, caps = [] }: Hold, calls: bigint): void {
    const parts = caps.map((claim) => {
      const { start, end, rollingMs } = capPeriodAt(claim, this.#now)
      const part = { cap: capOf(claim), start, money, tokens, calls }
      this.#count(part, 1n, end + rollingMs)
      return part
    })
    this.#parts.put(id, parts)
    this.#expects(parts, leaseMs)
  }

  /** Moves what a call counts from the slice that has admitted it to its own hold, in the periods of the slice. */
  moveDraw(draw: SliceDraw): void {
    const { id, leaseMs } = draw.hold
    this.#parts.moveDraw(draw)
    this.#expects(this.#parts.of(id), leaseMs)
  }

  /** Notes when parts may expire. */
  #expects(parts: readonly Part[], leaseMs: number): void {
    const ends = this.#now + leaseMs
    for (const { cap } of parts)
      if (ends < (this.#soonest.get(cap)?.ends ?? Infinity)) this.#soonest.set(cap, { ends, isChanged: true })
  }

  /** The states of the caps of an open hold, in the periods in which it was made. */
  statesOf(hold: string, claims: readonly CapClaim[]): CapState[] {
    const parts = this.#parts.of(hold)
    return claims.flatMap((claim) => {
      const part = parts.find(({ cap }) => cap === capOf(claim))
      const use = part && this.#uses.of(part.cap, part.start)
      if (part === undefined || use === undefined) return []
      const { name, window, periods } = claim
      const rollingMs = 'grainMs' in periods ? periods.rollingMs : 0
      return this.state(claim, { name, window, start: part.start, end: use.ends - rollingMs, rollingMs })
    })
  }

  /** Takes off what a hold that is no longer open counts. */
  release(hold: string): void {
    for (const part of this.#parts.of(hold)) this.#count(part, -1n)
    this.#parts.delete(hold)
  }

  /** Counts a settlement, and records the notices of the thresholds that it reaches. */
  settle({ id, account, amount, tokens = 0n, caps = [] }: Settlement): void {
    const amounts = { money: amount, tokens, calls: 1n }
    for (const charge of caps) {
      const { thresholds = [] } = charge
      const before = thresholds.length === 0 ? amounts : { ...this.#uses.sums(charge).settled }
      this.#settled(charge, amounts)
      for (const [threshold, value] of thresholdsReached(thresholds, before, amounts))
        this.note(threshold, { id, account }, value)
    }
    if (amount > 0n && caps.length > 0) this.#charges.push([id, account, amount, ...countedPeriods(caps)])
  }

  /** Takes a refund off what is settled. */
  refund(periods: readonly CapPeriod[], money: bigint): void {
    for (const period of periods) this.#settled(period, { money: -money, tokens: 0n, calls: 0n })
  }

  note(
    { id, notice }: AlertThreshold,
    settlement: { readonly id: string; readonly account: string },
    value: bigint,
  ): void {
    this.#notices.push([id, notice, settlement.id, settlement.account, value])
  }

  write(): void {
    this.#parts.write(this.#ask)
    this.#uses.write(this.#ask)
    const changed = [...this.#soonest].filter(([, { isChanged }]) => isChanged)
    const caps = changed.map(([cap, { ends }]) => [cap, ends === Infinity ? null : ends])
    insertRows(this.#ask, 'caps', ['cap', 'soonest'], caps, ['soonest'])
    const ofCharges = ['hold', 'account', 'refundable', 'caps', 'ends']
    insertRows(this.#ask, 'cap_charges', ofCharges, this.#charges, ['hold'])
    const notices = this.#notices.toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1))
    insertRows(this.#ask, 'notices', ['id', 'notice', 'settlement', 'account', 'value'], notices, ['id'])
  }

  /** Adds a part to what is held, or takes it off. */
  #count({ cap, start, money, tokens, calls }: Part, sign: 1n | -1n, ends: number = 0): void {
    const { held } = this.#uses.changed(cap, start, ends)
    held.money += sign * money
    held.tokens += sign * tokens
    held.calls += sign * calls
  }

  #settled(period: CapPeriod, amounts: CapAmounts): void {
    const { settled } = this.#uses.changed(capOf(period), period.start, period.end + period.rollingMs)
    settled.money += amounts.money
    settled.tokens += amounts.tokens
    settled.calls += amounts.calls
  }
}
