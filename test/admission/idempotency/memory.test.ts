import { describe, expect, test } from 'vitest'
import type { IdempotencyStart } from '../../../adapters/stores/index.ts'
import { memoryIdempotencyStore } from '../../../src/index.ts'
import { testIdempotencyStore } from '../../../src/testing/index.ts'
import { heapUsed } from '../../heap.ts'

describe('the memory store conforms to the contract:', () => {
  let now = 0
  const wait = (ms: number) => void (now += ms)
  testIdempotencyStore(test, () => memoryIdempotencyStore({ clock: () => now }), { wait })
})

describe('the memory store is bounded:', () => {
  const start = (key: string): IdempotencyStart => {
    return { account: 'a', route: 'r', key, attempt: `attempt ${key}`, digest: 'd', leaseMs: 1_000 }
  }
  const answer = { status: 200, headers: {}, body: Buffer.alloc(10_000) }

  test('evicts the least recently used responses, never running records', async () => {
    const store = memoryIdempotencyStore({ bytes: 35_000 })
    await store.begin(start('running'))
    for (const key of ['1', '2', '3', '4']) {
      await store.begin(start(key))
      await store.finish({ ...start(key), keepMs: 1_000_000, answer })
      // Each later key uses the first one again.
      expect(await store.begin({ ...start('1'), attempt: 'another' })).toMatchObject({ outcome: 'ended' })
    }
    const outcomes = await Promise.all(
      ['1', '2', '3', '4', 'running'].map(async (key) => (await store.begin({ ...start(key), attempt: 'x' })).outcome),
    )
    expect(outcomes).toEqual(['ended', 'begun', 'ended', 'ended', 'running'])
  })

  test('removes the records of attempts that never end with their lease', async () => {
    let now = 0
    const store = memoryIdempotencyStore({ clock: () => now })
    const before = heapUsed()
    for (let index = 0; index < 20_000; index++) {
      now += 1
      await store.begin(start(`key ${index}`))
    }
    // At most 1,000 of the 20,000 leases are running at any time.
    expect(heapUsed() - before).toBeLessThan(2 * 1024 * 1024)
    expect(await store.begin({ ...start('key 19999'), attempt: 'x' })).toMatchObject({ outcome: 'running' })
  })
})
