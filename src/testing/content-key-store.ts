import assert from 'node:assert/strict'
import type { ContentKey, ContentKeyStore } from '../observe/content/contract.ts'
import {
  fresh,
  oddNames,
  race,
  similarNames,
  suiteOf,
  untilDone,
  type StoreKitOptions,
  type TestFunction,
} from './kit.ts'

/**
 * Registers one test for each requirement of the `ContentKeyStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts of its own, and days in the years 1001
 * to 1999.
 * @example
 * ```ts
 * testContentKeyStore(test, () => myStore())
 * ```
 */
export function testContentKeyStore(
  test: TestFunction,
  factory: () => Promise<ContentKeyStore> | ContentKeyStore,
  options: StoreKitOptions<ContentKeyStore> = {},
): void {
  const { it } = suiteOf('content key store', test, factory, options)

  it('keys are found unchanged, through every handle', async (store, other) => {
    const keys = [...oddNames.map((name) => contentKey({ account: name, user: name })), contentKey({ user: '' })]
    assert.deepEqual(await store.claim(keys), keys)
    const ids = keys.map(({ id }) => id)
    for (const handle of [store, other])
      assert.deepEqual(sorted(await handle.find([...ids, fresh('id')])), sorted(keys))
    assert.deepEqual(await other.find([]), [])
  })

  it('the first key with an id stays, and is returned to whoever claims it again', async (store, other) => {
    const [first, second] = [contentKey(), contentKey()]
    await store.claim([first])
    assert.deepEqual(await other.claim([second, { ...first, sealed: 'another' }]), [second, first])
    assert.deepEqual(await store.find([first.id]), [first])
  })

  it('of concurrent claims of an id, all get the same key', async (store, other) => {
    const keys = Array.from({ length: 5 }, () => contentKey())
    const got = await race(10, [store, other], (handle, index) =>
      handle.claim(keys.map((key) => ({ ...key, sealed: `sealed ${index}` }))),
    )
    for (const claimed of got) assert.deepEqual(claimed, got[0])
    assert.deepEqual(sorted(await other.find(keys.map(({ id }) => id))), sorted(got[0] ?? []))
  })

  it('reseal replaces a key that is still the one before, and makes none', async (store, other) => {
    const key = contentKey()
    await store.claim([key])
    assert.equal(await other.reseal({ ...key, sealed: 'second' }, key.sealed), true)
    assert.equal(await store.reseal({ ...key, sealed: 'third' }, key.sealed), false)
    assert.deepEqual(await store.find([key.id]), [{ ...key, sealed: 'second' }])
    const gone = contentKey()
    assert.equal(await store.reseal(gone, gone.sealed), false)
    assert.deepEqual(await store.find([gone.id]), [])
  })

  it('pages lead through all keys, once each', async (store, other) => {
    const keys = Array.from({ length: 7 }, () => contentKey())
    await store.claim(keys)
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await other.page(after, 3)
      assert.ok(page.length <= 3, 'a page is longer than its limit')
      seen.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id
    } while (after !== undefined)
    assert.equal(new Set(seen).size, seen.length)
    for (const { id } of keys) assert.ok(seen.includes(id))
  })

  it('erase destroys the keys of an account, or of one of its users, and no others', async (store, other) => {
    const [account, user] = [fresh('account'), fresh('user')]
    const own = ['1999-12-30', '1999-12-31'].map((day) => contentKey({ account, user, day }))
    const [nobody, second] = [contentKey({ account, user: '' }), contentKey({ account, user: `${user}2` })]
    const strangers = similarNames(account).map((name) => contentKey({ account: name, user }))
    await store.claim([...own, nobody, second, ...strangers])
    await untilDone(() => other.erase(account, user))
    assert.deepEqual(await store.find(own.map(({ id }) => id)), [])
    assert.deepEqual(sorted(await store.find([nobody.id, second.id])), sorted([nobody, second]))
    await untilDone(() => other.erase(account))
    assert.deepEqual(await store.find([nobody.id, second.id]), [])
    assert.deepEqual(sorted(await store.find(strangers.map(({ id }) => id))), sorted(strangers))
  })

  it('a key that was destroyed can be made anew', async (store, other) => {
    const key = contentKey()
    await store.claim([key])
    await untilDone(() => store.erase(key.account))
    const again = { ...key, sealed: 'new' }
    assert.deepEqual(await other.claim([again]), [again])
  })

  it('removeBefore destroys at most so many keys of earlier days, and none of later ones', async (store, other) => {
    const keys = ['1001-01-01', '1001-01-02', '1001-01-03'].flatMap((day) => [contentKey({ day }), contentKey({ day })])
    await store.claim(keys)
    assert.equal(await other.removeBefore('1001-01-03', 3), 3)
    assert.equal(await other.removeBefore('1001-01-03', 3), 1)
    assert.equal(await other.removeBefore('1001-01-03', 3), 0)
    assert.deepEqual(sorted(await store.find(keys.map(({ id }) => id))), sorted(keys.slice(4)))
    assert.equal(await other.removeBefore('1001-01-04', 100), 2)
  })
}

function contentKey(fields: Partial<ContentKey> = {}): ContentKey {
  return {
    id: fresh('id'),
    account: fresh('account'),
    user: 'ada',
    day: '1999-12-31',
    sealed: fresh('sealed'),
    ...fields,
  }
}

function sorted(keys: readonly ContentKey[]): ContentKey[] {
  return keys.toSorted((left, right) => (left.id < right.id ? -1 : 1))
}
