import { checkKnown, count as atLeastOne } from '../../records/known-options.ts'
import { pageOf, readNumberCursor } from '../../records/page.ts'
import type { AuditEntry, AuditStore } from './contract.ts'
import { auditMatches, erasedEntry } from './filter.ts'

/** Options of `memoryAuditStore`. */
export interface MemoryAuditStoreOptions {
  /** Maximum number of entries; the oldest go first. Default 10,000. */
  readonly count?: number
}

/** An audit log in the memory of this process, which is lost on restart. */
export function memoryAuditStore(options: MemoryAuditStoreOptions = {}): AuditStore {
  checkKnown('memoryAuditStore', options, { count: atLeastOne })
  const { count = 10_000 } = options
  let entries: AuditEntry[] = []
  return {
    append(entry) {
      if (entry.number !== (entries.at(-1)?.number ?? 0) + 1) return false
      entries.push(entry)
      if (entries.length >= 2 * count) entries = entries.slice(-count)
      return true
    },
    last: () => entries.at(-1),
    list({ limit = 100, after, ...filter }) {
      const before = after === undefined ? Infinity : Number(readNumberCursor(after))
      const found = entries.filter((entry) => entry.number < before && auditMatches(entry, filter)).toReversed()
      return pageOf(found, limit, ({ number }) => String(number))
    },
    read: (after, limit) => entries.filter(({ number }) => number > after).slice(0, limit),
    erase(account, as) {
      const isOf = (entry: AuditEntry) => entry.account === account || entry.actor === account
      entries = entries.map((entry) => (isOf(entry) ? erasedEntry(entry, account, as) : entry))
      return false
    },
  }
}
