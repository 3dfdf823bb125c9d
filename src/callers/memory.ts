import { pageOfKeys } from './search.ts'
import type { KeyRecord, KeyStore } from './contract.ts'

/** A key store in the memory of this process. Holds the keys of the options; what is added is lost on restart. */
export function memoryKeyStore(records: Iterable<KeyRecord> = []): KeyStore {
  const byHash = new Map<string, KeyRecord>()
  const hashOf = new Map<string, string>()
  const watchers = new Set<(hash: string) => void>()

  const put = (record: KeyRecord) => {
    byHash.set(record.hash, structuredClone(record))
    hashOf.set(record.id, record.hash)
    for (const changed of watchers) changed(record.hash)
  }
  for (const record of records) put(record)

  return {
    find: (hash) => byHash.get(hash),
    async insert(record) {
      if (byHash.has(record.hash) || hashOf.has(record.id)) return false
      put(record)
      return true
    },
    async update(record) {
      const hash = hashOf.get(record.id)
      const current = hash === undefined ? undefined : byHash.get(hash)
      if (current === undefined || current.version !== record.version - 1) return false
      put({ ...record, hash: current.hash })
      return true
    },
    async list(account) {
      const own = [...byHash.values()].filter((record) => record.account === account)
      return own.sort((left, right) => right.createdAt - left.createdAt).map((record) => structuredClone(record))
    },
    search: (question) => structuredClone(pageOfKeys([...byHash.values()], question)),
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
  }
}
