import { describe, expect, test } from 'vitest'
import { memoryResponseStore } from '../../src/responses/memory.ts'
import { testResponseStore } from '../../src/testing/response-store.ts'

describe('the memory store conforms to the contract:', () => {
  testResponseStore(test, () => memoryResponseStore())
})

const record = (id: string, bytes = 10) => ({ account: 'a', id, items: [`msg_${id}`], body: 'x'.repeat(bytes) })

describe('the memory store is bounded:', () => {
  test('evicts the least recently used records, with their items', async () => {
    const store = memoryResponseStore({ count: 2 })
    await store.put(record('1'))
    await store.put(record('2'))
    await store.get('a', '1')
    await store.put(record('3'))
    expect(await store.get('a', '2')).toBeUndefined()
    expect(await store.holding('a', 'msg_2')).toBeUndefined()
    expect(await store.get('a', '1')).toBeDefined()
    expect(await store.holding('a', 'msg_3')).toBeDefined()
  })

  test('limits bytes as well as the number of records', async () => {
    const store = memoryResponseStore({ bytes: 10_000 })
    for (const id of ['1', '2', '3', '4', '5']) await store.put(record(id, 1_000))
    const records = await Promise.all(['1', '2', '3', '4', '5'].map(async (id) => store.get('a', id)))
    expect(records.map((each) => each?.id)).toEqual([undefined, undefined, '3', '4', '5'])
  })

  test('does not store a record larger than its capacity, nor its items', async () => {
    const store = memoryResponseStore({ bytes: 10_000 })
    await store.put(record('large', 10_000))
    expect(await store.get('a', 'large')).toBeUndefined()
    expect(await store.holding('a', 'msg_large')).toBeUndefined()
  })

  test('removes a record after ageMs', async () => {
    let now = 1_000
    const store = memoryResponseStore({ ageMs: 60_000, clock: () => now })
    await store.put(record('1'))
    now += 59_999
    expect(await store.get('a', '1')).toBeDefined()
    now += 1
    expect(await store.get('a', '1')).toBeUndefined()
    expect(await store.holding('a', 'msg_1')).toBeUndefined()
    expect(await store.delete('a', '1')).toBe(false)
  })
})
