import { memoryResponseStore } from '../../src/responses/memory.ts'
import type { ResponseRecord, ResponseStore } from '../../src/responses/contract.ts'
import { testResponseStore } from '../../src/testing/response-store.ts'
import { plant, turn, type Fault } from './faults.ts'

const faults: Fault<ResponseStore>[] = [
  ['items are not found', () => ({ holding: () => undefined }), 'a record is found by each of its items'],
  [
    'the account is ignored',
    (store) => ({
      put: (record) => store.put({ ...record, account: '' }),
      get: (_, id) => store.get('', id),
    }),
    'another account cannot find or delete a record',
  ],
  [
    'put does not replace a record',
    (store) => ({
      async put(record) {
        if ((await store.get(record.account, record.id)) === undefined) await store.put(record)
      },
    }),
    'a second put replaces the record and its items',
  ],
  [
    'the items of a replaced record remain',
    (store) => {
      const items = new Map<string, string>()
      return {
        async put(record) {
          for (const item of record.items) items.set(record.account + item, record.id)
          await store.put(record)
        },
        holding: (account, item) => store.get(account, items.get(account + item) ?? ''),
      }
    },
    'a second put replaces the record and its items',
  ],
  [
    'delete reads, waits and then deletes',
    (store) => ({
      async delete(account, id) {
        const found = await store.get(account, id)
        await turn()
        await store.delete(account, id)
        return found !== undefined
      },
    }),
    'exactly one of many concurrent deletes returns true',
  ],
  [
    'only the last record of an item is remembered',
    (store) => {
      const last = new Map<string, string>()
      return {
        async put(record) {
          for (const item of record.items) last.set(record.account + item, record.id)
          await store.put(record)
        },
        async holding(account, item) {
          const record = await store.get(account, last.get(account + item) ?? '')
          return record?.items.includes(item) === true ? record : undefined
        },
      }
    },
    'an item of several records is found until the last of them is deleted',
  ],
  [
    'replace ignores the version',
    (store) => ({
      replace: async (record) => Boolean(await store.get(record.account, record.id)) && (await store.put(record), true),
    }),
    'replace takes only the next version, through every handle, and changes body and version',
  ],
  [
    'replace adds a record that was deleted',
    (store) => ({
      async replace(record) {
        if ((await store.get(record.account, record.id)) !== undefined) return store.replace(record)
        await store.put(record)
        return true
      },
    }),
    'replace changes nothing of a record without a version, of another account, or that was deleted',
  ],
  [
    'replace reads, waits and then writes',
    (store) => ({
      async replace(record) {
        const before = await store.get(record.account, record.id)
        await turn()
        if (before?.version !== (record.version ?? 0) - 1) return false
        await store.put(record)
        return true
      },
    }),
    'exactly one of many concurrent replaces of one version succeeds',
  ],
  [
    'accounts and ids are joined',
    (store) => {
      const joined = (account: string, id: string) => `${account}:${id}`
      return {
        put: (record) => store.put({ ...record, account: '', id: joined(record.account, record.id) }),
        async get(account, id) {
          const found = await store.get('', joined(account, id))
          return found && { ...found, account, id }
        },
      }
    },
    'records with different accounts or ids are separate, whatever characters these contain',
  ],
  [
    'deleteAll stops before the last record',
    (store) => ({
      async deleteAll(account) {
        const kept = await store.get(account, 'resp_249')
        await store.deleteAll?.(account)
        if (kept !== undefined) await store.put(kept)
        return false
      },
    }),
    'deleteAll deletes every record of an account with its items, and none of others',
  ],
  [
    'deleteAll leaves the index of items',
    (store) => {
      const gone = new Map<string, ResponseRecord | undefined>()
      return {
        async deleteAll(account) {
          gone.set(account, await store.holding(account, 'shared'))
          return (await store.deleteAll?.(account)) ?? false
        },
        holding: async (account, item) => (await store.holding(account, item)) ?? gone.get(account),
      }
    },
    'deleteAll deletes every record of an account with its items, and none of others',
  ],
  [
    'text is truncated at a NUL',
    (store) => ({ put: (record) => store.put({ ...record, body: record.body.split('\\u0000')[0] ?? '' }) }),
    'any text is returned byte for byte, whatever its length',
  ],
]

plant<ResponseStore>(testResponseStore, () => memoryResponseStore(), faults)
