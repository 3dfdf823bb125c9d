import { describe, expect, test } from 'vitest'
import { memoryLimitStore } from '../../../src/money/limits/memory.ts'
import { testLimitStore } from '../../../src/testing/limit-store.ts'
import { heapUsed } from '../../heap.ts'

describe('the memory store conforms to the contract:', () => {
  let now = 0
  const wait = (ms: number) => void (now += ms)
  testLimitStore(test, () => memoryLimitStore({ clock: () => now }), { wait })
})

describe('the memory store with its default clock', () => {
  testLimitStore(test, () => memoryLimitStore())
})

describe('the memory store is bounded:', () => {
  test('removes buckets that are full again', async () => {
    let now = 0
    const store = memoryLimitStore({ clock: () => now })
    const take = async (bucket: string) =>
      store.take({
        id: bucket,
        rates: [{ bucket, cost: 1, limit: 1, periodMs: 1_000, burst: 1 }],
        places: [],
        leaseMs: 1,
      })
    const before = heapUsed()
    for (let index = 0; index < 200_000; index++) {
      now += 1
      await take(`bucket ${index}`)
    }
    // At most about 1,000 of the 200,000 buckets are below their limit at any time.
    expect(heapUsed() - before).toBeLessThan(1024 * 1024)
  })
})
