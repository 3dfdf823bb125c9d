/** The tests of the usage store contract for the log of attempts and for refused requests. */
import assert from 'node:assert/strict'
import type { UsageFilter, UsageRecord, UsageStore } from '../observe/usage/contract.ts'
import { allPages, fresh, oddNames, race, type Suite } from './kit.ts'
import { record, start } from './usage-sums.ts'

function refused(changes: Partial<UsageRecord>): UsageRecord {
  const counts = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }
  const rest = { code: 'rate_limit_exceeded', attempts: 0, cost: 0n, basis: 'none' } as const
  return record({ outcome: 'refused', ...counts, ...rest, ...changes })
}

export function testLog(it: Suite<UsageStore>['it']): void {
  it('keeps the log of attempts', async (store, other) => {
    const account = fresh('account')
    const last = { provider: 'openai', providerModel: 'gpt-5' }
    const logs: readonly NonNullable<UsageRecord['attemptLog']>[] = [
      [{ ...last, outcome: 'succeeded', startMs: 0.4, ms: 312.5 }],
      [
        {
          provider: 'azure',
          providerModel: 'a',
          outcome: 'failed',
          status: 503,
          code: 'server_error',
          startMs: 1,
          ms: 2,
        },
        { ...last, outcome: 'failed', code: 'service_unavailable', startMs: 10, ms: 0 },
        { ...last, outcome: 'rejected', status: 400, code: 'invalid_request_error', startMs: 20.1, ms: 1_000_000 },
      ],
      oddNames.map((odd) => ({ provider: odd, providerModel: odd, outcome: 'aborted', startMs: 1, ms: 1 })),
    ]
    const records = logs.map((attemptLog, index) => record({ account, ...last, attemptLog, startedAt: start - index }))
    await store.append(records)
    const { items } = await other.list({ account })
    // A store may leave the log out.
    if (items.every(({ attemptLog }) => attemptLog === undefined)) return
    assert.deepEqual(items, records)
    for (const each of records) if (other.find !== undefined) assert.deepEqual(await other.find(each.id), each)
  })

  it('lists and finds refused requests, and does not sum them', async (store, other) => {
    if (store.appendRefused === undefined) return
    const account = fresh('account')
    const personal = { key: fresh('key'), user: 'ada', session: fresh('session'), tags: ['t'] }
    const served = record({ account, ...personal, startedAt: start + 1 })
    const plain = refused({ account, startedAt: start + 2, model: '' })
    const full = refused({ account, ...personal, startedAt: start, code: 'insufficient_quota', totalMs: 0.5 })
    const odd = oddNames.map((name, index) =>
      refused({
        account,
        model: name,
        user: name,
        session: name,
        id: `${name} ${account}`,
        startedAt: start - index - 1,
      }),
    )
    await store.append([served])
    await store.appendRefused([plain, full, ...odd])
    await race(4, [store, other], async (each) => each.appendRefused?.([{ ...plain, code: 'conflict' }]))
    await store.appendRefused([])
    const all = [plain, served, full, ...odd]
    assert.deepEqual((await other.list({ account })).items, all)
    for (const each of all) if (other.find !== undefined) assert.deepEqual(await other.find(each.id), each)
    const filters: readonly UsageFilter[] = [
      { outcome: 'refused' },
      { outcome: 'completed' },
      { outcome: 'failed' },
      { code: 'insufficient_quota' },
      { code: 'rate_limit_exceeded', outcome: 'refused', model: '' },
      { key: personal.key },
      { user: 'ada' },
      { session: personal.session },
      { session: personal.session, outcome: 'refused' },
      { tag: 't' },
      { tag: 'u' },
      { model: oddNames[0] as string },
      { from: start, to: start + 2 },
      { from: start, outcome: 'refused', user: 'ada', tag: 't', key: personal.key },
    ]
    for (const filter of filters) {
      const expected = all.filter((each) => matches(each, filter))
      assert.deepEqual((await other.list({ account, ...filter })).items, expected, JSON.stringify(filter))
    }
    for (const filter of [{}, { outcome: 'refused' }, { session: personal.session }, { code: 'conflict' }] as const) {
      const [sum] = await other.summarise({ account, ...filter, by: [] })
      const expected = 'outcome' in filter || 'code' in filter ? 0 : 1
      assert.equal(sum?.requests ?? 0, expected, JSON.stringify(filter))
    }
  })

  it('pages of refused and other requests neither repeat nor omit one', async (store, other) => {
    if (store.appendRefused === undefined) return
    const account = fresh('account')
    const records = Array.from({ length: 24 }, (_, index) =>
      (index % 3 === 0 ? refused : record)({ account, startedAt: start + (index >> 2), model: `m${index % 2}` }),
    )
    await store.append(records.filter(({ outcome }) => outcome !== 'refused'))
    await store.appendRefused(records.filter(({ outcome }) => outcome === 'refused'))
    const add = () => other.appendRefused?.([refused({ account, startedAt: start + 100 })])
    const seen = await allPages(5, (page) => store.list({ account, ...page }), add)
    const newest = records.toSorted((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1))
    assert.deepEqual(
      seen.map(({ id }) => id),
      newest.map(({ id }) => id),
    )
  })

  it('removes old refused requests, alone or with all others', async (store, other) => {
    if (store.appendRefused === undefined || store.removeBefore === undefined) return
    const account = fresh('account')
    // Earlier than the records of all other tests.
    const early = Date.UTC(2000, 0, 1)
    const at = (index: number) => ({ account, startedAt: early + index })
    const records = [record(at(0)), record(at(1)), refused(at(2)), refused(at(3)), refused(at(4))] as const
    await store.append(records.slice(0, 2))
    await store.appendRefused(records.slice(2))
    assert.equal(await store.removeBefore(early + 4, 1, 'refused'), 1)
    assert.equal(await store.removeBefore(early + 4, 10, 'refused'), 1)
    assert.deepEqual((await other.list({ account })).items, [records[4], records[1], records[0]])
    assert.equal(await store.removeBefore(early + 5, 10), 3)
    assert.deepEqual((await other.list({ account })).items, [])
  })

  it('anonymises refused requests of an account, or of one of its users', async (store, other) => {
    if (store.appendRefused === undefined || store.anonymise === undefined) return
    const [account, as] = [fresh('account'), fresh('nobody')]
    const session = fresh('session')
    const records = ['ada', 'bob'].map((user, index) =>
      refused({ account, key: 'k', user, session, tags: ['t'], startedAt: start - index }),
    )
    await store.appendRefused(records)
    while (await store.anonymise({ account, user: 'ada', as: account }));
    const [ada, bob] = records.map(({ key: _key, user: _user, session: _session, tags: _tags, ...rest }) => rest)
    assert.deepEqual((await other.list({ account })).items, [ada, records[1]])
    assert.deepEqual((await other.list({ session })).items, [records[1]])
    while (await store.anonymise({ account, as }));
    assert.deepEqual((await other.list({ account })).items, [])
    const expected = [ada, bob].map((each) => ({ ...each, account: as }))
    assert.deepEqual((await other.list({ account: as })).items, expected)
  })
}

function matches(each: UsageRecord, { tag, from = -Infinity, to = Infinity, ...equal }: UsageFilter): boolean {
  const isEqual = Object.entries(equal).every(([name, value]) => each[name as keyof typeof equal] === value)
  const hasTag = tag === undefined || each.tags?.includes(tag) === true
  return isEqual && hasTag && each.startedAt >= from && each.startedAt < to
}
