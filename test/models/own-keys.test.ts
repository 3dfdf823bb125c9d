/** Callers' own keys at vendors: who pays, and that nobody else's key is ever used. */
import { describe, expect, test } from 'vitest'
import { GatewayError, type GatewayOptions } from 'modelhatch'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'
import type { Caller } from '../../src/callers/contract.ts'
import type { Model } from '../../src/models/contract.ts'
import { OwnKeys } from '../../src/models/own-keys.ts'
import type { Provider } from '../../src/providers/contract.ts'
import { chatAnswer, contentAnswer, messageAnswer } from '../providers/answers.ts'

const keyOf: Readonly<Record<string, string>> = { ada: 'key-of-ada', bob: 'key-of-bob' }

/** A vendor that answers keys except those that `refused` has. */
async function vendorWithout(refused: readonly string[] = []) {
  const keys: string[] = []
  const vendor = await vendorFor(({ url, headers }, response) => {
    const key = String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization).replace(
      'Bearer ',
      '',
    )
    keys.push(key)
    const answer = url.endsWith('/messages')
      ? messageAnswer
      : url.includes('generateContent')
        ? contentAnswer
        : chatAnswer
    response.writeHead(refused.includes(key) ? 401 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(refused.includes(key) ? { error: { message: 'no' } } : answer))
  })
  return { keys, vendor, baseURL: vendor.baseURL, origin: new URL(vendor.baseURL).origin }
}

const keys: GatewayOptions['keys'] = {
  'sk-ada': { account: 'ada' },
  'sk-bob': { account: 'bob' },
  'sk-eve': { account: 'eve' },
}
const credentials = ({ account }: { account: string }) => {
  const apiKey = keyOf[account]
  return apiKey === undefined ? undefined : { apiKey }
}
const as = (account: string, more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer sk-${account}`, 'content-type': 'application/json', ...more },
})

test("each caller's calls are made with its key, and those of others with the host's", async () => {
  const { keys: used, baseURL, vendor } = await vendorWithout()
  const headers = { authorization: 'Bearer host-header', 'x-secret': 'host' }
  const m = openai({ baseURL, apiKey: 'host', organization: 'org-host', project: 'p-host', headers })
  const { url, receipt } = await hostedWith({ keys, models: { m }, ownKeys: { credentials } })
  for (const account of ['ada', 'bob', 'eve']) expect((await askChat(url, {}, as(account))).status).toBe(200)
  expect(used).toEqual(['key-of-ada', 'key-of-bob', 'host-header'])
  expect((await receipt()).provider).toBe('openai/own-key')
  expect((await receipt()).provider).toBe('openai/own-key')
  expect((await receipt()).provider).toBe('openai')
  const sent = JSON.stringify(vendor.requests.slice(0, 2).map((request) => request.headers))
  expect(sent).not.toMatch(/host-header|org-host|p-host|x-secret/)
})

test('every vendor gets the key where it wants it', async () => {
  const { keys: used, baseURL, origin } = await vendorWithout()
  const models = {
    o: openai({ baseURL, apiKey: ['host', 'host2'] }),
    a: anthropic({ baseURL, apiKey: 'host' }),
    g: gemini({ baseURL: origin, apiKey: 'host' }),
    z: openai({ preset: 'azure', baseURL, apiKey: 'host', keyHeader: 'x-api-key' }),
  }
  const { url } = await hostedWith({ keys, models, ownKeys: { credentials } })
  for (const model of Object.keys(models)) expect((await askChat(url, { model }, as('ada'))).status).toBe(200)
  expect(used).toEqual(Array(4).fill('key-of-ada'))
})

describe('an own key that the vendor refuses', () => {
  const route = (baseURL: string) => ({
    m: {
      route: [{ provider: openai({ baseURL, apiKey: 'host' }) }, { provider: openai({ baseURL, apiKey: 'other' }) }],
    },
  })

  test("is never replaced by the host's", async () => {
    const { keys: used, baseURL } = await vendorWithout(['key-of-ada'])
    const { url } = await hostedWith({ keys, models: route(baseURL), ownKeys: { credentials } })
    for (let call = 0; call < 8; call++) expect((await askChat(url, {}, as('ada'))).status).toBe(503)
    expect(new Set(used)).toEqual(new Set(['key-of-ada']))
    used.length = 0
    // The breaker that its failures have opened is its own.
    expect((await askChat(url, {}, as('eve'))).status).toBe(200)
    expect(used).toEqual(['host'])
  })

  test("is replaced by the host's where the host says so, at the price of the model", async () => {
    const { keys: used, baseURL } = await vendorWithout(['key-of-ada'])
    const { url, receipt, gateway } = await hostedWith({
      keys,
      models: { m: { provider: openai({ baseURL, apiKey: 'host' }), price: { input: '1000000', output: '1000000' } } },
      billing: { currency: 'EUR' },
      ownKeys: { credentials: () => ({ apiKey: 'key-of-ada', fallback: true }), fee: '0.5' },
    })
    await gateway.admin.accounts.open({ id: 'ada', unlimited: true })
    expect((await askChat(url, { max_tokens: 5 }, as('ada'))).status).toBe(200)
    expect(used).toEqual(['key-of-ada', 'host'])
    expect(await receipt()).toMatchObject({ provider: 'openai', charge: { cost: '3' } })
  })
})

test('a call with an own key costs nothing, or what the host says, also without a balance', async () => {
  const { baseURL } = await vendorWithout()
  const m = { provider: openai({ baseURL, apiKey: 'host' }), price: { input: '1000000', output: '1000000' } }
  const options = { keys, models: { m }, billing: { currency: 'EUR' } }
  const free = await hostedWith({ ...options, ownKeys: { credentials } })
  for (const id of ['ada', 'eve']) await free.gateway.admin.accounts.open({ id })
  expect((await askChat(free.url, {}, as('ada'))).status).toBe(200)
  expect(await free.receipt()).toMatchObject({ charge: { cost: '0' } })
  expect((await askChat(free.url, {}, as('eve'))).status).toBe(429)
  const paid = await hostedWith({ ...options, ownKeys: { credentials, fee: '0.4' } })
  await paid.gateway.admin.accounts.open({ id: 'ada' })
  await paid.gateway.admin.accounts.topUp({ account: 'ada', amount: '1', reference: 'r' })
  const statuses: number[] = []
  for (let call = 0; call < 3; call++) statuses.push((await askChat(paid.url, {}, as('ada'))).status)
  expect(statuses).toEqual([200, 200, 429])
  expect(await paid.receipt()).toMatchObject({ charge: { cost: '0.4' } })
})

test('such a call costs a part of the price and a fee, which are held before and limited by caps', async () => {
  const { baseURL } = await vendorWithout()
  const m = { provider: openai({ baseURL, apiKey: 'host' }), price: { input: '0', output: '2000000' } }
  const { url, gateway, receipt } = await hostedWith({
    keys,
    models: { m },
    billing: { currency: 'EUR', caps: [{ name: 'day', period: 'day', money: '7' }] },
    ownKeys: { credentials, multiplier: '0.25', fee: '0.5' },
  })
  const { accounts } = gateway.admin
  await accounts.topUp({ account: 'ada', amount: '2.9', reference: 'r' })
  // At most 5 tokens at half a unit each, and the fee.
  expect((await askChat(url, { max_tokens: 5 }, as('ada'))).status).toBe(429)
  await accounts.topUp({ account: 'ada', amount: '97', reference: 's' })
  expect((await askChat(url, { max_tokens: 5 }, as('ada'))).status).toBe(200)
  const usage = chatAnswer.usage
  const cost = 0.25 * 2 * usage.completion_tokens + 0.5
  const { charge, provider } = await receipt()
  expect([provider, Number(charge?.cost)]).toEqual(['openai/own-key', cost])
  expect(charge?.lines).toContainEqual({ item: 'request', quantity: 1, per: 1, price: '0.5', amount: '0.5' })
  await expect.poll(async () => Number((await accounts.find('ada'))?.balance)).toBe(99.9 - cost)
  // The cap is nearer than the balance.
  expect((await askChat(url, { max_tokens: 20 }, as('ada'))).status).toBe(429)
})

test('a function that fails, or refuses, leaves the key of the host unused', async () => {
  const { keys: used, baseURL } = await vendorWithout()
  const models = { m: openai({ baseURL, apiKey: 'host' }) }
  const down = await hostedWith({
    keys,
    models,
    ownKeys: { credentials: () => Promise.reject(new Error('vault key-1')) },
  })
  const response = await askChat(down.url, {}, as('ada'))
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain('vault')
  const refusing = () => {
    throw new GatewayError('model_not_found', { message: 'Enter a key first.' })
  }
  const strict = await hostedWith({ keys, models, ownKeys: { credentials: refusing } })
  expect((await askChat(strict.url, {}, as('ada'))).status).toBe(404)
  const odd = await hostedWith({ keys, models, ownKeys: { credentials: () => ({ apiKey: 'line\nbreak' }) } })
  expect((await askChat(odd.url, {}, as('ada'))).status).toBe(503)
  expect(used).toEqual([])
})

test.each(['of a function', 'in the store'])(
  "an account that tries another's key %s every way gets its own",
  async (kept) => {
    const { keys: used, baseURL } = await vendorWithout()
    const m = openai({ baseURL, apiKey: 'host' })
    const ownKeys = kept === 'in the store' ? { secrets: ['a secret of at least 32 characters'] } : { credentials }
    const { url, gateway } = await hostedWith({ keys, models: { m, 'v/*': m }, ownKeys })
    if (kept === 'in the store')
      for (const [account, apiKey] of Object.entries(keyOf))
        await gateway.admin.vendorKeys.put({ account, provider: 'openai', apiKey })
    await askChat(url, { prompt_cache_key: 's', user: 'u' }, as('ada', { 'idempotency-key': 'i' }))
    expect(used.splice(0)).toEqual(['key-of-ada'])
    const tries: [object, Record<string, string>][] = [
      [{ prompt_cache_key: 's' }, {}],
      [{ prompt_cache_key: 's', user: 'u' }, { 'idempotency-key': 'i' }],
      [{ user: 'ada', metadata: { account: 'ada', user_id: 'ada' } }, {}],
      [{ account: 'ada', apiKey: 'key-of-ada', api_key: 'key-of-ada', key: 'key-of-ada' }, {}],
      [{ credentials: { account: 'ada' }, ownKey: 'ada', caller: { account: 'ada' } }, {}],
      [{ model: 'v/m' }, {}],
      [{ model: 'm/own-key' }, {}],
      [{ model: 'openai/own-key' }, {}],
      [{}, { 'x-api-key': 'key-of-ada', 'api-key': 'key-of-ada', 'x-goog-api-key': 'key-of-ada' }],
      [{}, { 'x-account': 'ada', 'x-user-id': 'ada', 'openai-organization': 'ada', 'openai-project': 'ada' }],
      [{}, { 'x-session-id': 's', 'x-session-affinity': 's', 'x-grok-conv-id': 's' }],
      [{}, { 'x-modelhatch-affinity': 'ada', 'x-modelhatch-account': 'ada', forwarded: 'for=ada' }],
    ]
    for (const [body, headers] of tries) {
      await askChat(url, body, as('bob', headers))
      await askChat(url, body, as('eve', headers))
    }
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter((key) => key.includes('ada'))).toEqual([])
    expect(new Set(used)).toEqual(new Set(['key-of-bob', 'host']))
  },
)

test('the registry of the host knows who asks', async () => {
  const { keys: used, baseURL } = await vendorWithout()
  const providers = new Map(Object.entries(keyOf).map(([account, apiKey]) => [account, openai({ baseURL, apiKey })]))
  const { url } = await hostedWith({
    keys,
    models: {
      find: (id, caller) => {
        const provider = providers.get(caller?.account ?? '')
        const deployments = provider && [{ provider, model: id, order: 0, weight: 1 }]
        return deployments && { id, created: 0, ownedBy: 'me', deployments }
      },
      list: () => [],
    },
  })
  expect((await askChat(url, {}, as('bob'))).status).toBe(200)
  expect((await askChat(url, {}, as('eve'))).status).toBe(404)
  expect(used).toEqual(['key-of-bob'])
})

test('providers of a registry that makes new ones for each request do not pile up', async () => {
  let closed = 0
  const own = new OwnKeys({ credentials })
  const made = (name: string): Provider => ({
    name,
    withKey: () => ({ name: `${name}/own-key`, close: async () => void closed++ }),
  })
  const caller = { account: 'ada', group: 'default' } as Caller
  for (let call = 0; call < 1_100; call++) {
    const deployments = [{ provider: made('p'), model: 'v', order: 0, weight: 1 }]
    await own.modelFor({ id: 'm', deployments } as unknown as Model, caller)
  }
  await own.close()
  expect(closed).toBe(1_000)
})
