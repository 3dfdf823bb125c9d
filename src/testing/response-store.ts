import assert from 'node:assert/strict'
import type { ResponseRecord, ResponseStore } from '../responses/contract.ts'
import {
  fresh,
  assertStoresLarge,
  similarNames,
  oddNames,
  race,
  suiteOf,
  untilDone,
  type StoreKitOptions,
  type TestFunction,
} from './kit.ts'
import { testResponseNames } from './exact-names.ts'

/**
 * Registers one test for each requirement of the `ResponseStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts of its own.
 * @example
 * ```ts
 * testResponseStore(test, () => myStore())
 * ```
 */
export function testResponseStore(
  test: TestFunction,
  factory: () => Promise<ResponseStore> | ResponseStore,
  options: StoreKitOptions<ResponseStore> = {},
): void {
  const { it } = suiteOf('response store', test, factory, options)

  it('a record is found by its id, unchanged, through every handle', async (store, other) => {
    const record = responseRecord()
    await store.put(record)
    assert.deepEqual(await store.get(record.account, record.id), record)
    assert.deepEqual(await other.get(record.account, record.id), record)
    assert.equal(await other.get(record.account, 'resp_2'), undefined)
  })

  it('a record is found by each of its items', async (store, other) => {
    const record = responseRecord({ items: ['rs_1', 'msg_1', 'rs_1'] })
    await store.put(record)
    for (const item of record.items) assert.deepEqual(await other.holding(record.account, item), record)
    assert.equal(await other.holding(record.account, 'msg_2'), undefined)
  })

  it('another account cannot find or delete a record', async (store) => {
    const { account, id, items } = await put(store)
    const stranger = fresh('account')
    assert.equal(await store.get(stranger, id), undefined)
    assert.equal(await store.holding(stranger, items[0] as string), undefined)
    assert.equal(await store.delete(stranger, id), false)
    assert.notEqual(await store.get(account, id), undefined)
  })

  it('the same id in two accounts is two records', async (store) => {
    const mine = await put(store)
    const theirs = await put(store, { body: '{"of":"other"}' })
    assert.equal((await store.get(theirs.account, theirs.id))?.body, '{"of":"other"}')
    assert.equal(await store.delete(mine.account, mine.id), true)
    assert.equal((await store.holding(theirs.account, 'msg_1'))?.account, theirs.account)
  })

  it('a second put replaces the record and its items', async (store, other) => {
    const { account } = await put(store, { items: ['msg_1', 'msg_2'] })
    await other.put(responseRecord({ account, items: ['msg_2', 'msg_3'], body: '{"second":true}' }))
    assert.equal((await store.get(account, 'resp_1'))?.body, '{"second":true}')
    assert.equal((await store.holding(account, 'msg_2'))?.body, '{"second":true}')
    assert.equal((await store.holding(account, 'msg_3'))?.id, 'resp_1')
    assert.equal(await store.holding(account, 'msg_1'), undefined)
  })

  it('delete removes a record and its items for every handle', async (store, other) => {
    const { account, id } = await put(store)
    assert.equal(await store.delete(account, id), true)
    assert.equal(await other.get(account, id), undefined)
    assert.equal(await other.holding(account, 'msg_1'), undefined)
    assert.equal(await other.delete(account, id), false)
  })

  it('exactly one of many concurrent deletes returns true', async (store, other) => {
    for (let round = 0; round < 5; round++) {
      const { account, id } = await put(store)
      const deleted = await race(10, [store, other], async (handle) => handle.delete(account, id))
      assert.equal(deleted.filter(Boolean).length, 1)
    }
  })

  it('an item of several records is found until the last of them is deleted', async (store) => {
    const { account } = await put(store, { id: 'resp_1', items: ['msg_1', 'msg_2'] })
    await put(store, { account, id: 'resp_2', items: ['msg_2', 'msg_3'] })
    await store.delete(account, 'resp_2')
    assert.equal((await store.holding(account, 'msg_2'))?.id, 'resp_1')
    await put(store, { account, id: 'resp_3', items: ['msg_1', 'msg_2'] })
    await store.delete(account, 'resp_1')
    assert.equal((await store.holding(account, 'msg_2'))?.id, 'resp_3')
    await store.delete(account, 'resp_3')
    assert.equal(await store.holding(account, 'msg_2'), undefined)
  })

  it('deleteAll deletes every record of an account with its items, and none of others', async (store, other) => {
    if (store.deleteAll === undefined) return
    const { account } = responseRecord()
    const records = Array.from({ length: 250 }, (_, index) =>
      responseRecord({ account, id: `resp_${index}`, items: [`msg_${index}`, 'shared'] }),
    )
    const others = [...similarNames(account), `${account}:`, account.slice(0, -1)].map((name) =>
      responseRecord({ account: name }),
    )
    for (const record of [...records, ...others]) await store.put(record)
    await untilDone(() => other.deleteAll?.(account))
    for (const { id, items } of records) {
      assert.equal(await store.get(account, id), undefined)
      assert.equal(await store.holding(account, items[0] as string), undefined)
    }
    assert.equal(await store.holding(account, 'shared'), undefined)
    for (const record of others) assert.deepEqual(await store.get(record.account, record.id), record)
    await store.put(records[0] as ResponseRecord)
    assert.deepEqual(await other.holding(account, 'shared'), records[0])
    assert.equal(await store.deleteAll(fresh('account')), false)
  })

  it('replace takes only the next version, through every handle, and changes body and version', async (store, other) => {
    const record = await put(store, { version: 1 })
    const next = { ...record, version: 2, body: '{"next":true}' }
    assert.equal(await store.replace({ ...next, version: 3 }), false)
    assert.equal(await store.replace({ ...next, version: 1 }), false)
    assert.deepEqual(await other.get(record.account, record.id), record)
    assert.equal(await other.replace(next), true)
    assert.deepEqual(await store.get(record.account, record.id), next)
    assert.equal((await store.holding(record.account, 'msg_1'))?.version, 2)
    assert.equal(await store.replace(next), false)
  })

  it('replace changes nothing of a record without a version, of another account, or that was deleted', async (store) => {
    const plain = await put(store)
    assert.equal(await store.replace({ ...plain, version: 1 }), false)
    const kept = await put(store, { version: 1 })
    assert.equal(await store.replace({ ...kept, account: fresh('account'), version: 2 }), false)
    assert.deepEqual(await store.get(kept.account, kept.id), kept)
    await store.delete(kept.account, kept.id)
    assert.equal(await store.replace({ ...kept, version: 2 }), false)
    assert.equal(await store.get(kept.account, kept.id), undefined)
  })

  it('version 1 adds a record once', async (store, other) => {
    const record = responseRecord({ items: [], version: 1 })
    const added = await race(10, [store, other], (handle) => handle.replace(record))
    assert.equal(added.filter(Boolean).length, 1)
    assert.deepEqual(await other.get(record.account, record.id), record)
    await store.delete(record.account, record.id)
    assert.equal(await other.replace(record), true)
  })

  it('exactly one of many concurrent replaces of one version succeeds', async (store, other) => {
    let record = await put(store, { version: 1 })
    for (let round = 0; round < 5; round++) {
      let made = 0
      const version = (record.version as number) + 1
      const next = () => ({ ...record, version, body: `{"by":${made++}}` })
      const replaced = await race(10, [store, other], async (handle) => {
        const own = next()
        return (await handle.replace(own)) ? own : undefined
      })
      const winners = replaced.filter((each) => each !== undefined)
      assert.equal(winners.length, 1)
      record = winners[0] as ResponseRecord
      assert.deepEqual(await other.get(record.account, record.id), record)
    }
  })

  testResponseNames(it)

  it('records with different accounts or ids are separate, whatever characters these contain', async (store) => {
    const account = fresh('account')
    const keys = [
      { account, id: 'a' },
      { account, id: 'A' },
      { account, id: 'a:b' },
      { account: `${account}:a`, id: 'b' },
      { account: `${account}a`, id: ':b' },
      { account, id: '%_*[a]{b}\\"\'$1' },
      { account, id: 'x'.repeat(1_024) },
      { account, id: 'x'.repeat(1_023) },
      ...oddNames.map((name) => ({ account: `${account} ${name}`, id: 'a' })),
    ]
    const records = keys.map((key, index) => responseRecord({ ...key, items: [key.id], body: `{"number":${index}}` }))
    for (const record of records) await store.put(record)
    for (const record of records) {
      assert.deepEqual(await store.get(record.account, record.id), record)
      assert.deepEqual(await store.holding(record.account, record.id), record)
    }
  })

  it('any text is returned byte for byte, whatever its length', async (store, other) => {
    const odd = JSON.stringify({ text: 'naïve 🎈 \u0000 \u2028 \ud800 "quoted" \\' })
    const { account, id } = await put(store, { items: [], body: odd })
    assert.equal((await other.get(account, id))?.body, odd)
    const long = responseRecord({ items: [], body: JSON.stringify({ text: 'naïve 🎈 '.repeat(400_000) }) })
    await assertStoresLarge('a body of 5 MB', long, async () => {
      await store.put(long)
      return (await other.get(long.account, long.id)) as ResponseRecord
    })
  })

  it('a record may have a thousand items', async (store) => {
    const items = Array.from({ length: 1_000 }, (_, index) => `msg_${index}`)
    const record = responseRecord({ items })
    await assertStoresLarge('a thousand items', record, async () => {
      await store.put(record)
      return (await store.holding(record.account, 'msg_999')) as ResponseRecord
    })
    assert.equal(await store.delete(record.account, record.id), true)
    assert.equal(await store.holding(record.account, 'msg_0'), undefined)
  })
}

function responseRecord(change: Partial<ResponseRecord> = {}): ResponseRecord {
  return { account: fresh('account'), id: 'resp_1', items: ['msg_1'], body: '{"output":[]}', ...change }
}

async function put(store: ResponseStore, change: Partial<ResponseRecord> = {}): Promise<ResponseRecord> {
  const record = responseRecord(change)
  await store.put(record)
  return record
}
