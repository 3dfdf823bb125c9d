import assert from 'node:assert/strict'
import type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from '../models/vendor-keys/contract.ts'
import { fresh, oddNames, race, similarNames, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'

/**
 * Registers one test for each requirement of the `VendorKeyStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts of its own.
 * @example
 * ```ts
 * testVendorKeyStore(test, () => myStore())
 * ```
 */
export function testVendorKeyStore(
  test: TestFunction,
  factory: () => Promise<VendorKeyStore> | VendorKeyStore,
  options: StoreKitOptions<VendorKeyStore> = {},
): void {
  const { it } = suiteOf('vendor key store', test, factory, options)

  it('a key is found unchanged, through every handle', async (store, other) => {
    const account = fresh('account')
    const records = [
      recordOf({ account, provider: 'anthropic' }),
      recordOf({ account, provider: 'openai', by: 'operator', hint: '' }),
      recordOf({ account, provider: 'x'.repeat(128), sealed: 's'.repeat(8_000) }),
    ]
    for (const record of records) await store.put(record)
    assert.deepEqual(sorted(await store.list(account)), records)
    assert.deepEqual(sorted(await other.list(account)), records)
    assert.deepEqual(await other.list(fresh('account')), [])
  })

  it('a second put replaces the key, and nothing of the first is left', async (store, other) => {
    const first = recordOf({ by: 'operator' })
    await store.put(first)
    const { account } = first
    const second = recordOf({ account, sealed: 'second', hint: '2222', createdAt: 1_900_000_000_001 })
    await other.put(second)
    assert.deepEqual(await store.list(account), [second])
  })

  it('delete removes one key, deleteAll those of the account, and none of others', async (store, other) => {
    const account = fresh('account')
    const [mine, second, third] = ['anthropic', 'gemini', 'openai'].map((provider) => recordOf({ account, provider }))
    const others = [...similarNames(account), `${account}:`, account.slice(0, -1), `${account}a`].map((name) =>
      recordOf({ account: name }),
    )
    for (const record of [mine, second, third, ...others]) await store.put(record as VendorKeyRecord)
    await other.delete({ account, provider: 'anthropic' })
    await other.delete({ account, provider: 'unknown' })
    assert.deepEqual(sorted(await store.list(account)), [second, third])
    await store.deleteAll(account)
    await store.deleteAll(account)
    assert.deepEqual(await other.list(account), [])
    for (const record of others) assert.deepEqual(await other.list(record.account), [record])
  })

  it('accounts and providers are separate, whatever characters they contain', async (store) => {
    const account = fresh('account')
    const names: VendorKeyName[] = [
      { account, provider: 'a:b' },
      { account: `${account}:a`, provider: 'b' },
      { account: `${account}a`, provider: ':b' },
      { account, provider: 'A:b' },
      ...oddNames.flatMap((name) => [
        { account: `${account} ${name}`, provider: 'openai' },
        { account, provider: name },
      ]),
    ]
    const records = names.map((name, index) => recordOf({ ...name, sealed: `sealed ${index}` }))
    for (const record of records) await store.put(record)
    for (const { account: of } of records) {
      const own = records.filter((record) => record.account === of)
      assert.deepEqual(sorted(await store.list(of)), sorted(own))
    }
  })

  it('reseal replaces the sealed text that it names, and nothing else', async (store, other) => {
    const record = recordOf({ by: 'operator' })
    await store.put(record)
    const { account, sealed: before } = record
    assert.equal(await other.reseal({ ...record, sealed: 'anew' }, 'another text'), false)
    assert.deepEqual(await store.list(account), [record])
    assert.equal(await other.reseal({ ...record, sealed: 'anew' }, before), true)
    assert.deepEqual(await store.list(account), [{ ...record, sealed: 'anew' }])
    assert.equal(await store.reseal({ ...record, sealed: 'again' }, before), false)
    await store.delete(record)
    assert.equal(await store.reseal({ ...record, sealed: 'back' }, 'anew'), false)
    assert.deepEqual(await other.list(account), [])
  })

  it('exactly one of many concurrent reseals of a text succeeds', async (store, other) => {
    const record = recordOf()
    await store.put(record)
    const done = await race(10, [store, other], (handle, index) =>
      handle.reseal({ ...record, sealed: `anew ${index}` }, record.sealed),
    )
    assert.equal(done.filter(Boolean).length, 1)
    assert.equal((await store.list(record.account))[0]?.sealed, `anew ${done.indexOf(true)}`)
  })

  it('pages have every key once', async (store, other) => {
    const accounts = Array.from({ length: 4 }, () => fresh('account'))
    const records = accounts.flatMap((account) => ['a', 'b', 'c'].map((provider) => recordOf({ account, provider })))
    for (const record of records) await store.put(record)
    const found: VendorKeyRecord[] = []
    for (let last: VendorKeyRecord | undefined; ;) {
      const page = await other.page(last, 5)
      assert.ok(page.length <= 5)
      found.push(...page)
      last = page.at(-1)
      if (last === undefined) break
    }
    const own = found.filter(({ account }) => accounts.includes(account))
    assert.deepEqual(sorted(own), sorted(records))
    assert.equal(new Set(found.map(nameOf)).size, found.length)
  })

  it('the revision is a new one for every handle after each change', async (store, other) => {
    const seen = new Set([await other.revision()])
    const record = recordOf()
    const changes = [
      () => store.put(record),
      () => store.put(record),
      () => other.delete(record),
      () => store.put(record),
      () => store.deleteAll(record.account),
    ]
    for (const change of changes) {
      await change()
      const revision = await other.revision()
      assert.ok(!seen.has(revision), `the revision ${revision} was there before`)
      seen.add(revision)
    }
  })

  it('whoever sees a revision sees the change that made it', async (store, other) => {
    const account = fresh('account')
    const count = 40
    const state = { isWriting: true }
    const writing = (async () => {
      for (let index = 0; index < count; index++) await store.put(recordOf({ account, createdAt: index }))
      state.isWriting = false
    })()
    // What was read between two equal revisions must stay what it is while the revision does.
    const read = new Map<string, number | undefined>()
    while (state.isWriting) {
      await new Promise(setImmediate)
      const revision = await other.revision()
      const at = (await other.list(account))[0]?.createdAt
      if ((await other.revision()) !== revision) continue
      if (read.has(revision)) assert.equal(at, read.get(revision), `of revision ${revision}`)
      read.set(revision, at)
    }
    await writing
    assert.equal((await other.list(account))[0]?.createdAt, count - 1)
  })
}

function recordOf(changes: Partial<VendorKeyRecord> = {}): VendorKeyRecord {
  return {
    account: fresh('account'),
    provider: 'openai',
    sealed: '1.a.b',
    hint: '1234',
    createdAt: 1_900_000_000_000,
    ...changes,
  }
}

const nameOf = ({ account, provider }: VendorKeyName) => `${account}\n${provider}`

function sorted(records: readonly VendorKeyRecord[]): VendorKeyRecord[] {
  return [...records].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
}
