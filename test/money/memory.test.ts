import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../src/money/ledger/memory.ts'
import { testLedger } from '../../src/testing/ledger.ts'
import { cpuMs, leastMs } from '../cpu-time.ts'

describe('the memory ledger conforms to the contract:', () => {
  let now = 1_900_000_000_000
  const wait = (ms: number) => void (now += ms)
  testLedger(test, () => memoryLedger({ clock: () => now }), { wait })
})

describe('the memory ledger is bounded:', () => {
  test('old entries are kept as sums, and the audit still balances', async () => {
    const ledger = memoryLedger({ entries: 10 })
    await ledger.credit({ account: 'a', amount: 1_000n, reference: 'start' })
    for (let index = 0; index < 100; index++) {
      await ledger.hold({ id: `h${index}`, account: 'a', amount: 10n, leaseMs: 1_000 })
      await ledger.settle({ id: `h${index}`, account: 'a', amount: 3n })
    }
    expect(await ledger.audit()).toMatchObject({ credits: 1_000n, settlements: 300n, balances: 700n, faults: [] })
    expect((await ledger.entries?.('a', {}))?.items).toHaveLength(10)
  })

  test('a full ledger adds an entry about as fast as an empty one, with thousands of open holds', async () => {
    const over = await leastMs(50, async () => {
      const ledger = memoryLedger({ entries: 20_000 })
      await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'start' })
      const call = async (id: string) => {
        await ledger.hold({ id, account: 'a', amount: 10n, leaseMs: 60_000 })
        await ledger.settle({ id, account: 'a', amount: 3n })
      }
      const fill = async (from: number) => {
        const began = cpuMs()
        for (let index = from; index < from + 20_000; index++) await call(`h${index}`)
        return cpuMs() - began
      }
      const empty = await fill(0)
      for (let index = 0; index < 5_000; index++) {
        await ledger.hold({ id: `open${index}`, account: 'a', amount: 10n, leaseMs: 60_000 })
      }
      return (await fill(20_000)) - empty * 5
    })
    expect(over).toBeLessThanOrEqual(50)
  })
})
