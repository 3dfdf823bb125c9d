import {
  type CapAmounts,
  type CapClaim,
  type CapMeasure,
  type CapOverride,
  type CapPeriod,
  type CapState,
  type LedgerCaps,
  type AlertThreshold,
  type Notice,
  type NoticeQuestion,
  capUseMs,
  noticeMs,
} from '../caps/contract.ts'
import { pageOf, readNumberCursor, type Page } from '../../records/page.ts'
import { capFits, capLimitsWith, capMeasures, capPeriodAt, thresholdsReached } from '../caps/period.ts'
import type { Settlement } from './contract.ts'

type Amounts = Record<CapMeasure, bigint>

/** The use of a cap in one period. */
interface Use extends CapPeriod {
  readonly settled: Amounts
  readonly held: Amounts
  /** The number of open holds by account. */
  readonly holders: Map<string, number>
}

interface NumberedNotice extends Notice {
  due: number
  readonly number: number
}

/** What an open hold counts, and where. */
export interface CapDraw {
  readonly account: string
  readonly periods: readonly CapPeriod[]
  readonly amounts: CapAmounts
}

/** The caps of a memory ledger. */
export class MemoryCaps implements LedgerCaps {
  readonly #now: () => number
  readonly #returnExpired: (account: string) => void
  /** By name and window, then by start of the period. */
  readonly #uses = new Map<string, Map<number, Use>>()
  readonly #overrides = new Map<string, [always: CapOverride | undefined, until: CapOverride | undefined]>()
  readonly #notices = new Map<string, NumberedNotice>()
  #noticed = 0
  /** Settled holds: what can still be refunded, and where it counts. */
  readonly #charges = new Map<string, { readonly account: string; left: bigint; readonly caps: readonly CapPeriod[] }>()
  #sweep: Iterator<[string, Map<number, Use>]> | undefined

  /** `returnExpired` ends the expired holds of an account. */
  constructor(now: () => number, returnExpired: (account: string) => void) {
    this.#now = now
    this.#returnExpired = returnExpired
  }

  read(claims: readonly CapClaim[]): CapState[] {
    const now = this.#now()
    for (const claim of claims) this.#dropExpired(claim)
    return claims.map((claim) => this.#state(claim, capPeriodAt(claim, now)))
  }

  /** Holds `amounts` for every claim, or for none. The draw is absent if they do not fit. */
  hold(
    claims: readonly CapClaim[],
    amounts: CapAmounts,
    account: string,
  ): { readonly states: readonly CapState[]; readonly draw: CapDraw | undefined } {
    const now = this.#now()
    this.#sweepOld(now)
    const periods = claims.map((claim) => capPeriodAt(claim, now))
    const states = () => claims.map((claim, index) => this.#state(claim, periods[index] as CapPeriod))
    const fit = () => states().every((state) => capFits(state, amounts))
    if (!fit()) {
      for (const claim of claims) this.#dropExpired(claim)
      if (!fit()) return { states: states(), draw: undefined }
    }
    const draw = { account, periods, amounts }
    this.#draw(draw, 1)
    return { states: states(), draw }
  }

  /** The states of the claims of an open hold. */
  statesOf(claims: readonly CapClaim[], { periods }: CapDraw): CapState[] {
    return claims.flatMap((claim) => {
      const period = periods.find(({ name, window }) => name === claim.name && window === claim.window)
      return period === undefined ? [] : this.#state(claim, period)
    })
  }

  /** Ends what a hold holds. */
  giveBack(draw: CapDraw): void {
    this.#draw(draw, -1)
  }

  /** Counts a settlement. */
  settle(settlement: Settlement): void {
    const { id, account, amount, tokens = 0n, caps = [] } = settlement
    if (caps.length === 0) return
    const amounts = { money: amount, tokens, calls: 1n }
    for (const charge of caps) {
      const before = this.#sum(charge, 'settled')
      change(this.#use(charge).settled, amounts, 1n)
      for (const [threshold, value] of thresholdsReached(charge.thresholds ?? [], before, amounts))
        this.note(threshold, settlement, value)
    }
    this.#charges.set(id, { account, left: amount, caps })
  }

  /** Forgets a settlement, which can then not be refunded. */
  forget(settlement: string): void {
    this.#charges.delete(settlement)
  }

  /** Takes a refund of a settlement from the use of its caps. */
  refund(settlement: string, account: string, amount: bigint): void {
    const charge = this.#charges.get(settlement)
    if (charge === undefined || charge.account !== account) return
    const money = amount < charge.left ? amount : charge.left
    charge.left -= money
    for (const period of charge.caps) change(this.#use(period).settled, { money, tokens: 0n, calls: 0n }, -1n)
  }

  /** Records a notice, unless one with its id was recorded before. */
  note({ id, notice }: AlertThreshold, { id: settlement, account }: Settlement, value: bigint): void {
    if (this.#notices.has(id)) return
    const now = this.#now()
    this.#notices.set(id, {
      id,
      notice,
      settlement,
      account,
      value,
      at: now,
      attempts: 0,
      due: now,
      number: ++this.#noticed,
    })
  }

  override(override: CapOverride): void {
    const known = this.#overrides.get(override.name) ?? [undefined, undefined]
    const empty = capMeasures.every((measure) => override.limits[measure] === undefined)
    known[override.until === undefined ? 0 : 1] = empty ? undefined : override
    this.#overrides.set(override.name, known)
  }

  overrides(name: string): CapOverride[] {
    const known = this.#overrides.get(name) ?? []
    const now = this.#now()
    return known.flatMap((each) => (each === undefined || (each.until ?? Infinity) <= now ? [] : each))
  }

  claimNotices(limit: number, leaseMs: number): Notice[] {
    const now = this.#now()
    const taken: Notice[] = []
    for (const [id, known] of this.#notices) {
      if (taken.length === limit) break
      if (known.due > now) continue
      const next = { ...known, attempts: known.attempts + 1, due: now + leaseMs }
      this.#notices.set(id, next)
      taken.push(plain(next))
    }
    return taken
  }

  endNotice(id: string, retryMs: number = Infinity): void {
    const known = this.#notices.get(id)
    if (known !== undefined) known.due = this.#now() + retryMs
  }

  listNotices({ account, limit = 100, after }: NoticeQuestion): Page<Notice> {
    const before = after === undefined ? Infinity : Number(readNumberCursor(after))
    const all = [...this.#notices.values()].toReversed()
    const found = all.filter((each) => each.number < before && (account === undefined || each.account === account))
    const page = pageOf(found, limit, ({ number }) => String(number))
    return { ...page, items: page.items.map(plain) }
  }

  deleteNotices(account: string): boolean {
    for (const [id, known] of this.#notices) if (known.account === account) this.#notices.delete(id)
    return false
  }

  #draw({ account, periods, amounts }: CapDraw, sign: 1 | -1): void {
    for (const period of periods) {
      const { held, holders } = this.#use(period)
      change(held, amounts, BigInt(sign))
      const open = (holders.get(account) ?? 0) + sign
      if (open > 0) holders.set(account, open)
      else holders.delete(account)
    }
  }

  #state(claim: CapClaim, period: CapPeriod): CapState {
    const { start, end, rollingMs } = period
    let first = end
    for (const use of this.#counting(period)) if (isUsed(use)) first = Math.min(first, use.end)
    return {
      name: claim.name,
      window: claim.window,
      start,
      end,
      rollingMs,
      resetsAt: first + rollingMs,
      settled: this.#sum(period, 'settled'),
      held: this.#sum(period, 'held'),
      limits: capLimitsWith(claim.limits, this.overrides(claim.name)),
    }
  }

  #sum(period: CapPeriod, part: 'settled' | 'held'): CapAmounts {
    const sum = nothing()
    for (const use of this.#counting(period)) change(sum, use[part], 1n)
    return sum
  }

  /** The uses that count in a period. */
  #counting({ name, window, start, rollingMs }: CapPeriod): Use[] {
    const uses = this.#uses.get(keyOf(name, window))
    if (uses === undefined) return []
    return [...uses.values()].filter((use) => use.start <= start && use.start >= start - rollingMs)
  }

  #use(period: CapPeriod): Use {
    const { name, window, start, end, rollingMs } = period
    const key = keyOf(name, window)
    let uses = this.#uses.get(key)
    if (uses === undefined) this.#uses.set(key, (uses = new Map()))
    let use = uses.get(start)
    if (use === undefined) {
      use = { name, window, start, end, rollingMs, settled: nothing(), held: nothing(), holders: new Map() }
      uses.set(start, use)
    }
    return use
  }

  /** Ends the expired holds of all accounts that hold for this cap. */
  #dropExpired({ name, window }: CapClaim): void {
    const uses = this.#uses.get(keyOf(name, window))?.values() ?? []
    const accounts = new Set([...uses].flatMap(({ holders }) => [...holders.keys()]))
    for (const account of accounts) this.#returnExpired(account)
  }

  /** Looks at two caps a call, so that the number of those without use stays small without a timer. */
  #sweepOld(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = (this.#sweep ??= this.#uses.entries()).next()
      if (next.done === true) {
        this.#sweep = undefined
        for (const [id, { at }] of this.#notices) if (at + noticeMs < now) this.#notices.delete(id)
        return
      }
      const [key, uses] = next.value
      for (const { start, end, rollingMs } of uses.values()) if (end + rollingMs + capUseMs < now) uses.delete(start)
      if (uses.size === 0) this.#uses.delete(key)
    }
  }
}

function plain({ id, notice, settlement, account, value, at, attempts }: NumberedNotice): Notice {
  return { id, notice, settlement, account, value, at, attempts }
}

function keyOf(name: string, window: string): string {
  return JSON.stringify([name, window])
}

function nothing(): Amounts {
  return { money: 0n, tokens: 0n, calls: 0n }
}

function isUsed({ settled, held }: Use): boolean {
  return capMeasures.some((measure) => settled[measure] !== 0n || held[measure] !== 0n)
}

function change(amounts: Amounts, by: CapAmounts, sign: bigint): void {
  for (const measure of capMeasures) amounts[measure] += by[measure] * sign
}
