import type { Guard } from '../../records/guard.ts'
import { isStorable } from '../../records/storable-text.ts'
import type { ResponseStore } from '../../responses/contract.ts'

/** A response store with a timeout. Ids come from clients and vendors; those that no store can keep are treated as unknown. */
export function guardedResponses(store: ResponseStore, guard: Guard): ResponseStore {
  return {
    put: (record) => guard.call(() => store.put({ ...record, items: record.items.filter((id) => isStorable(id)) })),
    get: (account, id) => (isStorable(id) ? guard.call(() => store.get(account, id)) : undefined),
    holding: (account, itemId) => (isStorable(itemId) ? guard.call(() => store.holding(account, itemId)) : undefined),
    delete: (account, id) => (isStorable(id) ? guard.call(() => store.delete(account, id)) : false),
  }
}
