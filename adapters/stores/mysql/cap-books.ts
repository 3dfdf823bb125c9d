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
} from '../index.ts'
import type { Ask } from './transaction.ts'
import { insertRows, lockRows, marks, timeOf } from './locks.ts'
import { capOf, CapUses } from './cap-uses.ts'
import { overrideOf } from '../sql/overrides.ts'

/** What a hold counts in a period of a cap. */
interface Part {
  readonly cap: string
  readonly start: number
  readonly money: bigint
  readonly tokens: bigint
}

/** The claims of a batch and the ids of its holds, and the periods in which its settlements and refunds count. */
export interface CapQuestion {
  readonly claims: readonly CapClaim[]
  readonly holds: readonly string[]
  readonly periods: readonly CapPeriod[]
}

export class CapBooks {
  readonly #ask: Ask
  readonly #soonest = new Map<string, { ends: number; isChanged: boolean }>()
  readonly #uses = new CapUses()
  readonly #overrides = new Map<string, CapOverride[]>()
  readonly #parts = new Map<string, Part[]>()
  readonly #made = new Map<string, readonly Part[]>()
  readonly #gone = new Set<string>()
  readonly #charges: (readonly unknown[])[] = []
  readonly #notices: (readonly unknown[])[] = []
  #now = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** Locks the caps, after the accounts. Returns the time. */
  async lock({ claims, holds, periods }: CapQuestion): Promise<number> {
    const [now, parts] = await Promise.all([this.#lock([...claims, ...periods].map(capOf)), this.#partsOf(holds)])
    const more = parts.map(([, { cap }]) => cap).filter((cap) => !this.#soonest.has(cap))
    const later = more.length === 0 ? 0 : await this.#lock(more)
    // Again, because another transaction may have taken them off those caps before this one locked them.
    for (const [hold, part] of more.length === 0 ? parts : await this.#partsOf(holds))
      this.#parts.set(hold, [...(this.#parts.get(hold) ?? []), part])
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

  /** What holds count in their caps. */
  async #partsOf(holds: readonly string[]): Promise<readonly (readonly [hold: string, part: Part])[]> {
    if (holds.length === 0) return []
    const text = `SELECT hold, cap, start, money, tokens FROM @.cap_holds WHERE hold IN (${marks(holds)})`
    return (await this.#ask(text, holds)).rows.map((row) => [row['hold'] as string, partOf(row)])
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
    for (const part of [...this.#parts.values()].flat()) need(part.cap, part.start)
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
    for (const row of rows) {
      const [hold, cap] = [row['hold'] as string, row['cap'] as string]
      this.#ask.later('DELETE FROM @.cap_holds WHERE hold = ? AND cap = ?', [hold, cap])
      const left = this.#parts.get(hold)?.filter((part) => part.cap !== cap)
      if (left !== undefined) this.#parts.set(hold, left)
    }
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

  /** Holds for all caps, or for none. */
  hold({ id, amount, tokens = 0n, leaseMs, caps = [] }: Hold): { fits: boolean; states: readonly CapState[] } {
    const states = () => caps.map((claim) => this.state(claim))
    if (!states().every((state) => capFits(state, { money: amount, tokens, calls: 1n })))
      return { fits: false, states: states() }
    const parts = caps.map((claim) => {
      const period = capPeriodAt(claim, this.#now)
      const part = { cap: capOf(claim), start: period.start, money: amount, tokens }
      this.#count(part, 1n, period.end + period.rollingMs)
      const ends = Math.min(this.#soonest.get(part.cap)?.ends ?? Infinity, this.#now + leaseMs)
      this.#soonest.set(part.cap, { ends, isChanged: true })
      return part
    })
    this.#made.set(id, parts)
    return { fits: true, states: states() }
  }

  /** The states of the caps of an open hold, in the periods in which it was made. */
  statesOf(hold: string, claims: readonly CapClaim[]): CapState[] {
    const parts = this.#parts.get(hold) ?? []
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
    for (const part of this.#parts.get(hold) ?? []) this.#count(part, -1n)
    if (this.#parts.delete(hold)) this.#gone.add(hold)
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
    if (this.#gone.size > 0)
      this.#ask.later(`DELETE FROM @.cap_holds WHERE hold IN (${marks([...this.#gone])})`, [...this.#gone])
    this.#uses.write(this.#ask)
    const parts = [...this.#made].flatMap(([hold, made]) =>
      made.map(({ cap, start, money, tokens }) => [hold, cap, start, money, tokens]),
    )
    insertRows(this.#ask, 'cap_holds', ['hold', 'cap', 'start', 'money', 'tokens'], parts)
    const changed = [...this.#soonest].filter(([, { isChanged }]) => isChanged)
    const caps = changed.map(([cap, { ends }]) => [cap, ends === Infinity ? null : ends])
    insertRows(this.#ask, 'caps', ['cap', 'soonest'], caps, ['soonest'])
    const ofCharges = ['hold', 'account', 'refundable', 'caps', 'ends']
    insertRows(this.#ask, 'cap_charges', ofCharges, this.#charges, ['hold'])
    const notices = this.#notices.toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1))
    insertRows(this.#ask, 'notices', ['id', 'notice', 'settlement', 'account', 'value'], notices, ['id'])
  }

  /** Adds a part to what is held, or takes it off. */
  #count({ cap, start, money, tokens }: Part, sign: 1n | -1n, ends: number = 0): void {
    const { held } = this.#uses.changed(cap, start, ends)
    held.money += sign * money
    held.tokens += sign * tokens
    held.calls += sign
  }

  #settled(period: CapPeriod, amounts: CapAmounts): void {
    const { settled } = this.#uses.changed(capOf(period), period.start, period.end + period.rollingMs)
    settled.money += amounts.money
    settled.tokens += amounts.tokens
    settled.calls += amounts.calls
  }
}

function partOf(row: Readonly<Record<string, unknown>>): Part {
  const [money, tokens] = [BigInt(row['money'] as string), BigInt(row['tokens'] as string)]
  return { cap: row['cap'] as string, start: Number(row['start']), money, tokens }
}
