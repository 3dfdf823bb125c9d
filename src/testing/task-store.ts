import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TaskRecord, TaskStore } from '../tasks/contract.ts'
import { assertStoresLarge, similarNames, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'
import { testClaims } from './task-claims.ts'
import { hour, next, start, task } from './task-records.ts'

/**
 * Registers one test for each requirement of the `TaskStore` contract. The tests pass all times to the store, so they never
 * wait.
 *
 * @param factory Opens the store of one test. It must be empty, because claims are not limited to one account.
 * @example
 * ```ts
 * testTaskStore(test, () => myStore())
 * ```
 */
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

  it('finds nothing for an unknown id', async (store) => {
    assert.equal(await store.find('account-none', 'task_none', start), undefined)
  })

  it('the same id in two accounts is two tasks', async (store) => {
    const mine = task({ id: 'task_same', data: { of: 'mine' } })
    const yours = task({ id: 'task_same', data: { of: 'yours' } })
    await store.insert(mine)
    assert.equal(await store.find(yours.account, 'task_same', start), undefined)
    assert.deepEqual(await store.insert(yours), yours)
    assert.deepEqual(await store.find(mine.account, 'task_same', start), mine)
    assert.equal(await store.replace(next(yours, { data: { of: 'yours, changed' } })), true)
    assert.deepEqual(await store.find(mine.account, 'task_same', start), mine)
  })

  it('keeps account and id separate even if they join to the same text', async (store) => {
    const left = task({ account: 'a:b', id: 'c' })
    const right = task({ account: 'a', id: 'b_c' })
    const third = task({ account: 'a:b:c', id: 'd' })
    for (const record of [left, right, third]) await store.insert(record)
    assert.equal(await store.find('a', 'b:c', start), undefined)
    assert.equal(await store.find('a:b:c', 'c', start), undefined)
    assert.deepEqual(await store.find('a:b', 'c', start), left)
  })

  it('compares accounts and ids byte for byte: case, accents and spaces count', async (store) => {
    const mine = task({ account: `acme ${randomUUID()}`, id: `task_a${randomUUID()}`, data: { of: 'mine' } })
    await store.insert(mine)
    for (const account of similarNames(mine.account)) {
      assert.equal(await store.find(account, mine.id, start), undefined, JSON.stringify(account))
      assert.equal(await store.replace(next({ ...mine, account })), false, JSON.stringify(account))
      assert.deepEqual((await store.list?.(account, { now: start, limit: 9, order: 'asc' })) ?? [], [])
      const theirs = { ...mine, account, data: { of: 'theirs' } }
      assert.deepEqual(await store.insert(theirs), theirs)
    }
    for (const id of similarNames(mine.id)) {
      assert.equal(await store.find(mine.account, id, start), undefined, JSON.stringify(id))
      assert.equal(await store.replace(next({ ...mine, id })), false, JSON.stringify(id))
    }
    assert.deepEqual(await store.find(mine.account, mine.id, start), mine)
  })

  it('a second insert changes nothing and returns the existing task', async (store, other) => {
    const first = task({ data: { text: 'first' } })
    await store.insert(first)
    assert.deepEqual(await other.insert({ ...first, data: { text: 'second' } }), first)
    assert.deepEqual(await store.find(first.account, first.id, start), first)
  })

  it('an insert after a change returns the changed task', async (store) => {
    const first = task()
    await store.insert(first)
    const second = next(first, { data: { state: 'completed' }, dueAt: null })
    await store.replace(second)
    assert.deepEqual(await store.insert(first), second)
  })

  it('stores exactly one of many concurrent inserts of one id, and returns it to all', async (store, other) => {
    const first = task()
    const inserts = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? store : other).insert({ ...first, data: { writer: index } }),
    )
    const results = await Promise.all(inserts)
    const stored = await store.find(first.account, first.id, start)
    for (const result of results) assert.deepEqual(result, stored)
  })

  it('an insert replaces an expired task that is not due', async (store) => {
    const old = task({ dueAt: null })
    await store.insert(old)
    const fresh = { ...old, createdAt: old.expiresAt, expiresAt: old.expiresAt + hour, data: { fresh: true } }
    assert.deepEqual(await store.insert(fresh), fresh)
    assert.deepEqual(await store.find(old.account, old.id, fresh.createdAt), fresh)
  })

  it('an insert does not replace a task one millisecond before it expires', async (store) => {
    const old = task({ dueAt: null })
    await store.insert(old)
    assert.deepEqual(await store.insert({ ...old, createdAt: old.expiresAt - 1, data: { fresh: true } }), old)
  })

  it('an insert does not replace an expired task that is still due', async (store) => {
    const old = task()
    await store.insert(old)
    assert.deepEqual(await store.insert({ ...old, createdAt: old.expiresAt + 1, data: { fresh: true } }), old)
  })

  it('finds a task until it expires, to the millisecond', async (store) => {
    const record = task()
    await store.insert(record)
    assert.deepEqual(await store.find(record.account, record.id, record.expiresAt - 1), record)
    assert.equal(await store.find(record.account, record.id, record.expiresAt), undefined)
    assert.equal(await store.find(record.account, record.id, record.expiresAt + hour), undefined)
  })

  it('uses the times passed in, not its own clock', async (store) => {
    const past = task({ createdAt: 1_000, expiresAt: 2_000, dueAt: 1_500 })
    await store.insert(past)
    assert.deepEqual(await store.find(past.account, past.id, 1_999), past)
    assert.equal((await store.claim({ now: 1_499, leaseMs: 100, limit: 10 })).length, 0)
    assert.equal((await store.claim({ now: 1_500, leaseMs: 100, limit: 10 })).length, 1)
  })

  it('replaces the previous version, visible to every handle at once', async (store, other) => {
    const first = task()
    await store.insert(first)
    const second = next(first, { dueAt: null, leasedUntil: 7, expiresAt: start + 5, data: { state: 'failed' } })
    assert.equal(await store.replace(second), true)
    assert.deepEqual(await other.find(first.account, first.id, start), second)
  })

  it('does not replace any version but the previous one', async (store) => {
    const first = task()
    await store.insert(first)
    const second = next(first)
    assert.equal(await store.replace(second), true)
    for (const version of [1, 2, 4, 100]) {
      assert.equal(await store.replace({ ...second, version, data: { lost: true } }), false, `version ${version}`)
    }
    assert.deepEqual(await store.find(first.account, first.id, start), second)
  })

  it('does not replace a task that does not exist', async (store) => {
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

  it('exactly one of many concurrent replaces of one version succeeds', async (store, other) => {
    const first = task()
    await store.insert(first)
    const replaces = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? store : other).replace(next(first, { data: { writer: index } })),
    )
    const won = (await Promise.all(replaces)).flatMap((result, index) => (result ? [index] : []))
    assert.equal(won.length, 1)
    const stored = await store.find(first.account, first.id, start)
    assert.deepEqual(stored?.data, { writer: won[0] })
  })

  it('loses no change made by reading, changing and retrying', async (store, other) => {
    const first = task({ data: { count: 0 } })
    await store.insert(first)
    const add = async (through: TaskStore) => {
      for (let attempt = 0; attempt < 200; attempt++) {
        const current = (await through.find(first.account, first.id, start)) as TaskRecord
        const { count } = current.data as { count: number }
        if (await through.replace(next(current, { data: { count: count + 1 } }))) return
      }
      assert.fail('a change was rejected 200 times, although one of the 12 writers must succeed each time')
    }
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(index % 2 === 0 ? store : other)))
    const stored = await store.find(first.account, first.id, start)
    assert.deepEqual({ version: stored?.version, data: stored?.data }, { version: 13, data: { count: 12 } })
  })

  it('is not affected by later changes to objects passed in or returned', async (store) => {
    const data = { list: [1, 2], inner: { text: 'kept' } }
    const modify = (record: TaskRecord | undefined) => {
      const modified = record?.data as typeof data | undefined
      modified?.list.push(3)
      if (modified !== undefined) modified.inner.text = 'changed'
    }
    const record = task({ data })
    const stored = async () => (await store.find(record.account, record.id, start))?.data
    modify(await store.insert(record))
    modify(record)
    assert.deepEqual(await stored(), { list: [1, 2], inner: { text: 'kept' } })
    modify(await store.find(record.account, record.id, start))
    assert.deepEqual(await stored(), { list: [1, 2], inner: { text: 'kept' } })
    const [claimed] = await store.claim({ now: start + hour, leaseMs: 1, limit: 1 })
    modify(claimed)
    assert.deepEqual(await stored(), { list: [1, 2], inner: { text: 'kept' } })
  })

  it('keeps every JSON value unchanged', async (store) => {
    const values = [null, true, 0, -1.5, 1e300, 9007199254740991, '', [], {}, [[null]], { '': '' }, { __proto__x: 1 }]
    for (const data of values) {
      const record = task({ data })
      await store.insert(record)
      assert.deepEqual((await store.find(record.account, record.id, start))?.data, data)
    }
  })

  it('keeps any text unchanged, in data and in accounts', async (store) => {
    const text = `'"\\ %_;--\n\r\t\u2028 é 日本 😀 \u200f $1 {} \u0001`
    const record = task({ account: text, data: { [text]: text } })
    await store.insert(record)
    assert.deepEqual(await store.find(text, record.id, start), record)
    assert.equal(await store.replace(next(record, { data: [text] })), true)
    assert.deepEqual((await store.find(text, record.id, start))?.data, [text])
  })

  it('stores 20 MiB of data', async (store) => {
    const record = task({ data: { text: 'x'.repeat(20 * 1024 * 1024) } })
    const storeAndRead = async () => {
      await store.insert(record)
      return (await store.find(record.account, record.id, start)) as TaskRecord
    }
    await assertStoresLarge('20 MiB of data', record, storeAndRead, 4)
  })

  testClaims(it)
}
