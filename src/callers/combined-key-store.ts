import { cursorOf, pageOf } from '../records/page.ts'
import type { KeyStore } from './contract.ts'

/** Combines the keys of the options with a key store: reads the first store, then the second; writes to the second. */
export function combinedKeyStore(first: KeyStore, second: KeyStore): KeyStore {
  return {
    async find(hash) {
      return (await first.find(hash)) ?? second.find(hash)
    },
    async list(account) {
      const lists = await Promise.all([first.list?.(account), second.list?.(account)])
      return lists.flatMap((list) => list ?? []).sort((left, right) => right.createdAt - left.createdAt)
    },
    async search(question) {
      const { limit = 100 } = question
      const pages = await Promise.all([first.search?.(question), second.search?.(question)])
      const found = pages
        .flatMap((page) => page?.items ?? [])
        .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1))
      const { items, next } = pageOf(found, limit, (last) => cursorOf(last.createdAt, last.id))
      const isMore = next === undefined && pages.some((page) => page?.next !== undefined)
      const last = items.at(-1)
      return isMore && last !== undefined
        ? { items, next: cursorOf(last.createdAt, last.id) }
        : { items, ...(next !== undefined && { next }) }
    },
    async close() {
      await Promise.all([first.close?.(), second.close?.()])
    },
    ...(second.insert && { insert: async (record) => second.insert?.(record) ?? false }),
    ...(second.update && { update: async (record) => second.update?.(record) ?? false }),
    watch(changed) {
      const ends = [first.watch?.(changed), second.watch?.(changed)]
      return () => {
        for (const end of ends) end?.()
      }
    },
  }
}
