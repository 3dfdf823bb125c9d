import { cursorOf } from '../records/page.ts'
import type { KeyStore } from './contract.ts'
import { newestFirst } from './search.ts'

/**
 * Combines the keys of the options with a key store: reads the first store, then the second; writes to the second. Can what the second
 * can.
 */
export function combinedKeyStore(first: KeyStore, second: KeyStore): KeyStore {
  return {
    async find(hash) {
      return (await first.find(hash)) ?? second.find(hash)
    },
    ...(second.list && {
      async list(account) {
        const lists = await Promise.all([first.list?.(account), second.list?.(account)])
        return lists.flatMap((list) => list ?? []).sort((left, right) => right.createdAt - left.createdAt)
      },
    }),
    ...(second.search && {
      async search(question) {
        const { limit = 100 } = question
        const pages = await Promise.all([first.search?.(question), second.search?.(question)])
        const found = pages.flatMap((page) => page?.items ?? []).sort(newestFirst)
        const items = found.slice(0, limit)
        const last = items.at(-1)
        const isMore = found.length > limit || pages.some((page) => page?.next !== undefined)
        return { items, ...(isMore && last !== undefined && { next: cursorOf(last.createdAt, last.id) }) }
      },
    }),
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
