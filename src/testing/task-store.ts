/**
 * The task store contract as a suite: `testTaskStore(test, () => myStore())`. Runs in any runner, needs nothing but
 * node:assert, and gives the store all times itself, so it takes no longer than the store does.
 */
import assert from 'node:assert/strict'
import type { TaskRecord, TaskStore } from '../tasks/contract.ts'
import type { TestFunction } from './runner.ts'

export interface TaskStoreKitOptions {
  /**
   * A second handle on the same tasks, as another process would have it. Without one, promises between processes are
   * only tested within one handle.
   */
  readonly reopen?: (store: TaskStore) => Promise<TaskStore> | TaskStore
  /** Called with every store that was made, after its test. Default: the store's own `close`. */
  readonly dispose?: (store: TaskStore) => Promise<void>
}

const hour = 60 * 60_000
/** Far from the machine's time, so that a store that looks at its own clock is found out. */
const start = Date.UTC(2031, 0, 1)

let made = 0

function task(changes: Partial<TaskRecord> = {}): TaskRecord {
  made++
  return {
    tenant: `tenant-${made}`,
    id: `task_${made}`,
    version: 1,
    createdAt: start,
    expiresAt: start + 24 * hour,
    dueAt: start + hour,
    leasedUntil: 0,
    data: { state: 'pending' },
    ...changes,
  }
}

function next(record: TaskRecord, changes: Partial<TaskRecord> = {}): TaskRecord {
  return { ...record, ...changes, version: record.version + 1 }
}

export function testTaskStore(
  test: TestFunction,
  factory: () => Promise<TaskStore> | TaskStore,
  options: TaskStoreKitOptions = {},
): void {
  const it = (name: string, body: (store: TaskStore, other: TaskStore) => Promise<void>) =>
    test(`task store: ${name}`, async () => {
      const store = await factory()
      const other = (await options.reopen?.(store)) ?? store
      try {
        await body(store, other)
      } finally {
        for (const each of new Set([store, other])) await (options.dispose ?? ((closing) => closing.close?.()))(each)
      }
    })

  it('finds a task as it was inserted', async (store, other) => {
    const record = task()
    assert.deepEqual(await store.insert(record), record)
    assert.deepEqual(await other.find(record.tenant, record.id, start), record)
  })

  it('finds nothing that was never inserted', async (store) => {
    assert.equal(await store.find('nobody', 'task_none', start), undefined)
  })

  it('keeps tenants apart that use the same id', async (store) => {
    const mine = task({ id: 'task_same', data: { of: 'mine' } })
    const yours = task({ id: 'task_same', data: { of: 'yours' } })
    await store.insert(mine)
    assert.equal(await store.find(yours.tenant, 'task_same', start), undefined)
    assert.deepEqual(await store.insert(yours), yours)
    assert.deepEqual(await store.find(mine.tenant, 'task_same', start), mine)
    assert.equal(await store.replace(next(yours, { data: { of: 'yours, changed' } })), true)
    assert.deepEqual(await store.find(mine.tenant, 'task_same', start), mine)
  })

  it('does not confuse a tenant and an id that join to the same text', async (store) => {
    const left = task({ tenant: 'a:b', id: 'c' })
    const right = task({ tenant: 'a', id: 'b_c' })
    const third = task({ tenant: 'a:b:c', id: 'd' })
    for (const record of [left, right, third]) await store.insert(record)
    assert.equal(await store.find('a', 'b:c', start), undefined)
    assert.equal(await store.find('a:b:c', 'c', start), undefined)
    assert.deepEqual(await store.find('a:b', 'c', start), left)
  })

  it('gives the task that is there to a second insert, unchanged', async (store, other) => {
    const first = task({ data: { text: 'first' } })
    await store.insert(first)
    assert.deepEqual(await other.insert({ ...first, data: { text: 'second' } }), first)
    assert.deepEqual(await store.find(first.tenant, first.id, start), first)
  })

  it('gives the changed task to an insert after a change', async (store) => {
    const first = task()
    await store.insert(first)
    const second = next(first, { data: { state: 'completed' }, dueAt: null })
    await store.replace(second)
    assert.deepEqual(await store.insert(first), second)
  })

  it('stores exactly one of many inserts of one id at once', async (store, other) => {
    const first = task()
    const inserts = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? store : other).insert({ ...first, data: { writer: index } }),
    )
    const results = await Promise.all(inserts)
    const stored = await store.find(first.tenant, first.id, start)
    for (const result of results) assert.deepEqual(result, stored)
  })

  it('inserts anew in place of a task that has expired and is not due', async (store) => {
    const old = task({ dueAt: null })
    await store.insert(old)
    const fresh = { ...old, createdAt: old.expiresAt, expiresAt: old.expiresAt + hour, data: { fresh: true } }
    assert.deepEqual(await store.insert(fresh), fresh)
    assert.deepEqual(await store.find(old.tenant, old.id, fresh.createdAt), fresh)
  })

  it('does not insert over a task that is still found one millisecond before it expires', async (store) => {
    const old = task({ dueAt: null })
    await store.insert(old)
    assert.deepEqual(await store.insert({ ...old, createdAt: old.expiresAt - 1, data: { fresh: true } }), old)
  })

  it('does not insert over an expired task that is still due', async (store) => {
    const old = task()
    await store.insert(old)
    assert.deepEqual(await store.insert({ ...old, createdAt: old.expiresAt + 1, data: { fresh: true } }), old)
  })

  it('finds a task until the millisecond before it expires, and not from then on', async (store) => {
    const record = task()
    await store.insert(record)
    assert.deepEqual(await store.find(record.tenant, record.id, record.expiresAt - 1), record)
    assert.equal(await store.find(record.tenant, record.id, record.expiresAt), undefined)
    assert.equal(await store.find(record.tenant, record.id, record.expiresAt + hour), undefined)
  })

  it('goes by the times it is given, not by a clock of its own', async (store) => {
    const past = task({ createdAt: 1_000, expiresAt: 2_000, dueAt: 1_500 })
    await store.insert(past)
    assert.deepEqual(await store.find(past.tenant, past.id, 1_999), past)
    assert.equal((await store.claim({ now: 1_499, leaseMs: 100, limit: 10 })).length, 0)
    assert.equal((await store.claim({ now: 1_500, leaseMs: 100, limit: 10 })).length, 1)
  })

  it('replaces the version before, and shows the change to everybody at once', async (store, other) => {
    const first = task()
    await store.insert(first)
    const second = next(first, { dueAt: null, leasedUntil: 7, expiresAt: start + 5, data: { state: 'failed' } })
    assert.equal(await store.replace(second), true)
    assert.deepEqual(await other.find(first.tenant, first.id, start), second)
  })

  it('replaces nothing that has another version', async (store) => {
    const first = task()
    await store.insert(first)
    const second = next(first)
    assert.equal(await store.replace(second), true)
    for (const version of [1, 2, 4, 100]) {
      assert.equal(await store.replace({ ...second, version, data: { lost: true } }), false, `version ${version}`)
    }
    assert.deepEqual(await store.find(first.tenant, first.id, start), second)
  })

  it('replaces nothing that is not there', async (store) => {
    const record = task({ version: 2 })
    assert.equal(await store.replace(record), false)
    assert.equal(await store.find(record.tenant, record.id, start), undefined)
  })

  it('replaces a task that has expired but is still due', async (store) => {
    const record = task()
    await store.insert(record)
    await store.claim({ now: record.expiresAt + hour, leaseMs: 1_000, limit: 100 })
    assert.equal(await store.replace({ ...record, version: 3, dueAt: null }), true)
  })

  it('lets exactly one of many replaces of one version through', async (store, other) => {
    const first = task()
    await store.insert(first)
    const tries = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? store : other).replace(next(first, { data: { writer: index } })),
    )
    const won = (await Promise.all(tries)).flatMap((result, index) => (result ? [index] : []))
    assert.equal(won.length, 1)
    const stored = await store.find(first.tenant, first.id, start)
    assert.deepEqual(stored?.data, { writer: won[0] })
  })

  it('loses none of many changes that are made by reading, changing and trying again', async (store, other) => {
    const first = task({ data: { count: 0 } })
    await store.insert(first)
    const add = async (through: TaskStore) => {
      for (let tries = 0; tries < 200; tries++) {
        const current = (await through.find(first.tenant, first.id, start)) as TaskRecord
        const { count } = current.data as { count: number }
        if (await through.replace(next(current, { data: { count: count + 1 } }))) return
      }
      assert.fail('a change was refused 200 times although somebody must have won each time')
    }
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(index % 2 === 0 ? store : other)))
    const stored = await store.find(first.tenant, first.id, start)
    assert.deepEqual({ version: stored?.version, data: stored?.data }, { version: 13, data: { count: 12 } })
  })

  it('is not changed through the objects it was given or has given', async (store) => {
    const data = { list: [1, 2], inner: { text: 'kept' } }
    const spoil = (record: TaskRecord | undefined) => {
      const theirs = record?.data as typeof data | undefined
      theirs?.list.push(3)
      if (theirs !== undefined) theirs.inner.text = 'changed'
    }
    const record = task({ data })
    const kept = async () => (await store.find(record.tenant, record.id, start))?.data
    spoil(await store.insert(record))
    spoil(record)
    assert.deepEqual(await kept(), { list: [1, 2], inner: { text: 'kept' } })
    spoil(await store.find(record.tenant, record.id, start))
    assert.deepEqual(await kept(), { list: [1, 2], inner: { text: 'kept' } })
    const [claimed] = await store.claim({ now: start + hour, leaseMs: 1, limit: 1 })
    spoil(claimed)
    assert.deepEqual(await kept(), { list: [1, 2], inner: { text: 'kept' } })
  })

  it('keeps every JSON value as it is', async (store) => {
    const values = [null, true, 0, -1.5, 1e300, 9007199254740991, '', [], {}, [[null]], { '': '' }, { __proto__x: 1 }]
    for (const data of values) {
      const record = task({ data })
      await store.insert(record)
      assert.deepEqual((await store.find(record.tenant, record.id, start))?.data, data)
    }
  })

  it('keeps any text, in data as in tenants', async (store) => {
    const text = `'"\\ %_;--\n\r\t\u2028 é 日本 😀 \u200f $1 {} \u0001`
    const record = task({ tenant: text, data: { [text]: text } })
    await store.insert(record)
    assert.deepEqual(await store.find(text, record.id, start), record)
    assert.equal(await store.replace(next(record, { data: [text] })), true)
    assert.deepEqual((await store.find(text, record.id, start))?.data, [text])
  })

  it('keeps a mebibyte of data', async (store) => {
    const record = task({ data: { text: 'x'.repeat(1024 * 1024 - 100) } })
    await store.insert(record)
    assert.deepEqual(await store.find(record.tenant, record.id, start), record)
  })

  it('claims what is due to the millisecond, and nothing else', async (store) => {
    const record = task()
    await store.insert(record)
    await store.insert(task({ dueAt: null }))
    assert.deepEqual(await store.claim({ now: start + hour - 1, leaseMs: 1_000, limit: 10 }), [])
    const claimed = await store.claim({ now: start + hour, leaseMs: 1_000, limit: 10 })
    assert.deepEqual(claimed, [next(record, { leasedUntil: start + hour + 1_000 })])
    assert.deepEqual(await store.find(record.tenant, record.id, start), claimed[0])
  })

  it('claims no task again before its lease has run out', async (store, other) => {
    await store.insert(task())
    const now = start + hour
    assert.equal((await store.claim({ now, leaseMs: 1_000, limit: 10 })).length, 1)
    assert.equal((await other.claim({ now: now + 999, leaseMs: 1_000, limit: 10 })).length, 0)
    const again = await other.claim({ now: now + 1_000, leaseMs: 500, limit: 10 })
    assert.deepEqual([again[0]?.version, again[0]?.leasedUntil], [3, now + 1_500])
  })

  it('claims no task that was leased by a change', async (store) => {
    const record = task()
    await store.insert(record)
    await store.replace(next(record, { leasedUntil: start + 2 * hour }))
    assert.equal((await store.claim({ now: start + 2 * hour - 1, leaseMs: 1, limit: 10 })).length, 0)
    assert.equal((await store.claim({ now: start + 2 * hour, leaseMs: 1, limit: 10 })).length, 1)
  })

  it('claims a task again after it was put back', async (store) => {
    const record = task()
    await store.insert(record)
    const [claimed] = await store.claim({ now: start + hour, leaseMs: 60_000, limit: 1 })
    await store.replace(next(claimed as TaskRecord, { leasedUntil: 0, dueAt: start + hour + 5 }))
    assert.equal((await store.claim({ now: start + hour + 4, leaseMs: 1, limit: 1 })).length, 0)
    assert.equal((await store.claim({ now: start + hour + 5, leaseMs: 1, limit: 1 })).length, 1)
  })

  it('makes a claim beat whoever read the task before it', async (store) => {
    const record = task()
    await store.insert(record)
    await store.claim({ now: start + hour, leaseMs: 1_000, limit: 1 })
    assert.equal(await store.replace(next(record)), false)
  })

  it('claims the longest due first, and no more than asked for', async (store) => {
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

  it('gives every due task to exactly one of many claims at once', async (store, other) => {
    for (let index = 0; index < 30; index++) await store.insert(task())
    const claims = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? store : other).claim({ now: start + hour, leaseMs: 1_000, limit: 7 }),
    )
    const ids = (await Promise.all(claims)).flat().map((each) => `${each.tenant}/${each.id}`)
    // A claim may leave out tasks that another one was taking; nothing may be lost for good.
    const rest = await store.claim({ now: start + hour, leaseMs: 1_000, limit: 30 })
    ids.push(...rest.map((each) => `${each.tenant}/${each.id}`))
    assert.equal(ids.length, 30)
    assert.equal(new Set(ids).size, 30)
  })

  it('claims an expired task that is still due, and keeps it until it is not', async (store) => {
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

  it('does not forget a task that has not expired, however often it is claimed around', async (store) => {
    const record = task({ dueAt: null })
    await store.insert(record)
    for (let at = start; at < record.expiresAt; at += 6 * hour) await store.claim({ now: at, leaseMs: 1, limit: 10 })
    await store.claim({ now: record.expiresAt - 1, leaseMs: 1, limit: 10 })
    assert.deepEqual(await store.find(record.tenant, record.id, record.expiresAt - 1), record)
  })

  it('lists the tasks of a tenant in order, page by page, where it lists at all', async (store) => {
    if (store.list === undefined) return
    const tenant = task().tenant
    const records = [3, 1, 2, 5, 4].map((at) => task({ tenant, createdAt: start + at, id: `task_${at}` }))
    for (const record of records) await store.insert(record)
    await store.insert(task())
    await store.insert(task({ tenant, expiresAt: start + 50, id: 'task_expired' }))
    const now = start + 50
    const ids = async (options: { limit: number; after?: string; order: 'asc' | 'desc' }) =>
      ((await store.list?.(tenant, { now, ...options })) ?? []).map((each) => each.id)
    assert.deepEqual(await ids({ limit: 10, order: 'asc' }), ['task_1', 'task_2', 'task_3', 'task_4', 'task_5'])
    assert.deepEqual(await ids({ limit: 2, order: 'desc' }), ['task_5', 'task_4'])
    assert.deepEqual(await ids({ limit: 2, order: 'desc', after: 'task_4' }), ['task_3', 'task_2'])
    assert.deepEqual(await ids({ limit: 9, order: 'asc', after: 'task_4' }), ['task_5'])
    assert.deepEqual(await ids({ limit: 9, order: 'asc', after: 'task_unknown' }), [])
  })

  it('tells a time, where it tells one, that goes forward', async (store, other) => {
    if (store.now === undefined || other.now === undefined) return
    const first = await store.now()
    const second = await other.now()
    assert.ok(Number.isFinite(first) && second >= first - 1 && second < first + 60_000, `${first}, then ${second}`)
  })
}
