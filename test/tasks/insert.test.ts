import { expect, test } from 'vitest'
import type { TaskRecord } from '../../src/tasks/contract.ts'
import { earlierTask, insertTask } from '../../src/tasks/insert.ts'
import { memoryTaskStore } from '../../src/tasks/memory.ts'

const at = 1_000_000

function record(changes: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: at, expiresAt: at + 86_400_000, dueAt: at + 60_000, leasedUntil: at + 60_000 }
  return { account: 'acme', id: 'batch_1', version: 0, ...times, data: { name: 'new' }, ...changes }
}

/** A store with a task that was refused, by another process, at a time. */
async function refusedAt(expiresAt: number) {
  const store = memoryTaskStore()
  await store.insert(record({ createdAt: at - 60_000, expiresAt, dueAt: null, data: { name: 'refused' } }))
  return store
}

test.each([
  ['while the request for another one was under way', at + 5, at + 10],
  ['by a process whose clock is ahead', at + 500, at],
])('a task that was refused %s counts as absent', async (_, expiresAt, now) => {
  const services = { store: await refusedAt(expiresAt), now: async () => now }
  expect(await earlierTask(services, 'acme', 'batch_1')).toBeUndefined()
  const stored = await insertTask(services, record())
  expect(stored.data).toEqual({ name: 'new' })
  expect(await services.store.find('acme', 'batch_1', now)).toEqual(stored)
})

test.each([
  ['in progress', { dueAt: at + 5_000 }],
  ['deleted, and still followed', { dueAt: at + 5_000, expiresAt: at - 1 }],
  ['ended', { dueAt: null }],
])('a task that is %s stays', async (_, changes) => {
  const services = { store: memoryTaskStore(), now: async () => at }
  await services.store.insert(record({ ...changes, data: { name: 'earlier' } }))
  expect(await insertTask(services, record())).toMatchObject({ data: { name: 'earlier' } })
})

test('a process that had a task before it was refused cannot replace the one that took its place', async () => {
  let now = at
  const services = { store: memoryTaskStore(), now: async () => now }
  const first = await insertTask(services, record({ data: { name: 'first' } }))
  const refused = { ...first, version: first.version + 1, expiresAt: at + 100, dueAt: null }
  expect(await services.store.replace(refused)).toBe(true)
  now = at + 2_000
  await insertTask(services, record({ createdAt: now }))
  for (const stale of [first, refused]) {
    expect(await services.store.replace({ ...stale, version: stale.version + 1 })).toBe(false)
  }
})
