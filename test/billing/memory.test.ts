import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../src/billing/memory.ts'
import { testLedger } from '../../src/testing/ledger.ts'

describe('the embedded ledger keeps its contract:', () => {
  let now = 1_900_000_000_000
  const wait = (ms: number) => void (now += ms)
  testLedger(test, () => memoryLedger({ now: () => now }), { wait })
})

describe('the embedded ledger is bounded:', () => {
  test('old lines are kept as sums, and everything still adds up', async () => {
    const ledger = memoryLedger({ entries: 10 })
    await ledger.credit({ account: 'a', amount: 1_000n, reference: 'start' })
    for (let index = 0; index < 100; index++) {
      await ledger.hold({ id: `h${index}`, account: 'a', amount: 10n, leaseMs: 1_000 })
      await ledger.settle({ id: `h${index}`, account: 'a', amount: 3n })
    }
    expect(await ledger.audit()).toMatchObject({ credits: 1_000n, settlements: 300n, balances: 700n, faults: [] })
    expect((await ledger.entries?.('a', {}))?.items).toHaveLength(10)
  })
})
