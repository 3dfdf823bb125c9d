/**
 * The task store contract as a suite: `testTaskStore(test, () => myStore())`. Runs in any runner, needs nothing but
 * node:assert, and gives the store all times itself, so it takes no longer than the store does.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TaskRecord, TaskStore } from '../tasks/contract.ts'
import { assertStoresLarge, lookalikes, suiteOf, type StoreKitOptions } from './kit.ts'
import type { TestFunction } from './runner.ts'
import { testClaims } from './task-claims.ts'
import { hour, next, start, task } from './tasks.ts'

export function testTaskStore(
  test: TestFunction,
  factory: () => Promise<TaskStore> | TaskStore,
  options: Omit<StoreKitOptions<TaskStore>, 'wait'> = {},
): void {
  const { it } = suiteOf('task store', test, factory, options)

  it('finds a task as it was inserted', async (store, other) => {
    const record = task()
    assert.deepEqual(await store.insert(record), record)
    assert.deepEqual(await other.find(record.account, record.id, start), record)
  })

  it('finds nothing that was never inserted', async (store) => {
    assert.equal(await store.find('nobody', 'task_none', start), undefined)
  })

  it('keeps accounts apart that use the same id', async (store) => {
    const mine = task({ id: 'task_same', data: { of: 'mine' } })
    const yours = task({ id: 'task_same', data: { of: 'yours' } })
    await store.insert(mine)
    assert.equal(await store.find(yours.account, 'task_same', start), undefined)
    assert.deepEqual(await store.insert(yours), yours)
    assert.deepEqual(await store.find(mine.account, 'task_same', start), mine)
    assert.equal(await store.replace(next(yours, { data: { of: 'yours, changed' } })), true)
    assert.deepEqual(await store.find(mine.account, 'task_same', start), mine)
  })

  it('does not confuse an account and an id that join to the same text', async (store) => {
    const left = task({ account: 'a:b', id: 'c' })
    const right = task({ account: 'a', id: 'b_c' })
    const third = task({ account: 'a:b:c', id: 'd' })
    for (const record of [left, right, third]) await store.insert(record)
    assert.equal(await store.find('a', 'b:c', start), undefined)
    assert.equal(await store.find('a:b:c', 'c', start), undefined)
    assert.deepEqual(await store.find('a:b', 'c', start), left)
  })

  it('takes no other account and no other id for the one that was meant', async (store) => {
    const mine = task({ account: `acme ${randomUUID()}`, id: `task_a${randomUUID()}`, data: { of: 'mine' } })
    await store.insert(mine)
    for (const account of lookalikes(mine.account)) {
      assert.equal(await store.find(account, mine.id, start), undefined, JSON.stringify(account))
      assert.equal(await store.replace(next({ ...mine, account })), false, JSON.stringify(account))
      assert.deepEqual((await store.list?.(account, { now: start, limit: 9, order: 'asc' })) ?? [], [])
      const theirs = { ...mine, account, data: { of: 'theirs' } }
      assert.deepEqual(await store.insert(theirs), theirs)
    }
    for (const id of lookalikes(mine.id)) {
      assert.equal(await store.find(mine.account, id, start), undefined, JSON.stringify(id))
      assert.equal(await store.replace(next({ ...mine, id })), false, JSON.stringify(id))
    }
    assert.deepEqual(await store.find(mine.account, mine.id, start), mine)
  })

  it('gives the task that is there to a second insert, unchanged', async (store, other) => {
    const first = task({ data: { text: 'first' } })
    await store.insert(first)
    assert.deepEqual(await other.insert({ ...first, data: { text: 'second' } }), first)
    assert.deepEqual(await store.find(first.account, first.id, start), first)
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
    const stored = await store.find(first.account, first.id, start)
    for (const result of results) assert.deepEqual(result, stored)
  })

  it('inserts anew in place of a task that has expired and is not due', async (store) => {
    const old = task({ dueAt: null })
    await store.insert(old)
    const fresh = { ...old, createdAt: old.expiresAt, expiresAt: old.expiresAt + hour, data: { fresh: true } }
    assert.deepEqual(await store.insert(fresh), fresh)
    assert.deepEqual(await store.find(old.account, old.id, fresh.createdAt), fresh)
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
    assert.deepEqual(await store.find(record.account, record.id, record.expiresAt - 1), record)
    assert.equal(await store.find(record.account, record.id, record.expiresAt), undefined)
    assert.equal(await store.find(record.account, record.id, record.expiresAt + hour), undefined)
  })

  it('goes by the times it is given, not by a clock of its own', async (store) => {
    const past = task({ createdAt: 1_000, expiresAt: 2_000, dueAt: 1_500 })
    await store.insert(past)
    assert.deepEqual(await store.find(past.account, past.id, 1_999), past)
    assert.equal((await store.claim({ now: 1_499, leaseMs: 100, limit: 10 })).length, 0)
    assert.equal((await store.claim({ now: 1_500, leaseMs: 100, limit: 10 })).length, 1)
  })

  it('replaces the version before, and shows the change to everybody at once', async (store, other) => {
    const first = task()
    await store.insert(first)
    const second = next(first, { dueAt: null, leasedUntil: 7, expiresAt: start + 5, data: { state: 'failed' } })
    assert.equal(await store.replace(second), true)
    assert.deepEqual(await other.find(first.account, first.id, start), second)
  })

  it('replaces nothing that has another version', async (store) => {
    const first = task()
    await store.insert(first)
    const second = next(first)
    assert.equal(await store.replace(second), true)
    for (const version of [1, 2, 4, 100]) {
      assert.equal(await store.replace({ ...second, version, data: { lost: true } }), false, `version ${version}`)
    }
    assert.deepEqual(await store.find(first.account, first.id, start), second)
  })

  it('replaces nothing that is not there', async (store) => {
    const record = task({ version: 2 })
    assert.equal(await store.replace(record), false)
    assert.equal(await store.find(record.account, record.id, start), undefined)
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
    const stored = await store.find(first.account, first.id, start)
    assert.deepEqual(stored?.data, { writer: won[0] })
  })

  it('loses none of many changes that are made by reading, changing and trying again', async (store, other) => {
    const first = task({ data: { count: 0 } })
    await store.insert(first)
    const add = async (through: TaskStore) => {
      for (let tries = 0; tries < 200; tries++) {
        const current = (await through.find(first.account, first.id, start)) as TaskRecord
        const { count } = current.data as { count: number }
        if (await through.replace(next(current, { data: { count: count + 1 } }))) return
      }
      assert.fail('a change was refused 200 times although somebody must have won each time')
    }
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(index % 2 === 0 ? store : other)))
    const stored = await store.find(first.account, first.id, start)
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
    const kept = async () => (await store.find(record.account, record.id, start))?.data
    spoil(await store.insert(record))
    spoil(record)
    assert.deepEqual(await kept(), { list: [1, 2], inner: { text: 'kept' } })
    spoil(await store.find(record.account, record.id, start))
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
      assert.deepEqual((await store.find(record.account, record.id, start))?.data, data)
    }
  })

  it('keeps any text, in data as in accounts', async (store) => {
    const text = `'"\\ %_;--\n\r\t\u2028 é 日本 😀 \u200f $1 {} \u0001`
    const record = task({ account: text, data: { [text]: text } })
    await store.insert(record)
    assert.deepEqual(await store.find(text, record.id, start), record)
    assert.equal(await store.replace(next(record, { data: [text] })), true)
    assert.deepEqual((await store.find(text, record.id, start))?.data, [text])
  })

  it('keeps 20 MiB of data', async (store) => {
    const record = task({ data: { text: 'x'.repeat(20 * 1024 * 1024) } })
    await assertStoresLarge('20 MiB of data', record, async () => {
      await store.insert(record)
      return (await store.find(record.account, record.id, start)) as TaskRecord
    })
  })

  testClaims(it)
}
