/** The contract of `ResponseStore` as a suite for any test runner. */
import type { TestFunction } from './runner.ts'
import assert from 'node:assert/strict'
import type { ResponseRecord, ResponseStore } from '../responses/contract.ts'

/** Registers one test for each promise. `factory` gives a store that is empty, or at least new to the accounts used. */
export function testResponseStore(test: TestFunction, factory: () => Promise<ResponseStore> | ResponseStore): void {
  const check = (name: string, run: (store: ResponseStore, mine: string, other: string) => Promise<void>) =>
    test(name, async () => {
      const store = await factory()
      const unique = crypto.randomUUID()
      try {
        await run(store, `mine ${unique}`, `other ${unique}`)
      } finally {
        await store.close?.()
      }
    })

  check('a record that was put is found by its id, as it was', async (store, account) => {
    const record = recordOf(account, 'resp_1', ['msg_1'])
    await store.put(record)
    assert.deepEqual(await store.get(account, 'resp_1'), record)
    assert.equal(await store.get(account, 'resp_2'), undefined)
  })

  check('a record is found by each of its items', async (store, account) => {
    const record = recordOf(account, 'resp_1', ['rs_1', 'msg_1'])
    await store.put(record)
    assert.deepEqual(await store.holding(account, 'rs_1'), record)
    assert.deepEqual(await store.holding(account, 'msg_1'), record)
    assert.equal(await store.holding(account, 'msg_2'), undefined)
  })

  check('another account finds and deletes nothing', async (store, mine, other) => {
    await store.put(recordOf(mine, 'resp_1', ['msg_1']))
    assert.equal(await store.get(other, 'resp_1'), undefined)
    assert.equal(await store.holding(other, 'msg_1'), undefined)
    assert.equal(await store.delete(other, 'resp_1'), false)
    assert.notEqual(await store.get(mine, 'resp_1'), undefined)
  })

  check('the same id in two accounts means two records', async (store, mine, other) => {
    await store.put(recordOf(mine, 'resp_1', ['msg_1']))
    await store.put(recordOf(other, 'resp_1', ['msg_1'], '{"of":"other"}'))
    assert.equal((await store.get(other, 'resp_1'))?.body, '{"of":"other"}')
    assert.equal(await store.delete(mine, 'resp_1'), true)
    assert.equal((await store.holding(other, 'msg_1'))?.account, other)
  })

  check('a second put replaces the record, its items included', async (store, account) => {
    await store.put(recordOf(account, 'resp_1', ['msg_1']))
    await store.put(recordOf(account, 'resp_1', ['msg_2'], '{"second":true}'))
    assert.equal((await store.get(account, 'resp_1'))?.body, '{"second":true}')
    assert.equal((await store.holding(account, 'msg_2'))?.id, 'resp_1')
    assert.equal(await store.holding(account, 'msg_1'), undefined)
  })

  check('a deleted record is gone, with its items, and is deleted once', async (store, account) => {
    await store.put(recordOf(account, 'resp_1', ['msg_1']))
    const deletions = await Promise.all([1, 2, 3].map(async () => store.delete(account, 'resp_1')))
    assert.equal(deletions.filter(Boolean).length, 1)
    assert.equal(await store.get(account, 'resp_1'), undefined)
    assert.equal(await store.holding(account, 'msg_1'), undefined)
  })

  check('any text comes back byte for byte', async (store, account) => {
    const body = JSON.stringify({ text: 'naïve 🎈 \u0000 \u2028 "quoted" \\' })
    await store.put(recordOf(account, 'resp_1', [], body))
    assert.equal((await store.get(account, 'resp_1'))?.body, body)
  })
}

function recordOf(account: string, id: string, items: string[], body = '{"output":[]}'): ResponseRecord {
  return { account, id, items, body }
}
