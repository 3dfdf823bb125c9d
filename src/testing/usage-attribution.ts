/** The tests of the usage store contract for users, sessions, tags and outcomes. */
import assert from 'node:assert/strict'
import type { NamedUser, UsageDimension, UsageFilter, UsageRecord, UsageStore } from '../observe/usage/contract.ts'
import { allPages, fresh, similarNames, oddNames, race, type Suite } from './kit.ts'
import { record, start } from './usage-sums.ts'

const day = 86_400_000

export function testAttribution(it: Suite<UsageStore>['it']): void {
  it('lists and finds users, sessions, agents, tags and attempts as they were appended', async (store, other) => {
    const account = fresh('account')
    const attributed = record({
      account,
      user: 'ada@example.com',
      session: fresh('session'),
      agent: 'explorer',
      tags: ['team:search', 'beta'],
      attempts: 3,
    })
    const names = oddNames.map((odd) =>
      record({ account, user: odd, session: odd, agent: odd, tags: [odd], id: `${odd} ${account}` }),
    )
    await store.append([attributed, ...names])
    assert.deepEqual((await other.list({ account, user: 'ada@example.com' })).items, [attributed])
    for (const each of [attributed, ...names]) {
      if (other.find !== undefined) assert.deepEqual(await other.find(each.id), each)
    }
  })

  it('lists only records of a user, session, tag, outcome or error code', async (store, other) => {
    const { account, records } = await various(store)
    const filters: readonly UsageFilter[] = [
      { user: 'ada' },
      { user: 'bob' },
      { session: `s1 ${account}` },
      { session: `s1 ${account}`, user: 'ada' },
      { tag: 'a' },
      { tag: 'b' },
      { tag: 'a', user: 'ada', model: 'm1' },
      { outcome: 'completed' },
      { outcome: 'failed' },
      { outcome: 'cancelled' },
      { code: 'rate_limit_exceeded' },
      { code: 'rate_limit_exceeded', outcome: 'failed', user: 'bob' },
      { outcome: 'failed', from: start + 2, to: start + day },
      { user: 'ada', key: 'k1' },
    ]
    for (const filter of filters) {
      const expected = records.filter((each) => matches(each, filter))
      const { items } = await other.list({ account, ...filter })
      assert.deepEqual(items.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort(), JSON.stringify(filter))
      const [sum] = await store.summarise({ account, ...filter, by: [] })
      assert.deepEqual(
        [sum?.requests ?? 0, sum?.cost ?? 0n],
        [expected.length, costOf(expected)],
        JSON.stringify(filter),
      )
    }
    for (const name of similarNames('ada')) {
      assert.deepEqual((await store.list({ account, user: name })).items, [], name)
      assert.deepEqual((await store.list({ account, tag: name })).items, [], name)
      assert.deepEqual((await store.list({ account, session: name })).items, [], name)
    }
  })

  it('pages of a user with many models neither repeat nor omit a record', async (store) => {
    const account = fresh('account')
    const records = Array.from({ length: 30 }, (_, index) =>
      record({
        account,
        user: index % 5 === 0 ? 'other' : 'ada',
        model: `m${index % 7}`,
        startedAt: start + (index >> 2),
        outcome: index % 2 === 0 ? 'failed' : 'completed',
      }),
    )
    await store.append(records)
    for (const filter of [{ user: 'ada' }, { user: 'ada', outcome: 'failed' as const }]) {
      assert.deepEqual(await listed(store, { account, ...filter, limit: 3 }), expected(records, filter))
    }
  })

  it('lists an account with many users completely and in order, whatever else is recorded', async (store) => {
    const [busy, quiet] = [fresh('account'), fresh('account')]
    const records = Array.from({ length: 500 }, (_, index) =>
      record({
        account: index % 5 === 0 ? quiet : busy,
        user: `user ${index % 300}`,
        startedAt: start + (index >> 1),
        ...(index % 3 === 0 && { outcome: 'failed', code: index % 2 === 0 ? 'server_error' : 'request_timeout' }),
      }),
    )
    for (let from = 0; from < records.length; from += 100) await store.append(records.slice(from, from + 100))
    const filters: readonly UsageFilter[] = [
      { account: busy },
      { account: quiet },
      { account: busy, outcome: 'failed' },
      { account: busy, outcome: 'completed' },
      { account: busy, code: 'request_timeout' },
      { account: busy, outcome: 'completed', from: start + 100, to: start + 150 },
      { account: quiet, outcome: 'failed', code: 'server_error' },
    ]
    for (const filter of filters) {
      assert.deepEqual(await listed(store, { ...filter, limit: 60 }), expected(records, filter))
    }
  })

  it('sums by user, tag and session; a request counts for each of its tags, and for none without one', async (store, other) => {
    const { account, records } = await various(store)
    const dimensions: readonly (readonly Exclude<UsageDimension, 'period'>[])[] = [
      ['user'],
      ['tag'],
      ['session'],
      ['user', 'model'],
      ['day', 'user'],
      ['user', 'tag'],
      ['session', 'day'],
    ]
    for (const by of dimensions) {
      const rows = await other.summarise({ account, by })
      assert.deepEqual(
        rows.map((row) => [...by.map((each) => row[each]), row.requests, row.cost]),
        expectedRows(records, by),
        by.join(', '),
      )
    }
    const [all] = await store.summarise({ account, by: [] })
    assert.deepEqual([all?.requests, all?.cost], [records.length, costOf(records)])
  })

  it('admits users up to the maximum of their account, and those always', async (store, other) => {
    if (store.admitUsers === undefined) return
    const [account, second] = [fresh('account'), fresh('account')]
    assert.deepEqual(await store.admitUsers(named(account, 'a', 'b', 'c'), 2), [true, true, false])
    assert.deepEqual(await other.admitUsers?.(named(account, 'c', 'b', 'a', 'A', 'd'), 2), [
      false,
      true,
      true,
      false,
      false,
    ])
    assert.deepEqual(await other.admitUsers?.(named(second, 'c'), 2), [true])
    assert.deepEqual(await store.admitUsers(named(account, 'c', 'd'), 3), [true, false])
    assert.deepEqual(await store.admitUsers([], 3), [])
    assert.deepEqual(await store.admitUsers(named(fresh('account'), 'a'), 0), [false])
  })

  it('admits no user beyond the maximum, even if many are named concurrently', async (store, other) => {
    if (store.admitUsers === undefined) return
    const account = fresh('account')
    const admitted = await race(40, [store, other], async (each, index) =>
      each.admitUsers?.([{ account, user: `user ${index}` }], 7),
    )
    assert.equal(admitted.flat().filter((each) => each === true).length, 7)
  })
}

function named(account: string, ...users: readonly string[]): NamedUser[] {
  return users.map((user) => ({ account, user }))
}

async function various(store: UsageStore): Promise<{ account: string; records: UsageRecord[] }> {
  const account = fresh('account')
  const sessions = [`s1 ${account}`, `s2 ${account}`]
  const users = ['ada', 'bob', undefined]
  const tags = [['a'], ['a', 'b'], undefined]
  const outcomes = ['completed', 'failed', 'completed', 'cancelled'] as const
  const records = Array.from({ length: 36 }, (_, index) => {
    const [user, session, tag] = [users[index % 3], sessions[(index >> 2) % 3], tags[(index >> 1) % 3]]
    const outcome = outcomes[index % 4] ?? 'completed'
    return record({
      account,
      model: `m${index % 2}`,
      startedAt: start + index * 4_000_000,
      cost: BigInt(index),
      outcome,
      ...(index % 5 > 0 && { key: `k${index % 5}` }),
      ...(outcome === 'failed' && { code: index % 8 === 1 ? 'rate_limit_exceeded' : 'server_error' }),
      ...(user !== undefined && { user }),
      ...(session !== undefined && { session }),
      ...(tag !== undefined && { tags: tag }),
    })
  })
  await store.append(records)
  return { account, records }
}

/** The ids of all records that a question selects, page by page. */
async function listed(store: UsageStore, { limit, ...filter }: UsageFilter & { readonly limit: number }) {
  return (await allPages(limit, (page) => store.list({ ...filter, ...page }))).map(({ id }) => id)
}

/** The ids of the records that match a filter, newest first. */
function expected(records: readonly UsageRecord[], filter: UsageFilter): string[] {
  return records
    .filter((each) => matches(each, filter))
    .sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1))
    .map(({ id }) => id)
}

function matches(each: UsageRecord, { tag, from = -Infinity, to = Infinity, ...equal }: UsageFilter): boolean {
  return (
    Object.entries(equal).every(([name, value]) => each[name as keyof UsageRecord] === value) &&
    (tag === undefined || each.tags?.includes(tag) === true) &&
    each.startedAt >= from &&
    each.startedAt < to
  )
}

function costOf(records: readonly UsageRecord[]): bigint {
  return records.reduce((sum, { cost }) => sum + cost, 0n)
}

function expectedRows(records: readonly UsageRecord[], by: readonly Exclude<UsageDimension, 'period'>[]): unknown[][] {
  const groups = new Map<string, UsageRecord[]>()
  for (const each of records) {
    for (const tag of by.includes('tag') ? (each.tags ?? ['']) : ['']) {
      const values = by.map((dimension) => {
        if (dimension === 'tag') return tag
        return dimension === 'day' ? new Date(each.startedAt).toISOString().slice(0, 10) : (each[dimension] ?? '')
      })
      const name = JSON.stringify(values)
      groups.set(name, [...(groups.get(name) ?? []), each])
    }
  }
  return [...groups]
    .map(([name, group]) => [...(JSON.parse(name) as string[]), group.length, costOf(group)] as unknown[])
    .sort((left, right) =>
      JSON.stringify(left.slice(0, by.length)) < JSON.stringify(right.slice(0, by.length)) ? -1 : 1,
    )
}
