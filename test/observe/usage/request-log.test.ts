/** From the `x-request-id` of a response to what happened: every attempt, and requests that were refused. */
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, memoryUsageStore, type GatewayOptions, type UsageStore } from '../../../src/index.ts'
import { openai } from '../../../src/providers/openai/openai.ts'
import { defineProvider, finish, retrySame, text } from '../../../src/providers/index.ts'
import { hosted, vendorFor } from '../../hosted.ts'
import { plainUsageStore } from './record.ts'

const good = defineProvider({
  name: 'good',
  async *generate() {
    yield text('hello')
    yield finish('stop', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  },
})

const bad = defineProvider({
  name: 'bad',
  chat: () => {
    throw retrySame(new Error('secret detail of the vendor'))
  },
})

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function service(options: Partial<GatewayOptions> = {}) {
  let now = Date.UTC(2030, 0, 1)
  const gateway = createGateway({
    models: { m: good, fallback: { route: [{ provider: bad, providerModel: 'first' }, { provider: good }] } },
    keys: { 'sk-test': { account: 'acme', rate: { requests: '2/day' } }, 'sk-free': { account: 'free', tags: ['t'] } },
    usage: { record: true },
    retry: { backoffMs: 1 },
    clock: () => now,
    ...options,
  })
  const url = await hosted(gateway)
  const ask = async (key: string, fields: object = {}, headers: object = {}) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields }),
    })
    await response.text()
    return { status: response.status, id: response.headers.get('x-request-id') ?? '' }
  }
  const { usage } = gateway.admin
  const found = async (id: string) => {
    await expect.poll(() => usage.find(id)).toBeDefined()
    return usage.find(id)
  }
  const refused = async () => (await usage.list({ all: true, outcome: 'refused' })).items
  return { gateway, url, ask, found, refused, usage, pass: (ms: number) => (now += ms) }
}

test('the record of a request has every attempt, in order, without the message of the vendor', async () => {
  const { ask, found, usage } = await service()
  const { id } = await ask('sk-free', { model: 'fallback' })
  const record = await found(id)
  const attempt = { providerModel: 'first', provider: 'bad', outcome: 'failed', code: 'service_unavailable' }
  expect(record).toMatchObject({
    attempts: 3,
    attemptLog: [attempt, attempt, { provider: 'good', providerModel: 'fallback', outcome: 'succeeded' }],
  })
  for (const { startMs, ms } of record?.attemptLog ?? []) expect(Math.min(startMs, ms)).toBeGreaterThanOrEqual(0)
  expect(JSON.stringify(record)).not.toContain('secret')
  expect(await usage.find('req_unknown')).toBeUndefined()
})

test('an attempt whose response breaks off has failed', async () => {
  const breaking = defineProvider({
    name: 'breaking',
    async *generate() {
      yield text('hello')
      throw retrySame(new Error('it broke'))
    },
  })
  const { ask, found } = await service({ models: { m: breaking } })
  const { id, status } = await ask('sk-free', { stream: true })
  expect(status).toBe(200)
  const attempt = { provider: 'breaking', outcome: 'failed', code: 'service_unavailable' }
  expect(await found(id)).toMatchObject({ outcome: 'failed', attempts: 1, attemptLog: [attempt] })
})

test('an attempt has the status of the vendor', async () => {
  const vendor = await vendorFor((_, response) => void response.writeHead(429, { 'retry-after': '90' }).end('{}'))
  const models = { m: openai({ baseURL: vendor.baseURL, apiKey: 'k', name: 'vendor' }) }
  const { ask, found } = await service({ models })
  const { id } = await ask('sk-free')
  expect(await found(id)).toMatchObject({
    outcome: 'failed',
    attemptLog: [{ provider: 'vendor', outcome: 'failed', status: 429 }],
  })
})

test('refused requests are found with their code, and are not summed', async () => {
  const { ask, found, usage } = await service()
  const first = await ask('sk-test')
  await ask('sk-test')
  const limited = await ask('sk-test', { model: 'm', user: 'ada' }, { 'session-id': 's-1' })
  const unknown = await ask('sk-free', { model: 'none' })
  const invalid = await ask('sk-free', { messages: 'hi', stream: true })
  expect([limited.status, unknown.status, invalid.status]).toEqual([429, 404, 400])
  const common = {
    outcome: 'refused',
    attempts: 0,
    cost: '0',
    endpoint: 'chat.completions',
    startedAt: Date.UTC(2030, 0, 1),
  }
  expect(await found(limited.id)).toMatchObject({
    ...common,
    code: 'rate_limit_exceeded',
    account: 'acme',
    session: 's-1',
  })
  const missing = { ...common, code: 'model_not_found', account: 'free', model: 'none', tags: ['t'] }
  expect(await found(unknown.id)).toMatchObject(missing)
  expect(await found(invalid.id)).toMatchObject({ ...common, code: 'invalid_request_error' })
  expect(await found(first.id)).toMatchObject({ outcome: 'completed' })
  const { items } = await usage.list({ account: 'acme', session: 's-1', code: 'rate_limit_exceeded' })
  expect(items.map(({ id }) => id)).toEqual([limited.id])
  expect(await usage.statistics({ all: true, by: [] })).toMatchObject([{ requests: 2, incomplete: 0 }])
  await expect(usage.statistics({ all: true, by: [], outcome: 'refused' })).rejects.toMatchObject({ status: 400 })
})

test('a request of nobody known, and one that asks no model, are not recorded', async () => {
  const { ask, url, usage } = await service()
  expect((await ask('sk-wrong')).status).toBe(401)
  const headers = { authorization: 'Bearer sk-free' }
  expect((await fetch(`${url}/v1/models/none`, { headers })).status).toBe(404)
  expect((await fetch(`${url}/v1/none`, { headers })).status).toBe(404)
  expect((await fetch(`${url}/v1/chat/completions`, { headers })).status).toBe(405)
  const { id } = await ask('sk-free')
  await expect.poll(() => usage.find(id)).toBeDefined()
  expect((await usage.list({ all: true })).items.map((each) => each.id)).toEqual([id])
})

test('an account, and all together, have at most so many refused requests recorded in a minute', async () => {
  const keys = Object.fromEntries(['a', 'b', 'c'].map((account) => [`sk-${account}`, { account }]))
  const { ask, refused, pass } = await service({
    keys,
    usage: { record: true, refused: { perAccount: 2, perMinute: 5 } },
  })
  const flood = async () => {
    for (let round = 0; round < 6; round++) {
      for (const key of Object.keys(keys)) expect((await ask(key, { model: `none ${round}` })).status).toBe(404)
    }
  }
  await flood()
  await expect.poll(async () => (await refused()).length).toBe(5)
  expect((await refused()).map(({ account }) => account).sort()).toEqual(['a', 'a', 'b', 'b', 'c'])
  pass(60_000)
  await flood()
  await expect.poll(async () => (await refused()).length).toBe(10)
})

test.each<[string, Partial<GatewayOptions>]>([
  ['the option turns them off', { usage: { record: true, refused: false } }],
  ['the store of the host cannot keep them', { storage: { usage: plainUsageStore() } }],
])('no refused request is recorded if %s', async (_, options) => {
  const { ask, usage, gateway } = await service(options)
  expect((await ask('sk-free', { model: 'none' })).status).toBe(404)
  await ask('sk-free')
  const list = async () => (await usage.list({ all: true })).items
  await expect.poll(async () => (await list()).length).toBe(1)
  await gateway.close({ graceMs: 0 })
  expect((await list()).map(({ outcome }) => outcome)).toEqual(['completed'])
})

test('old refused requests are deleted, and no others', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { ask, found, refused, usage, pass, gateway } = await service({ storage: sqlite(database) })
  const served = await ask('sk-free')
  await found((await ask('sk-free', { model: 'none' })).id)
  await found(served.id)
  pass(7 * 86_400_000 + 1)
  await gateway.close({ graceMs: 0 })
  // Each process deletes them once at its start, and then every hour.
  const next = await service({ storage: sqlite(database), clock: () => Date.UTC(2030, 0, 9) })
  await next.ask('sk-free')
  await expect.poll(async () => (await refused()).length).toBe(0)
  expect(await usage.find(served.id)).toBeDefined()
})

test('an account is exported and erased with its refused requests', async () => {
  const { ask, found, gateway, usage } = await service()
  const { id } = await ask('sk-free', { model: 'none', user: 'ada' }, { 'session-id': 's-1' })
  expect(await found(id)).toMatchObject({ account: 'free', session: 's-1', tags: ['t'] })
  const items = await allOf(gateway.admin.export('free'))
  expect(items).toMatchObject([{ kind: 'key' }, { kind: 'usage', item: { id, outcome: 'refused' } }])
  const csv = (await allOf(gateway.admin.csv.usage({ account: 'free' }))).join('')
  expect(csv).toContain(`${id},`)
  expect(csv).toContain('refused,model_not_found')
  await gateway.admin.erase('free')
  expect((await usage.list({ account: 'free' })).items).toEqual([])
  const record = await usage.find(id)
  for (const field of ['key', 'user', 'session', 'tags']) expect(record).not.toHaveProperty(field)
  expect(record?.account).toMatch(/^anonymous_/)
})

test('the CSV of usage has each attempt', async () => {
  const { ask, found, gateway } = await service()
  await found((await ask('sk-free', { model: 'fallback' })).id)
  const csv = (await allOf(gateway.admin.csv.usage({ account: 'free' }))).join('')
  const attempt = String.raw`bad first failed service_unavailable [\d.]+-[\d.]+ ms`
  expect(csv).toMatch(new RegExp(`,${attempt}; ${attempt}; good fallback succeeded [\\d.]+-[\\d.]+ ms,`))
})

test('a usage store that fails neither delays a refused request nor loses it', async () => {
  const store = memoryUsageStore() as UsageStore & Required<Pick<UsageStore, 'appendRefused'>>
  let failures = 0
  const appendRefused = store.appendRefused.bind(store)
  store.appendRefused = async (records) => {
    if (failures++ < 2) throw new Error('the store is down')
    await appendRefused(records)
  }
  const { ask, found } = await service({ storage: { usage: store } })
  const { id, status } = await ask('sk-free', { model: 'none' })
  expect(status).toBe(404)
  expect(await found(id)).toMatchObject({ id, code: 'model_not_found' })
  expect(failures).toBe(3)
})
