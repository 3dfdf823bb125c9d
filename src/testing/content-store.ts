import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { ContentRecord, ContentStore } from '../observe/content/contract.ts'
import {
  allPages,
  assertStoresLarge,
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
 * Registers one test for each requirement of the `ContentStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts of its own, and days in the years 1001
 * to 1999.
 * @example
 * ```ts
 * testContentStore(test, () => myStore())
 * ```
 */
export function testContentStore(
  test: TestFunction,
  factory: () => Promise<ContentStore> | ContentStore,
  options: StoreKitOptions<ContentStore> = {},
): void {
  const { it } = suiteOf('content store', test, factory, options)

  it('records are found unchanged, through every handle', async (store, other) => {
    const records = oddNames.map((name) => contentRecord({ account: name, user: name, session: name, key: name }))
    records.push(contentRecord({ user: '', body: Buffer.from([0, 255, 0x27, 0x5c, 0]) }))
    await store.append(records)
    for (const record of records) {
      assert.deepEqual(plain(await store.get(record.id)), plain(record))
      assert.deepEqual(plain(await other.get(record.id)), plain(record))
    }
    assert.equal(await other.get(fresh('id')), undefined)
  })

  it('a record of 1 MiB is found unchanged', async (store, other) => {
    const record = contentRecord({ body: randomBytes(1024 * 1024) })
    await assertStoresLarge(
      'a record of 1 MiB',
      plain(record),
      async () => {
        await store.append([record])
        return plain(await other.get(record.id))
      },
      3,
    )
  })

  it('a record whose id exists is ignored, and those beside it are kept', async (store, other) => {
    const [first, second] = [contentRecord(), contentRecord()]
    await store.append([first])
    await other.append([{ ...first, body: Buffer.from('another') }, second])
    assert.deepEqual(plain(await store.get(first.id)), plain(first))
    assert.deepEqual(plain(await store.get(second.id)), plain(second))
  })

  it('batches that are written at the same time are all kept', async (store, other) => {
    const account = fresh('account')
    await race(10, [store, other], (handle, batch) =>
      handle.append(Array.from({ length: 10 }, (_, at) => contentRecord({ account, at: batch * 10 + at }))),
    )
    const found = await allPages(30, (page) => other.list({ account, ...page }))
    assert.deepEqual(
      found.map(({ at }) => at),
      Array.from({ length: 100 }, (_, at) => at),
    )
  })

  it('lists an account, and one of its sessions, oldest first and page by page', async (store, other) => {
    const account = fresh('account')
    const records = Array.from({ length: 9 }, (_, index) =>
      // Several at the same time, which are ordered by their ids.
      contentRecord({
        account,
        id: `${account} ${index}`,
        at: 1_000 + Math.floor(index / 4),
        ...(index % 2 === 0 && { session: `${account} even` }),
      }),
    )
    const others = similarNames(account).map((name) => contentRecord({ account: name }))
    await store.append([...records.toReversed(), ...others])
    for (const limit of [1, 2, 4, 9, 100]) {
      const all = await allPages(limit, (page) => other.list({ account, ...page }))
      assert.deepEqual(idsOf(all), idsOf(records))
      const even = await allPages(limit, (page) => other.list({ account, session: `${account} even`, ...page }))
      assert.deepEqual(idsOf(even), idsOf(records.filter((_, index) => index % 2 === 0)))
    }
    assert.deepEqual(await other.list({ account, session: 'another' }), { items: [] })
    assert.deepEqual((await other.list({ account })).items.map(plain), records.map(plain))
  })

  it('erase removes the records of an account, or of one of its users, and no others', async (store, other) => {
    const [account, user] = [fresh('account'), fresh('user')]
    const own = Array.from({ length: 5 }, () => contentRecord({ account, user }))
    const [nobody, second] = [contentRecord({ account, user: '' }), contentRecord({ account, user: `${user}2` })]
    const strangers = similarNames(account).map((name) => contentRecord({ account: name, user }))
    await store.append([...own, nobody, second, ...strangers])
    await untilDone(() => other.erase(account, user))
    for (const { id } of own) assert.equal(await store.get(id), undefined)
    assert.equal((await store.list({ account })).items.length, 2)
    await untilDone(() => other.erase(account, ''))
    assert.deepEqual((await store.list({ account })).items.map(plain), [plain(second)])
    await untilDone(() => other.erase(account))
    assert.deepEqual(await store.list({ account }), { items: [] })
    for (const { id } of strangers) assert.notEqual(await store.get(id), undefined)
  })

  it('removeBefore removes at most so many records of earlier days, and none of later ones', async (store, other) => {
    const account = fresh('account')
    const days = ['1001-01-01', '1001-01-02', '1001-01-03', '1001-01-04']
    const records = days.flatMap((day) => [contentRecord({ account, day }), contentRecord({ account, day })])
    await store.append(records)
    assert.equal(await other.removeBefore('1001-01-03', 3), 3)
    assert.equal(await other.removeBefore('1001-01-03', 3), 1)
    assert.equal(await other.removeBefore('1001-01-03', 3), 0)
    const left = (await store.list({ account })).items.map(({ day }) => day).toSorted()
    assert.deepEqual(left, ['1001-01-03', '1001-01-03', '1001-01-04', '1001-01-04'])
    assert.equal(await other.removeBefore('1001-01-05', 100), 4)
  })
}

function contentRecord(fields: Partial<ContentRecord> = {}): ContentRecord {
  const account = fresh('account')
  return {
    id: fresh('id'),
    account,
    user: 'ada',
    day: '1999-12-31',
    key: randomUUID(),
    at: 1_900_000_000_000,
    body: Buffer.from('body'),
    ...fields,
  }
}

function idsOf(found: readonly ContentRecord[]): string[] {
  return found.map(({ id }) => id)
}

/** Stores may return any kind of bytes. */
function plain(record: ContentRecord | undefined) {
  return record && { ...record, body: Buffer.from(record.body).toString('hex') }
}
