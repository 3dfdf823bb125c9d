import { expect, test } from 'vitest'
import { memoryTaskStore } from '../../src/tasks/memory.ts'
import type { TaskRecord } from '../../src/tasks/contract.ts'
import { testTaskStore } from '../../src/testing/task-store.ts'

testTaskStore(test, () => memoryTaskStore())

function record(id: string, dueAt: number | null): TaskRecord {
  return { account: 'a', id, version: 1, createdAt: 0, expiresAt: 100, dueAt, leasedUntil: 0, data: null }
}

test('a full memory store rejects new tasks and evicts none', async () => {
  const store = memoryTaskStore({ count: 2 })
  await store.insert(record('one', 50))
  await store.insert(record('two', null))
  await expect(store.insert(record('three', 50))).rejects.toMatchObject({ code: 'service_unavailable', status: 503 })
  expect(await store.find('a', 'one', 99)).toBeDefined()
  expect(await store.find('a', 'two', 99)).toBeDefined()
  // Expired tasks are evicted, unless they are still due.
  await store.insert({ ...record('four', 150), createdAt: 100, expiresAt: 200 })
  await expect(store.insert({ ...record('five', 150), createdAt: 101, expiresAt: 200 })).rejects.toMatchObject({
    status: 503,
  })
})
