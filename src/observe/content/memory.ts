import { checkKnown, count as atLeastOne } from '../../records/known-options.ts'
import { comparing } from '../../records/compare.ts'
import { cursorOf, pageOf, readCursor } from '../../records/page.ts'
import type { ContentKey, ContentKeyStore, ContentOwner, ContentRecord, ContentStore } from './contract.ts'

/** Options of `memoryContentStore`. */
export interface MemoryContentStoreOptions {
  /** Maximum bytes of the content; the oldest goes first. Default 64 MiB. */
  readonly maxBytes?: number
}

const inOrder = comparing<'at' | 'id'>(['at', 'id'])

/** Content in the memory of this process, which is lost on restart. */
export function memoryContentStore(options: MemoryContentStoreOptions = {}): ContentStore {
  checkKnown('memoryContentStore', options, { maxBytes: atLeastOne })
  const { maxBytes = 64 * 1024 * 1024 } = options
  const records = new Map<string, ContentRecord>()
  let size = 0
  const remove = ({ id, body }: ContentRecord): void => {
    if (records.delete(id)) size -= body.length
  }
  return {
    append(added) {
      for (const record of added) {
        if (records.has(record.id)) continue
        records.set(record.id, record)
        size += record.body.length
      }
      for (const oldest of records.values()) {
        if (size <= maxBytes) break
        remove(oldest)
      }
    },
    get: (id) => records.get(id),
    list({ account, session, limit = 100, after }) {
      const [at, id] = after === undefined ? [-Infinity, ''] : readCursor(after)
      const found = [...records.values()].filter(
        (each) =>
          each.account === account &&
          (session === undefined || each.session === session) &&
          (each.at > at || (each.at === at && each.id > id)),
      )
      return pageOf(found.sort(inOrder).slice(0, limit + 1), limit, (last) => cursorOf(last.at, last.id))
    },
    erase(account, user) {
      for (const record of records.values()) if (isOf(record, account, user)) remove(record)
      return false
    },
    removeBefore(day, most) {
      const old = [...records.values()].filter((record) => record.day < day).slice(0, most)
      for (const record of old) remove(record)
      return old.length
    },
  }
}

/** Keys of content in the memory of this process: a restart destroys them, and with them the content of all stores. */
export function memoryContentKeyStore(): ContentKeyStore {
  const keys = new Map<string, ContentKey>()
  return {
    claim: (claimed) =>
      claimed.map((key) => {
        if (!keys.has(key.id)) keys.set(key.id, key)
        return keys.get(key.id) as ContentKey
      }),
    find: (ids) => ids.map((id) => keys.get(id)).filter((key) => key !== undefined),
    page(after = '', limit) {
      const ids = [...keys.keys()].filter((id) => id > after).sort()
      return ids.slice(0, limit).map((id) => keys.get(id) as ContentKey)
    },
    reseal({ id, sealed }, before) {
      const known = keys.get(id)
      if (known?.sealed !== before) return false
      keys.set(id, { ...known, sealed })
      return true
    },
    erase(account, user) {
      for (const key of keys.values()) if (isOf(key, account, user)) keys.delete(key.id)
      return false
    },
    removeBefore(day, most) {
      const old = [...keys.values()].filter((key) => key.day < day).slice(0, most)
      for (const { id } of old) keys.delete(id)
      return old.length
    },
  }
}

function isOf(owner: ContentOwner, account: string, user: string | undefined): boolean {
  return owner.account === account && (user === undefined || owner.user === user)
}
