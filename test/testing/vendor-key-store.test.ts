import { memoryVendorKeyStore, type VendorKeyStore } from '../../src/index.ts'
import { testVendorKeyStore } from '../../src/testing/index.ts'
import { plant, turn, type Fault } from './faults.ts'

const faults: Fault<VendorKeyStore>[] = [
  ['the hint is lost', (store) => ({ put: (record) => store.put({ ...record, hint: '' }) }), 'found unchanged'],
  [
    'put keeps the first key',
    (store) => ({
      async put(record) {
        const own = await store.list(record.account)
        if (!own.some(({ provider }) => provider === record.provider)) await store.put(record)
      },
    }),
    'a second put replaces the key',
  ],
  [
    'delete takes all keys of the account',
    (store) => ({ delete: ({ account }) => store.deleteAll(account) }),
    'delete removes one key',
  ],
  ['deleteAll does nothing', () => ({ deleteAll: () => undefined }), 'delete removes one key'],
  [
    'names are joined without a separator',
    (store) => ({
      put: (record) => store.put({ ...record, account: '', provider: record.account + record.provider }),
      list: async (account) =>
        (await store.list('')).flatMap((each) =>
          each.provider.startsWith(account)
            ? [{ ...each, account, provider: each.provider.slice(account.length) }]
            : [],
        ),
    }),
    'accounts and providers are separate',
  ],
  [
    'reseal does not look at the text',
    (store) => ({
      async reseal(record) {
        await store.put(record)
        return true
      },
    }),
    'reseal replaces the sealed text that it names',
  ],
  [
    'reseal brings back a deleted key',
    (store) => ({
      async reseal(record, before) {
        if (await store.reseal(record, before)) return true
        if ((await store.list(record.account)).length > 0) return false
        await store.put(record)
        return true
      },
    }),
    'reseal replaces the sealed text that it names',
  ],
  [
    'reseal reads, waits and then writes',
    (store) => ({
      async reseal(record, before) {
        const found = (await store.list(record.account)).find(({ provider }) => provider === record.provider)
        await turn()
        if (found?.sealed !== before) return false
        await store.put(record)
        return true
      },
    }),
    'exactly one of many concurrent reseals',
  ],
  [
    'pages begin with the last key',
    (store) => ({
      async page(after, limit) {
        const found = await store.page(after, limit - 1)
        return after === undefined || found.length === 0 ? found : [{ ...found[0], ...after } as never, ...found]
      },
    }),
    'pages have every key once',
  ],
  [
    'deletions leave the revision',
    (store) => {
      let puts = 0
      return {
        async put(record) {
          puts++
          await store.put(record)
        },
        revision: () => String(puts),
      }
    },
    'the revision is a new one',
  ],
  [
    'the revision changes before the key',
    (store) => {
      let puts = 0
      return {
        async put(record) {
          puts++
          await turn()
          await store.put(record)
        },
        revision: () => String(puts),
      }
    },
    'whoever sees a revision sees the change that made it',
  ],
]

plant<VendorKeyStore>(testVendorKeyStore, memoryVendorKeyStore, faults)
