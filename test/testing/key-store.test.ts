import { describe } from 'vitest'
import type { KeyRecord, KeyStore } from '../../src/auth/contract.ts'
import { memoryKeyStore } from '../../src/auth/memory.ts'
import { testKeyStore } from '../../src/testing/key-store.ts'
import { plant, turn, type Fault } from './faults.ts'

const faults: Fault<KeyStore>[] = [
  [
    'find looks at the beginning of the hash',
    (store) => {
      const records: KeyRecord[] = []
      return {
        insert: async (record) => ((await store.insert?.(record)) ?? false) && records.push(record) > 0,
        find: async (hash) =>
          (await store.find(hash)) ?? records.find((record) => hash !== '' && record.hash.startsWith(hash)),
      }
    },
    'finds nothing under a hash that was never inserted, nor under a part of one',
  ],
  [
    'find drops the limits of a key',
    (store) => ({
      async find(hash) {
        const record = await store.find(hash)
        return (
          record &&
          (JSON.parse(
            JSON.stringify(record, (name, value: unknown) => (name === 'rate' ? undefined : value)),
          ) as KeyRecord)
        )
      },
    }),
    'finds a key as it was inserted',
  ],
  [
    'insert looks, waits and then writes',
    (store) => ({
      async insert(record) {
        const known = await store.find(record.hash)
        await turn()
        await store.insert?.(record)
        return known === undefined
      },
    }),
    'inserts once for an id and once for a hash',
  ],
  [
    'insert replaces a key of the same hash',
    (store) => {
      const replaced = new Map<string, KeyRecord>()
      return {
        async insert(record) {
          const inserted = (await store.insert?.(record)) ?? false
          if (!inserted && (await store.find(record.hash)) !== undefined) replaced.set(record.hash, record)
          return inserted
        },
        find: async (hash) => replaced.get(hash) ?? store.find(hash),
      }
    },
    'inserts once for an id and once for a hash',
  ],
  [
    'update asks for no version',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        if (current === undefined) return false
        await store.update?.({ ...record, version: current.version + 1 })
        return true
      },
    }),
    'replaces a record by the next version, and refuses every other',
  ],
  [
    'update looks, waits and then writes',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        await turn()
        if (current === undefined || current.version !== record.version - 1) return false
        await store.update?.(record)
        return true
      },
    }),
    'lets one of many updates of one version win',
  ],
  [
    'update keeps the fields that are gone',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        return (await store.update?.({ ...current, ...record })) ?? false
      },
    }),
    'replaces a record by the next version',
  ],
  [
    'list gives the keys of everybody',
    (store) => {
      const accounts = new Set<string>()
      return {
        insert: async (record) => (accounts.add(record.account), (await store.insert?.(record)) ?? false),
        list: async () => (await Promise.all([...accounts].map(async (account) => store.list?.(account) ?? []))).flat(),
      }
    },
    'lists the keys of an account, newest first, and no others',
  ],
  [
    'list gives the oldest first',
    (store) => ({ list: async (account) => (await store.list?.(account))?.toReversed() ?? [] }),
    'lists the keys of an account',
  ],
  ['watch tells nothing', () => ({ watch: () => () => undefined }), 'tells those who watch of every change'],
  [
    'watch tells of new keys only',
    (store) => {
      const seen = new Set<string>()
      return {
        watch: (changed) =>
          store.watch?.((hash) => {
            if (!seen.has(hash)) changed(hash)
            seen.add(hash)
          }) ?? (() => undefined),
      }
    },
    'tells those who watch of every change',
  ],
  [
    'watch has no end',
    (store) => ({ watch: (changed) => (store.watch?.(changed), () => undefined) }),
    'tells those who watch of every change',
  ],
  [
    'the caller’s own record is kept',
    () => {
      const kept = new Map<string, KeyRecord>()
      return { insert: async (record) => (kept.set(record.hash, record), true), find: (hash) => kept.get(hash) }
    },
    'is not changed by what is done to records',
  ],
]

describe('the suite of the key store finds that', () => {
  plant(testKeyStore, () => memoryKeyStore(), faults)
})
