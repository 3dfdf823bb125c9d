/** A call costs as much while 5,000 others of its account are open as alone. */
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Ledger, LimitStore } from '../../../adapters/stores/index.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { memoryLedger, memoryLimitStore } from '../../../src/index.ts'

const [leaseMs, open, calls, rounds] = [600_000, 5_000, 200, 60]

interface Stores {
  readonly limits: LimitStore
  readonly ledger: Ledger
}

const kinds: readonly (readonly [string, () => Stores])[] = [
  ['memory', () => ({ limits: memoryLimitStore(), ledger: memoryLedger() })],
  [
    'SQLite',
    () => {
      const database = new DatabaseSync(':memory:')
      onTestFinished(() => database.close())
      return sqlite(database)
    },
  ],
]

/** Takes the limits and the hold of a call. Returns what ends it. */
function begin({ limits, ledger }: Stores, account: string): () => void {
  const id = randomUUID()
  const rates = [{ bucket: `${account} rate`, cost: 1, limit: 1e9, periodMs: 1_000, burst: 1e9 }]
  const places = [{ bucket: `${account} places`, places: 100_000 }]
  const cap = { name: `${account} cap`, window: 'w', periods: { boundaries: [0, 8e15] }, limits: { calls: 100_000n } }
  expect(limits.take({ id, rates, places, leaseMs })).toMatchObject({ admitted: true })
  const verdict = ledger.hold({ id, account, amount: 10n, leaseMs, caps: [cap] })
  expect(verdict).toMatchObject({ outcome: 'held' })
  const { caps = [] } = verdict as Exclude<typeof verdict, Promise<unknown>>
  return () => {
    void limits.give({ id, places: places.map(({ bucket }) => bucket), corrections: rates })
    void ledger.settle({ id, account, amount: 7n, caps })
  }
}

/** Milliseconds of some calls, one after the other. By the clock: they are too few for that of the CPU. */
function costOf(stores: Stores, account: string): number {
  const before = performance.now()
  for (let call = 0; call < calls; call++) begin(stores, account)()
  return performance.now() - before
}

test.each(kinds)('%s', (_, make) => {
  const stores = make()
  const [alone, among] = ['alone', 'among others']
  for (const account of [alone, among]) void stores.ledger.credit({ account, amount: 10n ** 12n, reference: account })
  for (let call = 0; call < open; call++) begin(stores, among)
  const least = { alone: Infinity, among: Infinity }
  for (let round = 0; round < rounds; round++) {
    least.alone = Math.min(least.alone, costOf(stores, alone))
    least.among = Math.min(least.among, costOf(stores, among))
  }
  // A walk over the open calls would multiply the cost.
  expect(least.among / least.alone).toBeLessThan(1.6)
})
