/** A submission that the vendor answers when the test says so. */
import { expect } from 'vitest'
import { memoryTaskStore, type TaskStore } from '../../../src/index.ts'
import type { ScriptedVendor } from '../../../src/testing/vendor.ts'

/** A store that says when a request has found a task. */
export function watchedStore(): { readonly store: TaskStore; readonly found: Promise<void> } {
  const { promise: found, resolve } = Promise.withResolvers<void>()
  const store = memoryTaskStore()
  const find: TaskStore['find'] = async (...place) => {
    const task = await store.find(...place)
    if (task !== undefined) resolve()
    return task
  }
  return { store: { ...store, find }, found }
}

/** Holds the creation of a batch until `answer` is called. `status`: of its response, if it is refused. */
export function heldSubmission(
  vendor: ScriptedVendor,
  status?: number,
): { readonly asked: Promise<void>; readonly answer: () => void } {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { reply } = vendor
  vendor.reply = async (request, response) => {
    if (request.method === 'POST' && request.url.endsWith('/batches')) {
      asked.resolve()
      await answered.promise
      if (status !== undefined) return void response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    }
    return reply(request, response)
  }
  return { asked: asked.promise, answer: answered.resolve }
}

/** Repeats a request while its submission is held: both get the same answer. `found`: as of `watchedStore`. */
export async function expectSameAnswers(
  vendor: ScriptedVendor & { readonly batches: readonly unknown[] },
  create: () => Promise<unknown>,
  found: Promise<void>,
  status?: number,
): Promise<void> {
  const { asked, answer } = heldSubmission(vendor, status)
  const first = create()
  await asked
  const second = create()
  await found
  answer()
  const answers = await Promise.allSettled([first, second])
  if (status === undefined) expect(answers[1]).toEqual({ ...answers[0], status: 'fulfilled' })
  else expect(answers).toMatchObject([{ reason: { status } }, { reason: { status } }])
  expect(vendor.batches).toHaveLength(status === undefined ? 1 : 0)
}

/** A store that fails once to replace a task by one in some state. `stored`: although it has stored it. */
export function failingStore(states: readonly string[], stored: boolean): TaskStore {
  const store = memoryTaskStore()
  let hasFailed = false
  const replace = async (task: Parameters<TaskStore['replace']>[0]) => {
    if (hasFailed || !states.includes((task.data as { state: string }).state)) return store.replace(task)
    hasFailed = true
    if (stored) await store.replace(task)
    throw new Error('down')
  }
  return { ...store, replace }
}
