/**
 * What the contract of a ledger with caps says, as plainly as possible: nothing is summed in advance, every question is
 * answered from the list of what has happened. `explore.ts` checks it with all orders of calls and crashes, and the
 * simulation compares each verdict of real stores with it.
 */
import type {
  CapAmounts,
  CapClaim,
  CapLimits,
  CapMeasure,
  CapOverride,
  CapPeriod,
} from '../../src/money/caps/contract.ts'
import type { Credit, Hold, HoldVerdict, Settlement, SettleVerdict } from '../../src/money/ledger/contract.ts'

export interface OpenHold {
  readonly account: string
  readonly amounts: CapAmounts
  readonly periods: readonly CapPeriod[]
  until: number
}

interface Ended {
  readonly account: string
  readonly kind: 'settle' | 'release'
  readonly amount: bigint
  readonly overage: bigint
  readonly tokens: bigint
  readonly periods: readonly CapPeriod[]
  refunded: bigint
}

export const measures: readonly CapMeasure[] = ['money', 'tokens', 'calls']

export class LedgerModel {
  readonly unlimited = new Set<string>()
  readonly accounts = new Set<string>()
  readonly holds = new Map<string, OpenHold>()
  readonly ended = new Map<string, Ended>()
  readonly credits = new Map<string, Pick<Credit, 'account' | 'amount'>>()
  readonly #overrides: CapOverride[] = []

  hold({ id, account, amount, leaseMs, caps = [], tokens = 0n }: Hold, now: number): HoldVerdict['outcome'] {
    this.expire(now)
    if (this.ended.has(id)) return 'ended'
    if (this.holds.has(id)) return 'held'
    const isFree = amount === 0n && caps.length > 0
    const pays = this.unlimited.has(account) || (this.accounts.has(account) && this.balance(account) >= amount)
    if (!isFree && !pays) return 'insufficient'
    const amounts = { money: amount, tokens, calls: 1n }
    if (!caps.every((claim) => this.#fits(claim, amounts, now))) return 'capped'
    this.accounts.add(account)
    this.holds.set(id, { account, amounts, periods: caps.map((claim) => periodAt(claim, now)), until: now + leaseMs })
    return 'held'
  }

  settle({ id, account, amount, tokens = 0n, caps = [] }: Settlement, now: number): SettleVerdict {
    this.expire(now)
    const before = this.ended.get(id)
    if (before !== undefined) {
      const outcome = before.kind === 'settle' ? 'already' : 'released'
      return { outcome, charged: before.amount, overage: before.overage }
    }
    const held = this.holds.get(id)?.amounts.money ?? 0n
    const overage = amount > held ? amount - held : 0n
    this.#end(id, { account, kind: 'settle', amount, overage, tokens, periods: caps, refunded: 0n })
    return { outcome: 'settled', charged: amount, overage }
  }

  release({ id, account }: Pick<Hold, 'id' | 'account'>, now: number): void {
    this.expire(now)
    if (this.ended.has(id)) return
    this.#end(id, { account, kind: 'release', amount: 0n, overage: 0n, tokens: 0n, periods: [], refunded: 0n })
  }

  renew(holds: readonly Pick<Hold, 'id'>[], leaseMs: number, now: number): void {
    this.expire(now)
    for (const { id } of holds) {
      const open = this.holds.get(id)
      if (open !== undefined) open.until = now + leaseMs
    }
  }

  credit({ account, amount, reference, refunds }: Credit): 'credited' | 'already' | 'conflict' {
    const before = this.credits.get(reference)
    if (before !== undefined) return before.account === account && before.amount === amount ? 'already' : 'conflict'
    this.accounts.add(account)
    this.credits.set(reference, { account, amount })
    const charge = refunds === undefined ? undefined : this.ended.get(refunds)
    if (charge?.account === account && amount > 0n) {
      const left = charge.amount - charge.refunded
      charge.refunded += amount < left ? amount : left
    }
    return 'credited'
  }

  override(override: CapOverride): void {
    this.#overrides.push(override)
  }

  /** Returns what expired holds hold. */
  expire(now: number): void {
    for (const [id, { until }] of this.holds) if (until <= now) this.holds.delete(id)
  }

  balance(account: string): bigint {
    return this.credited(account) - this.settled(account) - this.held(account)
  }

  credited(account: string): bigint {
    return sum(this.credits.values(), (each) => (each.account === account ? each.amount : 0n))
  }

  settled(account: string): bigint {
    return sum(this.ended.values(), (each) => (each.account === account ? each.amount : 0n))
  }

  held(account: string): bigint {
    return sum(this.holds.values(), (each) => (each.account === account ? each.amounts.money : 0n))
  }

  /** What counts for a cap now, or in the period of another time. */
  used(claim: CapClaim, now: number, time: number = now): { readonly settled: CapAmounts; readonly held: CapAmounts } {
    this.expire(now)
    const current = periodAt(claim, time)
    const settled = [...this.ended.values()].filter((each) => each.periods.some((period) => counts(period, current)))
    const held = [...this.holds.values()].filter((each) => each.periods.some((period) => counts(period, current)))
    return {
      settled: {
        money: sum(settled, (each) => each.amount - each.refunded),
        tokens: sum(settled, (each) => each.tokens),
        calls: BigInt(settled.length),
      },
      held: {
        money: sum(held, (each) => each.amounts.money),
        tokens: sum(held, (each) => each.amounts.tokens),
        calls: sum(held, (each) => each.amounts.calls),
      },
    }
  }

  /** The limits of a claim, with the overrides of its name: the lasting one, then the one with an end. */
  limitsOf({ name, limits }: CapClaim, now: number): CapLimits {
    const own = this.#overrides.filter((each) => each.name === name)
    const lasting = own.findLast(({ until }) => until === undefined)
    const passing = own.findLast(({ until }) => until !== undefined)
    const inForce = { ...limits, ...lasting?.limits, ...((passing?.until ?? 0) > now && passing?.limits) }
    return Object.fromEntries(Object.entries(inForce).filter(([, limit]) => limit !== null))
  }

  #fits(claim: CapClaim, more: CapAmounts, now: number): boolean {
    const { settled, held } = this.used(claim, now)
    const limits = this.limitsOf(claim, now)
    return measures.every(
      (measure) => settled[measure] + held[measure] + more[measure] <= (limits[measure] ?? 2n ** 99n),
    )
  }

  #end(id: string, ended: Ended): void {
    this.accounts.add(ended.account)
    this.holds.delete(id)
    this.ended.set(id, ended)
  }
}

export function periodAt({ name, window, periods }: CapClaim, now: number): CapPeriod {
  if ('grainMs' in periods) {
    const start = now - (now % periods.grainMs)
    return { name, window, start, end: start + periods.grainMs, rollingMs: periods.rollingMs }
  }
  const end = periods.boundaries.find((boundary) => boundary > now) as number
  const start = periods.boundaries[periods.boundaries.indexOf(end) - 1] as number
  return { name, window, start, end, rollingMs: 0 }
}

function counts({ name, window, start }: CapPeriod, current: CapPeriod): boolean {
  const isSame = name === current.name && window === current.window
  return isSame && start <= current.start && start >= current.start - current.rollingMs
}

function sum<T>(items: Iterable<T>, of: (item: T) => bigint): bigint {
  let total = 0n
  for (const item of items) total += of(item)
  return total
}
