import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { KeyRecord, KeyStore } from '../callers/contract.ts'
import { fresh, oddNames, race, suiteOf, withinOneSecond, type StoreKitOptions, type TestFunction } from './kit.ts'
import { testKeySearch } from './key-search.ts'
import { testKeyNames } from './exact-names.ts'

function record(changes: Partial<KeyRecord> = {}): KeyRecord {
  const id = fresh('key')
  return {
    id,
    hash: hash('sha256', id, 'hex'),
    prefix: 'sk-abc',
    account: 'account',
    group: 'default',
    createdAt: 1_900_000_000_000,
    version: 1,
    ...changes,
  }
}

function next(before: KeyRecord, changes: Partial<KeyRecord>): KeyRecord {
  return { ...before, ...changes, version: before.version + 1 }
}

/** A store with the optional methods that this suite needs. */
type FullStore = KeyStore & Required<Pick<KeyStore, 'insert'>>

/**
 * Registers one test for each requirement of the `KeyStore` contract. The store must implement `insert`; the tests of
 * other optional methods are skipped if it does not have them.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses keys of its own.
 * @example
 * ```ts
 * testKeyStore(test, () => myStore())
 * ```
 */
export function testKeyStore(
  test: TestFunction,
  factory: () => Promise<KeyStore> | KeyStore,
  options: StoreKitOptions<KeyStore> = {},
): void {
  const { it: plain } = suiteOf('key store', test, factory, options)
  const it = (name: string, body: (store: FullStore, other: FullStore) => Promise<void>) =>
    plain(name, async (store, other) => {
      assert.ok('insert' in store && 'insert' in other, 'testKeyStore needs a store with the method "insert"')
      await body(store as FullStore, other as FullStore)
    })

  it('finds a key by its hash, with all fields as inserted', async (store, other) => {
    const full = record({
      name: 'For tests',
      expiresAt: 2_000_000_000_000,
      caps: [{ name: 'monthly', period: 'month', money: '12.5', tokens: null, thresholds: [50] }],
      rate: { requests: '60/min', tokens: { limit: 5, periodMs: 1_000, burst: 2 }, concurrent: 3 },
      revokedAt: 1_950_000_000_000,
      user: 'ada',
      tags: ['a', 'b'],
      models: ['gpt-*'],
      addresses: ['10.0.0.0/8'],
      continues: 'key_1',
    })
    assert.equal(await store.insert(full), true)
    assert.deepEqual(await other.find(full.hash), full)
    const bare = record()
    await store.insert(bare)
    assert.deepEqual(await store.find(bare.hash), bare)
  })

  it('finds nothing for an unknown hash or a part of a hash', async (store) => {
    const { hash, ...rest } = record()
    await store.insert({ hash, ...rest })
    assert.equal(await store.find(record().hash), undefined)
    assert.equal(await store.find(hash.slice(0, 63)), undefined)
    assert.equal(await store.find(''), undefined)
    for (const odd of oddNames) assert.equal(await store.find(odd), undefined)
  })

  it('rejects a second insert of the same id or the same hash', async (store, other) => {
    const first = record({ name: 'first' })
    const results = await race(10, [store, other], async (each) => each.insert(first))
    assert.equal(results.filter(Boolean).length, 1)
    assert.equal(await store.insert(record({ id: first.id, name: 'second' })), false)
    const same = record({ hash: first.hash, name: 'third' })
    assert.equal(await other.insert(same), false)
    assert.deepEqual(await store.find(first.hash), first)
  })

  testKeyNames(plain, record)

  it('update accepts only the next version', async (store, other) => {
    if (store.update === undefined) return
    const first = record({ name: 'first', expiresAt: 5 })
    await store.insert(first)
    const { expiresAt: _, ...kept } = first
    const second = next(kept, { name: 'second', group: 'vip' })
    assert.equal(await store.update(second), true)
    assert.deepEqual(await other.find(first.hash), second)
    for (const version of [1, 2, 4]) assert.equal(await store.update({ ...second, name: 'stale', version }), false)
    assert.deepEqual(await other.find(first.hash), second)
    assert.equal(await store.update(next(record(), {})), false)
  })

  it('exactly one of many concurrent updates of one version succeeds', async (store, other) => {
    const first = record()
    await store.insert(first)
    const results = await race(20, [store, other], async (each, index) => {
      return each.update === undefined ? index === 0 : each.update(next(first, { name: `writer ${index}` }))
    })
    assert.equal(results.filter(Boolean).length, 1)
    if (store.update === undefined) return
    assert.equal((await store.find(first.hash))?.name, `writer ${results.indexOf(true)}`)
  })

  it('lists only the keys of an account, newest first', async (store, other) => {
    if (other.list === undefined) return
    const account = fresh('account')
    const records = [2, 3, 1].map((age) => record({ account, createdAt: 1_900_000_000_000 + age }))
    for (const each of [...records, record({ account: fresh('account') })]) await store.insert(each)
    const listed = await other.list(account)
    assert.deepEqual(listed, [records[1], records[0], records[2]])
    assert.deepEqual(await other.list(fresh('account')), [])
  })

  testKeySearch(plain, record)

  it('keeps names unchanged, whatever characters they contain', async (store) => {
    for (const odd of oddNames) {
      const each = record({ name: odd, account: `${odd} ${fresh('x')}`, group: odd, prefix: odd })
      await store.insert(each)
      assert.deepEqual(await store.find(each.hash), each)
      if (store.list !== undefined) assert.deepEqual(await store.list(each.account), [each])
    }
  })

  it('is not affected by later changes to records passed in or returned', async (store) => {
    const mine = record({ name: 'mine', rate: { concurrent: 1 } })
    const { hash } = mine
    const before = structuredClone(mine)
    await store.insert(mine)
    Object.assign(mine, { name: 'changed', rate: { concurrent: 9 } })
    const listed = (await store.list?.(before.account))?.find(({ id }) => id === before.id)
    Object.assign(listed ?? {}, { name: 'changed' })
    assert.deepEqual(await store.find(hash), before)
  })

  it('watch reports every change, also by another process, within a second', async (store, other) => {
    if (store.watch === undefined) return
    const seen = new Set<string>()
    const unwatch = store.watch((hash) => seen.add(hash))
    const reported = async (hash: string) => {
      const told = await withinOneSecond(
        () => seen.has(hash),
        async () => store.find(hash),
      )
      assert.ok(told, 'watch did not report the change within one second')
      seen.delete(hash)
    }
    try {
      const first = record()
      await other.insert(first)
      await reported(first.hash)
      await other.update?.(next(first, { revokedAt: 1_950_000_000_000 }))
      if (other.update !== undefined) await reported(first.hash)
    } finally {
      unwatch()
    }
    const unseen = record()
    await store.insert(unseen)
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.ok(!seen.has(unseen.hash), 'watch reports a change after it was stopped')
  })
}
