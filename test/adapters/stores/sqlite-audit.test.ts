/** The audit of SQLite reads in slices, between which calls are charged and old charges are compacted. */
import { expect, test } from 'vitest'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'

const count = 6_000

async function books() {
  const { ledger } = sqlite(':memory:')
  await ledger.credit({ account: 'a', amount: 10_000_000n, reference: 'top-up' })
  await ledger.credit({ account: 'b', amount: 5n, reference: 'another' })
  const charge = async (id: string) => {
    await ledger.hold({ id, account: 'a', amount: 7n, leaseMs: 60_000 })
    await ledger.settle({ id, account: 'a', amount: 3n })
  }
  for (let made = 0; made < count; made++) await charge(`call ${made}`)
  return { ledger, charge }
}

test('agrees with calls that are charged while it reads', async () => {
  const { ledger, charge } = await books()
  const over = new AbortController()
  const audited = ledger.audit()
  void Promise.resolve(audited).finally(() => over.abort())
  let turns = 0
  for (; !over.signal.aborted; turns++) {
    await charge(`later ${turns}`)
    await new Promise(setImmediate)
  }
  const { settlements, balances, ...rest } = await audited
  expect(rest).toEqual({ accounts: 2, credits: 10_000_005n, holds: 0n, faults: [] })
  expect(balances).toBe(10_000_005n - settlements)
  expect(settlements).toBeGreaterThan(BigInt(3 * count))
  expect(turns).toBeGreaterThan(3)
})

test('agrees with charges that are compacted after it has read a part of them', async () => {
  const { ledger } = await books()
  const audited = ledger.audit()
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  expect(await ledger.compact?.('a', Date.now() + 60_000, count - 1)).toBe(count - 1)
  const { settlements, faults } = await audited
  expect({ settlements, faults }).toEqual({ settlements: BigInt(3 * count), faults: [] })
})
