import { describe, expect, test } from 'vitest'
import { testUsageStore } from '../../../src/testing/usage-store.ts'
import { memoryUsageStore } from '../../../src/observe/usage/memory.ts'
import { usageRecord } from './record.ts'
import { cpuMs, leastMs } from '../../cpu-time.ts'

describe('the memory store conforms to the contract:', () => {
  testUsageStore(test, () => memoryUsageStore())
})

describe('the memory store is bounded:', () => {
  test('the oldest records are evicted', async () => {
    const store = memoryUsageStore({ count: 3 })
    for (let index = 0; index < 5; index++) await store.append([usageRecord({ id: `r${index}`, startedAt: index })])
    expect((await store.list({})).items.map(({ id }) => id)).toEqual(['r4', 'r3', 'r2'])
  })

  test('a full store appends records about as fast as an empty one', async () => {
    const over = await leastMs(50, async () => {
      const store = memoryUsageStore({ count: 20_000 })
      const fill = async (from: number) => {
        const began = cpuMs()
        for (let index = from; index < from + 20_000; index++)
          await store.append([usageRecord({ id: `r${index}`, startedAt: index })])
        return cpuMs() - began
      }
      const [empty, full] = [await fill(0), await fill(20_000)]
      return full - empty * 5
    })
    expect(over).toBeLessThanOrEqual(50)
  })
})
