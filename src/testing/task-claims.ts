/** The tests of the task store contract for `claim`, `list`, `search` and `now`. */
import assert from 'node:assert/strict'
import type { TaskRecord, TaskStore } from '../tasks/contract.ts'
import type { Suite } from './kit.ts'
import { hour, next, start, task } from './task-records.ts'

export function testClaims(it: Suite<TaskStore>['it']): void {
  it('claims tasks from their due time on, to the millisecond, and no others', async (store) => {
    const record = task()
    await store.insert(record)
    await store.insert(task({ dueAt: null }))
    assert.deepEqual(await store.claim({ now: start + hour - 1, leaseMs: 1_000, limit: 10 }), [])
    const claimed = await store.claim({ now: start + hour, leaseMs: 1_000, limit: 10 })
    assert.deepEqual(claimed, [next(record, { leasedUntil: start + hour + 1_000 })])
    assert.deepEqual(await store.find(record.account, record.id, start), claimed[0])
  })

  it('counts the tasks that could be claimed, up to a maximum', async (store, other) => {
    if (store.countDue === undefined) return
    const now = start + hour
    assert.equal(await store.countDue(now, 10), 0)
    for (const changes of [{}, {}, {}, { dueAt: null }, { dueAt: now + 1 }]) await store.insert(task(changes))
    assert.deepEqual([await store.countDue(now - 1, 10), await store.countDue(now, 10)], [0, 3])
    assert.deepEqual([await other.countDue?.(now, 3), await other.countDue?.(now, 2)], [3, 2])
    await other.claim({ now, leaseMs: 1_000, limit: 1 })
    assert.deepEqual([await store.countDue(now, 10), await store.countDue(now + 1_000, 10)], [2, 4])
  })

  it('does not claim a task again before its lease expires', async (store, other) => {
    await store.insert(task())
    const now = start + hour
    assert.equal((await store.claim({ now, leaseMs: 1_000, limit: 10 })).length, 1)
    assert.equal((await other.claim({ now: now + 999, leaseMs: 1_000, limit: 10 })).length, 0)
    const again = await other.claim({ now: now + 1_000, leaseMs: 500, limit: 10 })
    assert.deepEqual([again[0]?.version, again[0]?.leasedUntil], [3, now + 1_500])
  })

  it('does not claim a task that was leased through replace', async (store) => {
    const record = task()
    await store.insert(record)
    await store.replace(next(record, { leasedUntil: start + 2 * hour }))
    assert.equal((await store.claim({ now: start + 2 * hour - 1, leaseMs: 1, limit: 10 })).length, 0)
    assert.equal((await store.claim({ now: start + 2 * hour, leaseMs: 1, limit: 10 })).length, 1)
  })

  it('claims a task again after replace has ended its lease', async (store) => {
    const record = task()
    await store.insert(record)
    const [claimed] = await store.claim({ now: start + hour, leaseMs: 60_000, limit: 1 })
    await store.replace(next(claimed as TaskRecord, { leasedUntil: 0, dueAt: start + hour + 5 }))
    assert.equal((await store.claim({ now: start + hour + 4, leaseMs: 1, limit: 1 })).length, 0)
    assert.equal((await store.claim({ now: start + hour + 5, leaseMs: 1, limit: 1 })).length, 1)
  })

  it('a claim makes a later replace of the version before it fail', async (store) => {
    const record = task()
    await store.insert(record)
    await store.claim({ now: start + hour, leaseMs: 1_000, limit: 1 })
    assert.equal(await store.replace(next(record)), false)
  })

  it('claims each task once, also if others have expired meanwhile', async (store) => {
    const [early, late] = [1, 2].map((hours) => task({ dueAt: null, expiresAt: start + hours * hour }))
    const due = [3, 4].map((hours) => task({ dueAt: start + hours * hour, expiresAt: start + 9 * hour }))
    for (const record of [early, late, due[0]]) await store.insert(record as TaskRecord)
    assert.deepEqual(await store.claim({ now: start + hour, leaseMs: 1_000, limit: 10 }), [])
    await store.insert(due[1] as TaskRecord)
    const claimed = await store.claim({ now: start + 5 * hour, leaseMs: 1_000, limit: 10 })
    assert.deepEqual(
      claimed.map(({ id }) => id),
      due.map(({ id }) => id),
    )
  })

  it('claims the longest overdue first, up to the limit', async (store) => {
    const dues = [5, 3, 9, 1, 7]
    const records = dues.map((due) => task({ dueAt: start + due }))
    for (const record of records) await store.insert(record)
    const claimed = await store.claim({ now: start + 100, leaseMs: 1_000, limit: 3 })
    assert.deepEqual(
      claimed.map((each) => (each.dueAt as number) - start),
      [1, 3, 5],
    )
    const rest = await store.claim({ now: start + 100, leaseMs: 1_000, limit: 3 })
    assert.deepEqual(
      rest.map((each) => (each.dueAt as number) - start),
      [7, 9],
    )
  })

  it('gives every due task to exactly one of many concurrent claims', async (store, other) => {
    for (let index = 0; index < 30; index++) await store.insert(task())
    const claims = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? store : other).claim({ now: start + hour, leaseMs: 1_000, limit: 7 }),
    )
    const ids = (await Promise.all(claims)).flat().map((each) => `${each.account}/${each.id}`)
    // A claim may skip tasks that a concurrent one is claiming, but none may be lost.
    const rest = await store.claim({ now: start + hour, leaseMs: 1_000, limit: 30 })
    ids.push(...rest.map((each) => `${each.account}/${each.id}`))
    assert.equal(ids.length, 30)
    assert.equal(new Set(ids).size, 30)
  })

  it('keeps an expired task claimable while it is due', async (store) => {
    const record = task()
    await store.insert(record)
    const later = record.expiresAt + hour
    const [claimed] = await store.claim({ now: later, leaseMs: 1_000, limit: 10 })
    assert.equal(claimed?.id, record.id)
    const [again] = await store.claim({ now: later + 1_000, leaseMs: 1_000, limit: 10 })
    assert.equal(again?.version, 3)
    assert.equal(await store.replace(next(again, { dueAt: null, leasedUntil: 0 })), true)
    assert.deepEqual(await store.claim({ now: later + hour, leaseMs: 1_000, limit: 10 }), [])
  })

  it('claims do not remove tasks that have not expired', async (store) => {
    const record = task({ dueAt: null })
    await store.insert(record)
    for (let at = start; at < record.expiresAt; at += 6 * hour) await store.claim({ now: at, leaseMs: 1, limit: 10 })
    await store.claim({ now: record.expiresAt - 1, leaseMs: 1, limit: 10 })
    assert.deepEqual(await store.find(record.account, record.id, record.expiresAt - 1), record)
  })

  it('list, if present, returns the tasks of an account in pages, ordered by creation', async (store) => {
    if (store.list === undefined) return
    const account = task().account
    const records = [3, 1, 2, 5, 4].map((at) => task({ account, createdAt: start + at, id: `task_${at}` }))
    for (const record of records) await store.insert(record)
    await store.insert(task())
    await store.insert(task({ account, expiresAt: start + 50, id: 'task_expired' }))
    const now = start + 50
    const ids = async (options: { limit: number; after?: string; order: 'asc' | 'desc' }) =>
      ((await store.list?.(account, { now, ...options })) ?? []).map((each) => each.id)
    assert.deepEqual(await ids({ limit: 10, order: 'asc' }), ['task_1', 'task_2', 'task_3', 'task_4', 'task_5'])
    assert.deepEqual(await ids({ limit: 2, order: 'desc' }), ['task_5', 'task_4'])
    assert.deepEqual(await ids({ limit: 2, order: 'desc', after: 'task_4' }), ['task_3', 'task_2'])
    assert.deepEqual(await ids({ limit: 9, order: 'asc', after: 'task_4' }), ['task_5'])
    assert.deepEqual(await ids({ limit: 9, order: 'asc', after: 'task_unknown' }), [])
  })

  it('search, if present, returns the tasks of all accounts in pages, newest first', async (store, other) => {
    if (store.search === undefined || other.search === undefined) return
    // Later than those of other tests.
    const later = start + 1_000 * 24 * hour
    const made = (at: number, changes: Partial<TaskRecord> = {}) =>
      task({ createdAt: later + at, expiresAt: later + 24 * hour, ...changes })
    const records = [3, 1, 2, 5, 4, 4].map((at) => made(at))
    const over = made(9, { expiresAt: later + 50 })
    for (const record of [...records, over]) await store.insert(record)
    const now = later + 50
    const all = await store.search({ now, limit: 6 })
    assert.deepEqual(
      all.map(({ createdAt }) => createdAt - later),
      [5, 4, 4, 3, 2, 1],
    )
    for (const found of all) {
      const inserted = records.find(({ account, id }) => account === found.account && id === found.id)
      assert.deepEqual(found, inserted)
    }
    const paged: TaskRecord[] = []
    for (let after: TaskRecord | undefined; paged.length < 6; after = paged.at(-1)) {
      const page = await other.search({ now, limit: 2, ...(after && { after }) })
      assert.ok(page.length > 0, 'a page is empty')
      paged.push(...page)
    }
    assert.deepEqual(paged.slice(0, 6), all)
  })

  it('now, if present, does not go backwards', async (store, other) => {
    if (store.now === undefined || other.now === undefined) return
    const first = await store.now()
    const second = await other.now()
    assert.ok(Number.isFinite(first) && second >= first - 1 && second < first + 60_000, `${first}, then ${second}`)
  })
}
