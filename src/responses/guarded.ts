/** A store of responses behind a guard: it answers in time, or its caller is told 503. */
import type { Guard } from '../storage/guard.ts'
import type { ResponseStore } from './contract.ts'

export function guardedResponses(store: ResponseStore, guard: Guard): ResponseStore {
  return {
    put: (record) => guard.call(() => store.put(record)),
    get: (account, id) => guard.call(() => store.get(account, id)),
    holding: (account, itemId) => guard.call(() => store.holding(account, itemId)),
    delete: (account, id) => guard.call(() => store.delete(account, id)),
  }
}
