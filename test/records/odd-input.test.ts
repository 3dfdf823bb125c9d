/** Invalid input of clients and admin pages never reaches a store, where it would count as an outage for everyone. */
import { describe, expect, test } from 'vitest'
import { createGateway, memoryUsageStore, type GatewayOptions, type StorageBundle } from '../../src/index.ts'
import { defineProvider, finish, text } from '../../src/providers/index.ts'
import { everyBundle } from '../every-bundle.ts'
import { hosted } from '../hosted.ts'
import { storeTimeouts } from '../patience.ts'

const parrot = defineProvider({
  name: 'parrot',
  async *generate() {
    yield text('hello')
    yield finish('stop', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })
  },
})

const long = 'x'.repeat(10_000)
const oddTexts = ['a\0b', '\uD800', long]
const cursors = [
  'zzz',
  '[1]',
  '[1,2]',
  '["a","b"]',
  '{}',
  'null',
  '[1,"a\\u0000"]',
  '[1e999,"a"]',
  '99999999999999999999',
  '-1',
  '1e3',
  '',
]

const bundles: [string, boolean, () => Promise<StorageBundle> | StorageBundle][] = [
  ['Memory', true, () => ({ usage: memoryUsageStore() })],
  ...everyBundle().map(([kind, there, open]): [string, boolean, () => Promise<StorageBundle>] => [kind, there, open]),
]

describe.each(bundles)('%s', (_, there, open) => {
  const gatewayOf = async (options: Partial<GatewayOptions>) =>
    createGateway({
      models: { m: { provider: parrot, price: { input: '1', output: '1' } } },
      storage: await open(),
      timeouts: storeTimeouts,
      ...options,
    })

  test.skipIf(!there)('rejects every invalid admin argument with 400 and keeps serving valid ones', async () => {
    const gateway = await gatewayOf({ billing: { currency: 'CNY' } })
    const { accounts, keys, usage } = gateway.admin
    await accounts.topUp({ account: 'acme', amount: '1', reference: `r ${Math.random()}`.replace(' ', '-') })
    const invalid = [
      ...oddTexts.flatMap((odd) => [
        () => accounts.open({ id: 'acme', name: odd }),
        () => accounts.find(odd),
        () => accounts.list({ after: odd }),
        () => accounts.entries(odd),
        () => accounts.topUp({ account: 'acme', amount: '1', reference: odd }),
        () => accounts.topUp({ account: 'acme', amount: '1', reference: 'r', note: odd }),
        () => keys.create({ account: 'acme', group: 'default', name: odd }),
        () => keys.list(odd),
        () => usage.find(odd),
        () => usage.list({ account: odd }),
        () => usage.list({ account: 'acme', key: odd }),
        () => usage.statistics({ account: 'acme', model: odd, by: [] }),
      ]),
      ...[...cursors, ...oddTexts].flatMap((after) => [
        () => accounts.entries('acme', { after }),
        () => usage.list({ account: 'acme', after }),
      ]),
      () => keys.search({ after: '[1.5,"a"]' }),
      ...[0, -1, 1.5, NaN, 1_001, '5' as unknown as number].flatMap((limit) => [
        () => accounts.list({ limit }),
        () => accounts.entries('acme', { limit }),
        () => usage.list({ account: 'acme', limit }),
      ]),
      ...[NaN, Infinity, 1e300, '1' as unknown as number].flatMap((time) => [
        () => usage.list({ account: 'acme', from: time }),
        () => usage.statistics({ account: 'acme', to: time, by: [] }),
        () => usage.statistics({ account: 'acme', by: ['day'], offsetMinutes: time }),
      ]),
    ]
    for (const [index, send] of invalid.entries()) {
      const error: unknown = await send().catch((thrown: unknown) => thrown)
      expect([index, error]).toEqual([index, expect.objectContaining({ status: 400 })])
    }
    expect((await accounts.entries('acme', { limit: 1 })).items).toHaveLength(1)
    expect((await usage.list({ account: 'acme' })).items).toEqual([])
    await gateway.close()
  })

  test.skipIf(!there)('calls no store with an id or an account that it cannot keep', async () => {
    const account = { now: 'acme' }
    const gateway = await gatewayOf({ authenticate: () => ({ account: account.now, group: 'default' }) })
    const url = await hosted(gateway)
    const ask = async (path: string, body?: object) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return (await fetch(`${url}/v1${path}`, body && init)).status
    }
    for (const odd of oddTexts) {
      const id = encodeURIComponent(odd.toWellFormed())
      for (let time = 0; time < 6; time++) {
        expect(await ask(`/responses/${id}`)).toBe(404)
        expect(await ask(`/videos/${id}`)).toBe(404)
        expect(await ask(`/videos?after=${id}`)).toBe(400)
        const continued = { model: 'm', input: 'hi', previous_response_id: odd }
        expect([400, 404]).toContain(await ask('/responses', continued))
        const referring = { model: 'm', input: [{ type: 'item_reference', id: odd }] }
        expect([400, 404]).toContain(await ask('/responses', referring))
      }
      account.now = odd
      for (let time = 0; time < 6; time++) expect(await ask('/responses/resp_1')).toBe(503)
      account.now = 'acme'
    }
    expect(await ask('/responses', { model: 'm', input: 'hi' })).toBe(200)
    expect(await ask('/responses/resp_none')).toBe(404)
    await gateway.close()
  })
})
