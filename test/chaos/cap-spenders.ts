/** Spenders of a worker process that share caps, and check each verdict that they get. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CapClaim, CapMeasure } from '../../src/money/caps/contract.ts'
import type { Ledger } from '../../src/money/ledger/contract.ts'

/** A cap in a message between processes: its limit in digits. */
export interface SharedCap {
  readonly name: string
  readonly measure: CapMeasure
  readonly limit: string
}

export interface CapWork {
  readonly accounts: readonly string[]
  readonly caps: readonly SharedCap[]
  readonly leaseMs: number
}

export interface CapSpent {
  readonly held: number
  readonly capped: number
  /** Sums of the settlements, in digits. */
  readonly money: string
  readonly tokens: string
  readonly calls: string
}

export function claimsOf(caps: readonly SharedCap[]): CapClaim[] {
  return caps.map(({ name, measure, limit }) => ({
    name,
    window: 'always',
    periods: { boundaries: [0, 8e15] },
    limits: { [measure]: BigInt(limit) },
  }))
}

/** Each of `spenders` makes `times` calls. */
export async function spendCapped(
  ledger: Ledger,
  { accounts, caps, leaseMs }: CapWork,
  own: string,
  spenders: number,
  times: number,
): Promise<CapSpent> {
  const claims = claimsOf(caps)
  const spent = { held: 0, capped: 0, money: 0n, tokens: 0n, calls: 0n }
  const call = async (index: number, turn: number) => {
    const [account = ''] = accounts.slice((index + turn) % accounts.length)
    const [amount, tokens] = [BigInt(5 + ((index + turn) % 7)), BigInt(3 + ((index * 3 + turn) % 5))]
    const hold = { id: `${own} ${index} ${turn}`, account, amount, tokens, leaseMs, caps: claims }
    const { outcome, caps: states = [] } = await patiently(async () => ledger.hold(hold))
    for (const { name, settled, held, limits } of states) {
      for (const [measure, limit] of Object.entries(limits) as [CapMeasure, bigint][]) {
        const used = settled[measure] + held[measure]
        if (used > limit) throw new Error(`${name}: ${used} of ${limit} ${measure}`)
      }
    }
    if (outcome === 'capped') return void spent.capped++
    if (outcome !== 'held') throw new Error(outcome)
    spent.held++
    if ((index + turn) % 5 === 0) return patiently(async () => ledger.release(hold))
    const cost = { amount: amount - BigInt(index % 5), tokens: tokens - BigInt(turn % 3) }
    await patiently(async () => ledger.settle({ id: hold.id, account, ...cost, caps: states }))
    spent.money += cost.amount
    spent.tokens += cost.tokens
    spent.calls++
  }
  const each = async (index: number) => {
    for (let turn = 0; turn < times; turn++) await call(index, turn)
  }
  await Promise.all(Array.from({ length: spenders }, async (_, index) => each(index)))
  const { money, tokens, calls } = spent
  return { ...spent, money: String(money), tokens: String(tokens), calls: String(calls) }
}

/** Repeats a call whose result is unknown, which every store must allow. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (tries === 20) throw error
      await pause(20)
    }
  }
}
