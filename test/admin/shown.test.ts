/** A host's store may return more fields than the contract has. Administration shows none of them. */
import { expect, onTestFinished, test } from 'vitest'
import { createGateway, type GatewayOptions } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { sqlite } from '../../adapters/stores/sqlite/sqlite.ts'
import { usageRecord } from '../observe/usage/record.ts'

/** A value with one more field in each record of it. */
function widened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(widened)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [name, Array.isArray(field) ? widened(field) : field])
  return { ...Object.fromEntries(fields), own: 'of the store' }
}

/** A store whose methods return widened records. */
function widening<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method === 'object' && method !== null) return widening(method)
      if (typeof method !== 'function' || name === 'watch') return method
      return async (...values: unknown[]) => widened(await (method as (...given: unknown[]) => unknown)(...values))
    },
  })
}

test('views have no field that only the store knows', async () => {
  const { keys, ledger, usage, vendorKeys, close } = sqlite(':memory:')
  const storage: GatewayOptions['storage'] = {
    keys: widening(keys),
    ledger: widening(ledger),
    usage: widening(usage),
    vendorKeys: widening(vendorKeys),
    close,
  }
  const gateway = createGateway({
    models: { m: { provider: openai({ apiKey: 'host' }), price: { input: '1', output: '1' } } },
    billing: { currency: 'EUR' },
    ownKeys: { secrets: ['a secret of at least 32 characters'] },
    storage,
  })
  onTestFinished(() => gateway.close())
  const { admin } = gateway
  const account = 'acme'
  const opened = await admin.accounts.open({ id: account })
  await admin.accounts.topUp({ account, amount: '1', reference: 'order' })
  const { record } = await admin.keys.create({ account, group: 'default' })
  await usage.append([usageRecord({ id: 'req_1', account, cost: 5n })])
  const put = await admin.vendorKeys.put({ account, provider: 'openai', apiKey: 'sk-0123456789abcdef' })
  const shown = {
    opened,
    found: await admin.accounts.find(account),
    accounts: await admin.accounts.list(),
    entries: await admin.accounts.entries(account),
    keys: await admin.keys.list(account),
    search: await admin.keys.search(),
    revoked: await admin.keys.revoke(account, record.id),
    put,
    vendorKeys: await admin.vendorKeys.list(account),
    deleted: await admin.vendorKeys.delete(account, 'openai'),
    requests: await admin.usage.list({ account }),
    request: await admin.usage.find('req_1'),
    sums: await admin.usage.statistics({ account, by: ['model'] }),
  }
  for (const [view, value] of Object.entries(shown)) expect(JSON.stringify(value), view).not.toContain('of the store')
  expect(shown.requests.items).toHaveLength(1)
})
