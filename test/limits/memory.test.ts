import { describe, expect, test } from 'vitest'
import { memoryLimitStore } from '../../src/limits/memory.ts'
import { testLimitStore } from '../../src/testing/limit-store.ts'
import { heapUsed } from '../heap.ts'

describe('the embedded store keeps its contract:', () => {
  let now = 0
  const wait = (ms: number) => void (now += ms)
  testLimitStore(test, () => memoryLimitStore({ clock: () => now }), { wait })
})

describe('the embedded store by its own clock', () => {
  testLimitStore(test, () => memoryLimitStore())
})

describe('the embedded store is bounded:', () => {
  test('buckets that are full again are forgotten', async () => {
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
    // Of 200,000 buckets about 1,000 hold anything at any time.
    expect(heapUsed() - before).toBeLessThan(1024 * 1024)
  })
})
