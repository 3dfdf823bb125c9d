import type { TaskStore } from '../../tasks/contract.ts'
import type { Guard } from '../../records/guard.ts'

/** A task store with a timeout and a breaker for all calls. */
export function guardedTasks(store: TaskStore, guard: Guard): TaskStore {
  const call = async <T>(ask: () => Promise<T>): Promise<T> => guard.call(ask)
  return {
    insert: (task) => call(() => store.insert(task)),
    find: (account, id, now) => call(() => store.find(account, id, now)),
    replace: (task) => call(() => store.replace(task)),
    claim: (claim) => call(() => store.claim(claim)),
    ...(store.list && { list: (account, list) => call(async () => (await store.list?.(account, list)) ?? []) }),
    ...(store.search && { search: (search) => call(async () => (await store.search?.(search)) ?? []) }),
    ...(store.countDue && {
      countDue: (now, most) => call(async () => (await store.countDue?.(now, most)) ?? 0),
    }),
    ...(store.now && { now: () => call(async () => (await store.now?.()) ?? Date.now()) }),
    close: async () => store.close?.(),
  }
}
