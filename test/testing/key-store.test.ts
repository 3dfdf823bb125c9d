import { describe } from 'vitest'
import type { KeyRecord, KeyStore } from '../../src/callers/contract.ts'
import { memoryKeyStore } from '../../src/callers/memory.ts'
import { testKeyStore } from '../../src/testing/key-store.ts'
import { plant, turn, type Fault } from './faults.ts'

const faults: Fault<KeyStore>[] = [
  [
    'find compares only the beginning of the hash',
    (store) => {
      const records: KeyRecord[] = []
      return {
        insert: async (record) => ((await store.insert?.(record)) ?? false) && records.push(record) > 0,
        find: async (hash) =>
          (await store.find(hash)) ?? records.find((record) => hash !== '' && record.hash.startsWith(hash)),
      }
    },
    'finds nothing for an unknown hash or a part of a hash',
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
    'finds a key by its hash, with all fields as inserted',
  ],
  [
    'insert reads, waits and then writes',
    (store) => ({
      async insert(record) {
        const known = await store.find(record.hash)
        await turn()
        await store.insert?.(record)
        return known === undefined
      },
    }),
    'rejects a second insert of the same id or the same hash',
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
    'rejects a second insert of the same id or the same hash',
  ],
  [
    'update ignores the version',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        if (current === undefined) return false
        await store.update?.({ ...record, version: current.version + 1 })
        return true
      },
    }),
    'update accepts only the next version',
  ],
  [
    'update reads, waits and then writes',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        await turn()
        if (current === undefined || current.version !== record.version - 1) return false
        await store.update?.(record)
        return true
      },
    }),
    'exactly one of many concurrent updates of one version succeeds',
  ],
  [
    'update keeps fields that the new version omits',
    (store) => ({
      async update(record) {
        const current = await store.find(record.hash)
        return (await store.update?.({ ...current, ...record })) ?? false
      },
    }),
    'update accepts only the next version',
  ],
  [
    'list returns the keys of all accounts',
    (store) => {
      const accounts = new Set<string>()
      return {
        insert: async (record) => (accounts.add(record.account), (await store.insert?.(record)) ?? false),
        list: async () => (await Promise.all([...accounts].map(async (account) => store.list?.(account) ?? []))).flat(),
      }
    },
    'lists only the keys of an account, newest first',
  ],
  [
    'search returns keys of one account only',
    (store) => ({
      search: async (question) => {
        const page = await store.search?.({ ...question, limit: 1_000 })
        const items = page?.items.filter(({ account }) => account === page.items[0]?.account) ?? []
        return { items: items.slice(0, question.limit ?? 100) }
      },
    }),
    'search selects keys of all accounts by each of their properties',
  ],
  [
    'a revoked key counts as expired too',
    (store) => ({
      search: async (question) => {
        if (question.state !== 'expired') return (await store.search?.(question)) ?? { items: [] }
        const { state: _, ...rest } = question
        const page = await store.search?.(rest)
        return { items: page?.items.filter(({ expiresAt = Infinity }) => expiresAt <= question.now) ?? [] }
      },
    }),
    'search selects keys of all accounts by each of their properties',
  ],
  [
    'search compares texts with case',
    (store) => ({
      search: async ({ text, ...question }) => {
        const page = await store.search?.({ ...question, limit: 1_000 })
        const has = (record: KeyRecord) =>
          [record.id, record.account, record.name, record.user].some((each) => each?.includes(text ?? ''))
        return { ...page, items: page?.items.filter(has) ?? [] }
      },
    }),
    'search selects keys of all accounts by each of their properties',
  ],
  [
    'search takes a text as a pattern',
    (store) => ({
      search: async ({ text, ...question }) => {
        if (text === undefined) return (await store.search?.(question)) ?? { items: [] }
        const page = await store.search?.({ ...question, limit: 1_000 })
        const pattern = new RegExp(
          text
            .replace(/[^\w %]/g, '.')
            .replaceAll('%', '.*')
            .replaceAll('_', '.'),
          'i',
        )
        return { items: page?.items.filter((record) => pattern.test(`${record.name} ${record.id}`)) ?? [] }
      },
    }),
    'search takes texts literally, whatever characters they contain',
  ],
  [
    'pages of search continue by time alone',
    (store) => ({
      search: async (question) => {
        const { after, limit = 100, ...rest } = question
        const page = await store.search?.({ ...rest, limit: 1_000 })
        const older = page?.items.filter(({ createdAt }) => after === undefined || createdAt < Number(after)) ?? []
        const items = older.slice(0, limit)
        return { items, ...(older.length > limit && { next: String(items.at(-1)?.createdAt) }) }
      },
    }),
    'pages of search neither repeat nor omit a key while others are added',
  ],
  [
    'search does not observe updates',
    (store) => {
      const firsts = new Map<string, KeyRecord>()
      return {
        insert: async (record) => (firsts.set(record.id, record), (await store.insert?.(record)) ?? false),
        search: async (question) => {
          const { user, ...rest } = question
          const page = await store.search?.({ ...rest, limit: 1_000 })
          const items = page?.items.map((item) => firsts.get(item.id) ?? item) ?? []
          return { items: items.filter((item) => user === undefined || item.user === user) }
        },
      }
    },
    'search observes every insert and update, also of another process',
  ],
  [
    'watch reports nothing',
    () => ({ watch: () => () => undefined }),
    'watch reports every change, also by another process, within a second',
  ],
  [
    'watch reports new keys only',
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
    'watch reports every change, also by another process, within a second',
  ],
  [
    'watch cannot be stopped',
    (store) => ({ watch: (changed) => (store.watch?.(changed), () => undefined) }),
    'watch reports every change, also by another process, within a second',
  ],
  [
    'the record of the caller is stored without copying',
    () => {
      const kept = new Map<string, KeyRecord>()
      return { insert: async (record) => (kept.set(record.hash, record), true), find: (hash) => kept.get(hash) }
    },
    'is not affected by later changes to records passed in or returned',
  ],
]

describe('the suite of the key store finds that', () => {
  plant(testKeyStore, () => memoryKeyStore(), faults)
})
