/** The tests of the key store contract for `search`. */
import assert from 'node:assert/strict'
import type { KeyQuestion, KeyRecord, KeyStore } from '../callers/contract.ts'
import { allPages, fresh, similarNames, oddNames, type Suite } from './kit.ts'

const now = 1_900_000_000_000

type Make = (changes: Partial<KeyRecord>) => KeyRecord

export function testKeySearch(it: Suite<KeyStore>['it'], make: Make): void {
  it('search selects keys of all accounts by each of their properties', async (store, other) => {
    if (store.insert === undefined || other.search === undefined) return
    const mark = fresh('mark')
    const [first, second] = [fresh('account'), fresh('account')]
    const records = [
      make({ account: first, group: mark, name: `Laptop of ${mark}`, createdAt: 5 }),
      make({ account: first, group: mark, user: 'ada', tags: ['a'], expiresAt: now + 1, createdAt: 4 }),
      make({
        account: second,
        group: mark,
        note: `of ${mark}`,
        user: 'bob',
        tags: ['a', 'b'],
        expiresAt: now,
        createdAt: 3,
      }),
      make({ account: second, group: mark, revokedAt: now - 5, expiresAt: now - 1, createdAt: 2 }),
      make({ account: second, group: fresh('group'), user: `at ${mark}`, createdAt: 1 }),
    ]
    for (const record of records) await store.insert(record)
    const ids = async (question: Omit<KeyQuestion, 'now'>) => {
      const page = await other.search?.({ ...question, now })
      return page?.items.map(({ id }) => records.findIndex((record) => record.id === id))
    }
    assert.deepEqual((await other.search({ group: mark, now, limit: 1 })).items, [records[0]])
    assert.deepEqual(await ids({ group: mark }), [0, 1, 2, 3])
    assert.deepEqual(await ids({ account: second }), [2, 3, 4])
    assert.deepEqual(await ids({ group: mark, user: 'ada' }), [1])
    assert.deepEqual(await ids({ group: mark, tag: 'a' }), [1, 2])
    assert.deepEqual(await ids({ group: mark, tag: 'b' }), [2])
    assert.deepEqual(await ids({ group: mark, state: 'active' }), [0, 1])
    assert.deepEqual(await ids({ group: mark, state: 'expired' }), [2])
    assert.deepEqual(await ids({ group: mark, state: 'revoked' }), [3])
    assert.deepEqual(await ids({ text: mark.toUpperCase() }), [0, 2, 4])
    assert.deepEqual(await ids({ text: `lAPTOP OF ${mark}` }), [0])
    assert.deepEqual(await ids({ text: (records[3] as KeyRecord).id }), [3])
    assert.deepEqual(await ids({ text: first }), [0, 1])
    assert.deepEqual(await ids({ text: fresh('none') }), [])
    assert.deepEqual(await ids({ account: second, group: mark, tag: 'a', state: 'expired' }), [2])
    for (const name of similarNames('a')) assert.deepEqual(await ids({ group: mark, tag: name }), [], name)
  })

  it('search takes texts literally, whatever characters they contain', async (store) => {
    if (store.insert === undefined || store.search === undefined) return
    const account = fresh('account')
    const names = [...oddNames, '100% of_it', '\\', '%']
    for (const name of names) await store.insert(make({ account, name, user: name, tags: [name] }))
    for (const name of names) {
      for (const question of [{ user: name }, { tag: name }]) {
        const { items } = await store.search({ account, ...question, now })
        assert.deepEqual(
          items.map((item) => item.name),
          [name],
        )
      }
      const { items } = await store.search({ account, text: name, now })
      const containing = names.filter((each) => lower(each).includes(lower(name)))
      assert.deepEqual(new Set(items.map((item) => item.name)), new Set(containing), name)
    }
  })

  it('pages of search neither repeat nor omit a key while others are added', async (store, other) => {
    if (store.insert === undefined || store.search === undefined) return
    const group = fresh('group')
    const records = Array.from({ length: 23 }, (_, index) => make({ group, createdAt: 1_000 + (index >> 3) }))
    for (const record of records) await store.insert(record)
    const add = () => other.insert?.(make({ group, createdAt: 2_000 }))
    const seen = await allPages(4, (page) => store.search?.({ group, now, ...page }), add)
    const expected = records.toSorted(
      (left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1),
    )
    assert.deepEqual(seen, expected)
  })

  it('search observes every insert and update, also of another process', async (store, other) => {
    if (store.insert === undefined || store.update === undefined || other.search === undefined) return
    const group = fresh('group')
    const first = make({ group, user: 'ada' })
    await store.insert(first)
    assert.deepEqual((await other.search({ group, user: 'ada', now })).items, [first])
    const second = { ...first, user: 'bob', version: 2 }
    await store.update(second)
    assert.deepEqual((await other.search({ group, user: 'ada', now })).items, [])
    assert.deepEqual((await other.search({ group, user: 'bob', now })).items, [second])
  })
}

function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
