/** Histories of credits that expire, against a count of each millionth. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, type Ledger } from '../../../src/index.ts'
import type { Credit, CreditVerdict, HoldVerdict } from '../../../src/money/ledger/contract.ts'
import { allow, creditUntil, expire, type AskLedger } from '../../../src/money/lots/credits.ts'
import { lotsOf, type Lot } from '../../../src/money/lots/lots.ts'
import { periodStart } from '../../../src/records/calendar.ts'
import type { LotState } from '../../../src/money/lots/contract.ts'
import { long } from '../../long.ts'
import { methodsOf } from '../../testing/faults.ts'
import { seeded } from '../../../src/testing/random.ts'

const account = 'acme'
const dayMs = 86_400_000

interface CountedLot {
  readonly reference: string
  readonly expiresAt: number
  left: bigint
}

type Event =
  | { readonly charge: bigint; readonly settled: bigint }
  | { readonly pay: bigint }
  | { readonly grant: CountedLot }
  | { readonly take: string; readonly amount: bigint }

/**
 * What the account has, counted from the beginning each time: each charge takes from the lot that expires first. A grant takes
 * effect when the lots were read for it, and so before charges that come in between.
 */
class Count {
  rest = 0n
  lots: CountedLot[] = []
  readonly holds = new Map<string, bigint>()
  readonly #events: Event[] = []
  #settled = 0n

  get #held(): bigint {
    return [...this.holds.values()].reduce((sum, amount) => sum + amount, 0n)
  }

  get balance(): bigint {
    return this.lots.reduce((sum, { left }) => sum + left, this.rest) - this.#held
  }

  charge(id: string, charge: bigint): void {
    this.holds.delete(id)
    this.#settled += charge
    this.#add({ charge, settled: this.#settled })
  }

  pay(pay: bigint): void {
    this.#add({ pay })
  }

  grant(grant: CountedLot, settled: bigint): void {
    const later = this.#events.findIndex((event) => 'charge' in event && event.settled > settled)
    this.#add({ grant }, later < 0 ? this.#events.length : later)
  }

  /** What is left of a lot as far as no open hold has it: holds have first what expires first. */
  takable(reference: string): bigint {
    const own = this.#lot(reference)
    const { left } = own
    const before = this.lots.slice(0, this.lots.indexOf(own))
    const open = before.reduce((sum, lot) => sum + lot.left, left - this.#held)
    const most = [left, open, this.balance].reduce((least, each) => (each < least ? each : least))
    return most > 0n ? most : 0n
  }

  take(reference: string, amount: bigint): void {
    this.#add({ take: reference, amount })
  }

  #lot(reference: string): CountedLot {
    return this.lots.find((lot) => lot.reference === reference) as CountedLot
  }

  #add(event: Event, at: number = this.#events.length): void {
    this.#events.splice(at, 0, event)
    this.rest = 0n
    this.lots = []
    for (const each of this.#events) this.#apply(each)
  }

  #apply(event: Event): void {
    if ('pay' in event) this.rest += event.pay
    else if ('take' in event) this.#lot(event.take).left -= event.amount
    else if ('grant' in event) {
      this.lots.push({ ...event.grant })
      this.lots.sort((left, right) => left.expiresAt - right.expiresAt)
    } else {
      let { charge } = event
      for (const lot of this.lots) {
        const used = lot.left < charge ? lot.left : charge
        lot.left -= used
        charge -= used
      }
      this.rest -= charge
    }
  }
}

/** A ledger with its count. Calls take a random time, and some of them crash before or after they take effect. */
function world(seed: number, crashes: number) {
  const random = seeded(seed)
  const below = (most: number) => Math.floor(random() * most)
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') }
  const ledger = memoryLedger({ clock: () => clock.now, entries: 1e6 })
  const count = new Count()
  const counted: Ledger = Object.assign(methodsOf(ledger), {
    credit(credit: Credit) {
      const { reference, allotment, spentTo, amount } = credit
      const [, expired = ''] = /^expiry:(.*):\d+$/.exec(reference) ?? []
      const takable = spentTo === undefined ? 0n : count.takable(expired)
      const verdict = ledger.credit(credit) as CreditVerdict
      if (verdict.outcome !== 'credited') return verdict
      if (spentTo !== undefined) {
        expect(verdict.amount).toBe(-takable)
        count.take(expired, takable)
      } else if (allotment === undefined) count.pay(amount)
      else {
        const { settled } = JSON.parse(allotment.lots) as { settled: string }
        const { lots } = lotsOf({ lots: allotment.lots, settled: BigInt(settled) })
        const { expiresAt } = lots.find((lot) => lot.reference === reference) as Lot
        count.grant({ reference, left: amount, expiresAt }, BigInt(settled))
      }
      return verdict
    },
  })
  const ask = (async (question) => {
    for (let turns = below(4); turns > 0; turns--) await Promise.resolve()
    const fate = random()
    if (fate < crashes / 2) throw new Error('crashed before')
    const answer = await question(counted as never)
    if (fate < crashes) throw new Error('crashed after')
    return answer
  }) as AskLedger
  /** Does it until it does not crash. */
  const surely = async <T>(act: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (!/crashed/.test((error as Error).message)) throw error
      }
    }
  }
  return { below, clock, ledger: counted, count, ask, surely }
}

/** One history. Returns what it did. */
async function history(seed: number, crashes: number): Promise<Record<string, number>> {
  const { below, clock, ledger, count, ask, surely } = world(seed, crashes)
  const did: Record<string, number> = {}
  let number = 0
  const fresh = (name: string) => `${name}-${++number}`
  const amount = () => BigInt(1 + below(1_000))
  const acts: Record<string, () => Promise<void> | void> = {
    async pay() {
      const credit = { account, amount: amount(), reference: fresh('payment') }
      await surely(() => ask((ledger) => ledger.credit(credit)))
    },
    async grant() {
      const credit = { account, amount: amount(), reference: fresh('grant') }
      const expiresAt = clock.now + 1 + below(5 * dayMs)
      await surely(() => creditUntil(ask, credit, expiresAt))
    },
    async allow() {
      const period = below(2) === 0 ? 'day' : 'week'
      const allowance = {
        reference: `plan-${below(3)}`,
        amount: BigInt(below(4) * 100),
        period,
        timeZone: 'UTC',
      } as const
      await surely(() => allow(ask, account, allowance, clock.now))
    },
    async expire() {
      await surely(() => expire(ask, account, clock.now))
    },
    hold() {
      const [id, wanted] = [fresh('hold'), amount()]
      const { outcome } = ledger.hold({ id, account, amount: wanted, leaseMs: 1e12 }) as HoldVerdict
      // What can be spent is what the count says.
      expect(outcome).toBe(count.balance >= wanted ? 'held' : 'insufficient')
      if (outcome === 'held') count.holds.set(id, wanted)
    },
    settle() {
      const [id, held] = [...count.holds][below(count.holds.size)] ?? []
      if (id === undefined || held === undefined) return
      const charge = BigInt(below(Number(held) + 1))
      void ledger.settle({ id, account, amount: charge })
      count.charge(id, charge)
    },
  }
  await acts['pay']?.()
  const names = [...Object.keys(acts), 'hold', 'hold', 'settle', 'settle', 'settle', 'expire']
  for (let step = 0; step < 60; step++) {
    const together = Array.from({ length: 1 + below(3) }, () => names[below(names.length)] as string)
    for (const name of together) did[name] = (did[name] ?? 0) + 1
    await Promise.all(together.map(async (name) => acts[name]?.()))
    clock.now += below(dayMs)
    const state = await ledger.lots?.read(account)
    expect(state?.balance).toBe(count.balance)
    const left = ({ lots }: { lots: readonly CountedLot[] }) =>
      lots.flatMap((lot) => (lot.left > 0n ? [[lot.reference, lot.left]] : []))
    expect(left(lotsOf(state as LotState))).toEqual(left(count))
  }
  for (const id of count.holds.keys()) void ledger.settle({ id, account, amount: 0n })
  count.holds.clear()
  clock.now += 40 * dayMs
  const { lots } = await surely(() => expire(ask, account, clock.now))
  // All have expired but the last credit of an allowance.
  expect(lots.filter((lot) => lot.allowance === undefined)).toEqual([])
  expect(lots.length).toBeLessThan(2)
  for (const lot of lots) {
    expect(lot.left).toBe(lot.allowance?.amount)
    expect(lot.reference.split(':').slice(3).join(':')).toBe(
      new Date(periodStart(lot.allowance?.period ?? 'month', clock.now)).toISOString(),
    )
  }
  expect((await ledger.audit()).faults).toEqual([])
  return did
}

describe('credits that expire', () => {
  test.each([
    ['without crashes', 0],
    ['with crashes', 0.06],
  ])('agree with a simple count in each history, %s', async (_, crashes) => {
    const histories = long ? 20_000 : 150
    for (let seed = 1; seed <= histories; seed++) {
      await history(seed, crashes).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error })
      })
    }
  })
})
