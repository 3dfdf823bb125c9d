/** The tests of the usage store contract for lines of charges, retention and anonymised records. */
import assert from 'node:assert/strict'
import type { UsageRecord, UsageStore } from '../observe/usage/contract.ts'
import { fresh, type Suite } from './kit.ts'
import { record, start } from './usage-sums.ts'

const line = (item: string, quantity: number, price = '3', per = 1_000_000) => ({ item, quantity, per, price })

export function testRetention(it: Suite<UsageStore>['it']): void {
  it('keeps the lines of a charge, and sums equal ones by account and model', async (store, other) => {
    if (other.sumLines === undefined) return
    const [account, second] = [fresh('account'), fresh('account')]
    const large = 2 ** 51
    const first = record({ account, model: 'b', lines: [line('input', 10), line('output', large, '15.25')] })
    await store.append([
      first,
      record({ account, model: 'b', lines: [line('input', 5), line('output', large, '15.25')] }),
      record({ account, model: 'b', lines: [line('input', 5, '4')], startedAt: start + 10 }),
      record({ account, model: 'a', lines: [line('image', 2, '0.04', 1), line('input', 1, '3', 1)] }),
      record({ account, model: 'a' }),
      record({ account: second, model: 'a', lines: [line('input', 7)] }),
    ])
    assert.deepEqual((await other.find?.(first.id)) ?? first, first)
    const of = (owner: string, model: string, each: ReturnType<typeof line>) => ({ account: owner, model, ...each })
    const early = [
      of(account, 'a', line('image', 2, '0.04', 1)),
      of(account, 'a', line('input', 1, '3', 1)),
      of(account, 'b', line('input', 15)),
    ]
    const output = of(account, 'b', line('output', large * 2, '15.25'))
    assert.deepEqual(await other.sumLines({ account }), [...early, of(account, 'b', line('input', 5, '4')), output])
    assert.deepEqual(await other.sumLines({ account, from: start, to: start + 10 }), [...early, output])
    assert.deepEqual(await other.sumLines({ account, from: start + 11 }), [])
    const all = (await other.sumLines({ from: start, to: start + 11 })).filter((row) => row.account === second)
    assert.deepEqual(all, [of(second, 'a', line('input', 7))])
  })

  it('removes old records, the oldest first, and no others', async (store, other) => {
    if (store.removeBefore === undefined) return
    const account = fresh('account')
    // Earlier than the records of all other tests.
    const early = Date.UTC(2001, 0, 1)
    const records = Array.from({ length: 12 }, (_, index) => record({ account, startedAt: early + index * 1_000 }))
    await store.append(records)
    assert.equal(await store.removeBefore(early, 100), 0)
    assert.equal(await store.removeBefore(early + 8_000, 5), 5)
    const idsOf = async () => (await other.list({ account })).items.map(({ id }) => id)
    const ids = records.map(({ id }) => id).toReversed()
    assert.deepEqual(await idsOf(), ids.slice(0, 7))
    assert.equal(await other.removeBefore?.(early + 8_000, 5), 3)
    assert.equal(await store.removeBefore(early + 8_000, 5), 0)
    assert.deepEqual(await idsOf(), ids.slice(0, 4))
    if (store.find !== undefined) assert.equal(await store.find(ids.at(-1) ?? ''), undefined)
    const [kept] = await other.summarise({ account, from: early + 8_000, by: [] })
    assert.equal(kept?.requests, 4)
    assert.deepEqual(await store.summarise({ account, from: early, to: early + 4_000, by: [], session: 'none' }), [])
    await store.removeBefore(early + 12_000, 100)
  })

  it('anonymises the records of an account, and their sums', async (store, other) => {
    if (store.anonymise === undefined) return
    const [account, neighbour, as] = [fresh('account'), fresh('account'), fresh('nobody')]
    const personal = { key: 'k', user: 'ada', session: fresh('session'), agent: 'explorer', tags: ['t'] }
    const records = Array.from({ length: 20 }, (_, index) =>
      record({ account, model: `m${index % 3}`, startedAt: start + index, ...(index % 4 > 0 && personal) }),
    )
    const others = [record({ account: neighbour, ...personal })]
    await store.append([...records, ...others])
    await store.admitUsers?.([{ account, user: 'ada' }], 1)
    while (await store.anonymise({ account, as }));
    assert.deepEqual((await other.list({ account })).items, [])
    assert.deepEqual((await other.list({ account: neighbour })).items, others)
    assert.deepEqual((await other.list({ session: personal.session })).items, others)
    const expected = records.map((each) => ({ ...withoutPerson(each), account: as }))
    assert.deepEqual((await other.list({ account: as })).items, expected.toReversed())
    assert.deepEqual(await other.summarise({ account, by: [] }), [])
    const rows = await other.summarise({ account: as, by: ['user', 'key', 'tag'] })
    assert.deepEqual(
      rows.map((row) => [row.user, row.key, row.tag, row.requests]),
      [['', '', '', 20]],
    )
    // The account is unknown again: its records and users are new ones.
    const again = record({ account, ...personal })
    await store.append([again])
    assert.deepEqual((await other.list({ account })).items, [again])
    if (store.admitUsers !== undefined) {
      assert.deepEqual(await store.admitUsers([{ account, user: 'bob' }], 1), [true])
    }
    assert.equal((await other.list({ account: as })).items.length, 20)
  })

  it('anonymises one user of an account', async (store, other) => {
    if (store.anonymise === undefined) return
    const account = fresh('account')
    const records = ['ada', 'bob', undefined].map((user): UsageRecord =>
      record({ account, key: 'k', session: fresh('session'), ...(user !== undefined && { user }) }),
    )
    await store.append(records)
    await store.admitUsers?.(
      ['ada', 'bob'].map((user) => ({ account, user })),
      2,
    )
    while (await store.anonymise({ account, user: 'ada', as: account }));
    const [ada, ...others] = records as [UsageRecord, ...UsageRecord[]]
    assert.deepEqual([...(await other.list({ account })).items].sort(byId), [withoutPerson(ada), ...others].sort(byId))
    assert.equal((await other.summarise({ account, by: [] }))[0]?.requests, 3)
    if (store.admitUsers !== undefined) {
      const users = ['bob', 'carol', 'dave'].map((user) => ({ account, user }))
      assert.deepEqual(await store.admitUsers(users, 2), [true, true, false])
    }
  })
}

function withoutPerson(given: UsageRecord): UsageRecord {
  const personal = new Set(['key', 'user', 'session', 'agent', 'tags'])
  return Object.fromEntries(Object.entries(given).filter(([name]) => !personal.has(name))) as unknown as UsageRecord
}

function byId(left: UsageRecord, right: UsageRecord): number {
  return left.id < right.id ? -1 : 1
}
