/** Anthropic's Message Batches, as its official client uses them. */
import Anthropic, { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import { anthropic, openai } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  memoryLedger,
  memoryTaskStore,
  memoryUsageStore,
  type CallCosts,
  type GatewayOptions,
} from '../../../src/index.ts'
import { publishedFailures } from '../../failures.ts'
import { hostedWith } from '../../hosted.ts'
import { expectSameAnswers, heldSubmission, watchedStore } from './held.ts'
import { batchVendor, succeeded } from './vendor.ts'

const price = { input: '2', output: '4' }

async function scene(more: Partial<GatewayOptions> = {}) {
  const vendor = await batchVendor()
  onTestFinished(() => vendor.close())
  const ledger = memoryLedger()
  const usage = memoryUsageStore()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  let time = Date.now()
  const provider = anthropic({ baseURL: vendor.baseURL })
  const options: GatewayOptions = {
    batches: true,
    keys: { 'sk-test': { account: 'acme' }, 'sk-other': { account: 'other' } },
    models: {
      claude: { provider, providerModel: 'claude-haiku-4-5', price, contextWindow: 200_000 },
      second: { provider, providerModel: 'claude-opus-4-5', price: { ...price, serviceTiers: { batch: '0.25' } } },
      narrow: { provider: anthropic({ baseURL: vendor.baseURL, streamBytes: 2_000 }), price },
      resold: { route: [{ provider, providerModel: 'claude-haiku-4-5', cost: { input: '1', output: '1' } }], price },
      chat: { provider: openai({ baseURL: vendor.baseURL }), price },
    },
    billing: { currency: 'USD' },
    clock: () => time,
    // Steps are those of requests, so that none is under way when a request asks.
    tasks: { sweepMs: 600_000 },
    ...more,
    storage: { ledger, usage, batches: memoryTaskStore(), ...more.storage },
  }
  const hosted = await hostedWith(options)
  const client = (apiKey: string) => new Anthropic({ baseURL: hosted.url, apiKey, maxRetries: 0 })
  /** Time passes until the next check. */
  const pass = (ms = 61_000) => void (time += ms)
  const [own, other] = [client('sk-test'), client('sk-other')]
  /** Time passes, and the vendor ends its batches, until this one has ended. */
  const untilEnded = async (id: string) => {
    const status = async () => {
      pass()
      vendor.end()
      return (await own.messages.batches.retrieve(id)).processing_status
    }
    await expect.poll(status).toBe('ended')
  }
  return { ...hosted, vendor, ledger, usage, pass, untilEnded, client: own, other }
}

const ask = (custom_id: string, params: object = {}) => ({
  custom_id,
  params: { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: custom_id }], ...params },
})

async function read<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

test('a batch is created, ends, and its results have the names of the client', async () => {
  const { client, vendor, pass, receipts, ledger, usage } = await scene()
  const made = await client.messages.batches.create({ requests: [ask('first'), ask('other', { model: 'second' })] })
  expect(made).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null })
  expect(made.id).toMatch(/^msgbatch_[\w-]{32}$/)
  expect(made.request_counts).toEqual({ processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 })
  const [sent] = vendor.batches
  expect(sent?.requests.map(({ params }) => params['model'])).toEqual(['claude-haiku-4-5', 'claude-opus-4-5'])
  expect((await ledger.account('acme'))?.held).toBeGreaterThan(0n)
  await expect(client.messages.batches.results(made.id)).rejects.toThrow('Has it finished processing?')

  vendor.end()
  pass()
  const ended = await client.messages.batches.retrieve(made.id)
  expect(ended).toMatchObject({ processing_status: 'ended', request_counts: { succeeded: 2, processing: 0 } })
  const results = await read(await client.messages.batches.results(made.id))
  expect(results.map(({ custom_id }) => custom_id)).toEqual(['other', 'first'])
  expect(results.map(({ result }) => result.type === 'succeeded' && result.message.model)).toEqual(['second', 'claude'])

  // 10 and 20 tokens: at half the price, and at the batch price of the model.
  const costs = receipts.map(({ id, charge }) => `${id.split('.')[1]} ${charge?.cost}`).sort()
  expect(costs).toEqual(['first 0.00005', 'other 0.000025'])
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 75n })
  const { items } = await usage.list({ account: 'acme', limit: 10 })
  expect(items.map(({ cost, endpoint }) => `${endpoint} ${cost}`).sort()).toEqual([
    'messages.batches 25',
    'messages.batches 50',
  ])
  expect(items.every(({ id }) => /^req_\w+\.(?:first|other)$/.test(id))).toBe(true)
})

test('receipts name the session and the agent of the request that created the batch', async () => {
  const { client, vendor, pass, receipts } = await scene()
  const headers = { 'session-id': 's-1', 'x-claude-code-agent-id': 'explorer' }
  const { id } = await client.messages.batches.create({ requests: [ask('first')] }, { headers })
  vendor.end()
  pass()
  await client.messages.batches.retrieve(id)
  expect(receipts).toMatchObject([{ account: 'acme', session: 's-1', agent: 'explorer' }])
})

test('telemetry has what each request costs the host', async () => {
  const costs: unknown[] = []
  const telemetry = [{ receipt: (_: object, of?: CallCosts) => void costs.push(of) }]
  const { client, vendor, pass } = await scene({ telemetry })
  const { id } = await client.messages.batches.create({ requests: [ask('a', { model: 'resold' })] })
  vendor.end()
  pass()
  await client.messages.batches.retrieve(id)
  expect(costs).toEqual([{ vendorCost: '0.000015', margin: '0.000035', currency: 'USD' }])
})

test('the results of a batch may be larger than any other response', async () => {
  const { client, vendor, pass, receipts } = await scene()
  const ids = Array.from({ length: 30 }, (_, index) => `request-${index}`)
  const { id } = await client.messages.batches.create({ requests: ids.map((each) => ask(each, { model: 'narrow' })) })
  vendor.end()
  pass()
  await client.messages.batches.retrieve(id)
  expect(await read(await client.messages.batches.results(id))).toHaveLength(30)
  expect(receipts).toHaveLength(30)
})

test('what did not succeed is released, and its error is in the words of the vendor', async () => {
  const { client, vendor, pass, ledger } = await scene()
  const made = await client.messages.batches.create({
    requests: ['succeeded', 'errored', 'canceled', 'expired'].map((type) => ask(type, { system: type })),
  })
  const error = { type: 'invalid_request_error', message: 'claude-haiku-4-5 has no such field, says req_abc123' }
  vendor.resultOf = (params) => {
    const type = String(params['system'])
    if (type === 'succeeded') return succeeded(params)
    return { type, ...(type === 'errored' && { error: { type: 'error', error } }) }
  }
  vendor.end()
  pass()
  await client.messages.batches.retrieve(made.id)
  const results = await read(await client.messages.batches.results(made.id))
  expect(results.map(({ result: { type } }) => type)).toEqual(['expired', 'canceled', 'errored', 'succeeded'])
  const errored = results[2]?.result
  expect(errored).toMatchObject({
    error: { error: { type: error.type, message: 'claude has no such field, says [removed]' } },
  })
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a cancelled batch is cancelled at the vendor, and released', async () => {
  const { client, vendor, pass, ledger } = await scene()
  const { id } = await client.messages.batches.create({ requests: [ask('a'), ask('b')] })
  expect(await client.messages.batches.cancel(id)).toMatchObject({ processing_status: 'canceling' })
  expect(vendor.batches[0]?.status).toBe('canceling')
  vendor.resultOf = () => ({ type: 'canceled' })
  vendor.end()
  pass()
  expect(await client.messages.batches.retrieve(id)).toMatchObject({
    processing_status: 'ended',
    request_counts: { canceled: 2 },
    cancel_initiated_at: expect.any(String),
  })
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
})

test('a batch that has ended before its cancellation reaches the vendor is charged', async () => {
  const { client, vendor, pass, ledger } = await scene()
  const { id } = await client.messages.batches.create({ requests: [ask('a')] })
  vendor.end()
  await client.messages.batches.cancel(id)
  pass()
  const ended = await client.messages.batches.retrieve(id)
  expect(ended).toMatchObject({ processing_status: 'ended', request_counts: { succeeded: 1 } })
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('batches are listed in pages, and deleted once they have ended, at the vendor too', async () => {
  const { client, vendor, pass } = await scene()
  const ids: string[] = []
  for (const id of ['a', 'b', 'c']) {
    ids.unshift((await client.messages.batches.create({ requests: [ask(id)] })).id)
    pass(1)
  }
  expect((await read(client.messages.batches.list({ limit: 2 }))).map(({ id }) => id)).toEqual(ids)
  const before = await client.messages.batches.list({ before_id: ids[2] as string, limit: 1 })
  expect(before.data.map(({ id }) => id)).toEqual([ids[1]])
  const odd = client.messages.batches.list({ before_id: ids[2] as string, after_id: 'no id' })
  await expect(odd).rejects.toThrow('must be the id of a batch')
  await expect(client.messages.batches.delete(ids[0] as string)).rejects.toThrow(BadRequestError)
  vendor.end()
  pass()
  await client.messages.batches.retrieve(ids[0] as string)
  expect(await client.messages.batches.delete(ids[0] as string)).toEqual({
    id: ids[0],
    type: 'message_batch_deleted',
  })
  await expect(client.messages.batches.retrieve(ids[0] as string)).rejects.toThrow(NotFoundError)
  expect(vendor.batches.map(({ deleted }) => deleted)).toEqual([true, false, false])
})

test('the ids of other accounts, unknown ids and deleted ones get the same 404', async () => {
  const { client, url } = await scene()
  const { id } = await client.messages.batches.create({ requests: [ask('a')] })
  const bodies = new Set<string>()
  for (const path of [id, 'msgbatch_unknown', '%00', `${id}/cancel`, `${id}/results`]) {
    const method = path.endsWith('cancel') ? 'POST' : 'GET'
    const headers = { 'x-api-key': 'sk-other' }
    const response = await fetch(`${url}/v1/messages/batches/${path}`, { method, headers })
    expect(response.status).toBe(404)
    bodies.add((await response.text()).replace(/req_\w+/, ''))
  }
  expect(bodies.size).toBe(1)
})

test('a repeated request with the same idempotency key is the same batch', async () => {
  const { client, vendor } = await scene()
  const headers = { 'idempotency-key': 'once' }
  const create = (id: string) => client.messages.batches.create({ requests: [ask(id)] }, { headers })
  const [first, second] = await Promise.all([create('a'), create('a')])
  expect((await create('a')).id).toBe(first.id)
  expect(second.id).toBe(first.id)
  expect(vendor.batches).toHaveLength(1)
  await expect(create('b')).rejects.toMatchObject({ status: 409 })
})

describe('a request that is repeated while the batch is submitted', () => {
  const headers = { 'idempotency-key': 'once' }

  test.each([
    ['accepts', undefined],
    ['refuses', 400],
    ['is too busy for', 429],
  ])('is answered as the first, if the vendor %s it', async (_, status) => {
    const { store, found } = watchedStore()
    const { client, vendor, ledger } = await scene({ storage: { batches: store } })
    const create = async () => client.messages.batches.create({ requests: [ask('a')] }, { headers })
    await expectSameAnswers(vendor, create, found, status)
    expect((await client.messages.batches.list()).data).toHaveLength(vendor.batches.length)
    if (status !== undefined) expect(await ledger.account('acme')).toMatchObject({ held: 0n })
  })

  test('is told of it after half a minute, and then finds it even if the vendor refuses it', async () => {
    const { client, vendor, pass } = await scene()
    const create = async () => client.messages.batches.create({ requests: [ask('a')] }, { headers })
    const { asked, answer } = heldSubmission(vendor, 400)
    const first = create()
    await asked
    pass(30_001)
    const { id, processing_status } = await create()
    expect(processing_status).toBe('in_progress')
    answer()
    await expect(first).rejects.toMatchObject({ status: 400 })
    expect(await client.messages.batches.retrieve(id)).toMatchObject({
      processing_status: 'ended',
      request_counts: { errored: 1 },
    })
  })
})

describe('a batch is refused as a whole', () => {
  test.each([
    [[ask('a'), ask('b', { model: 'none' })], 404, 'requests[1].params'],
    [[ask('a'), ask('b', { model: 'chat' })], 400, 'requests[1].params: The model "chat" is not available in batches.'],
    [[ask('a'), ask('a')], 400, 'requests[1].custom_id'],
    [[ask('a b')], 400, 'requests[0].custom_id'],
    [[ask('a', { max_tokens: 'many' })], 400, 'requests[0].params: Invalid value for "max_tokens"'],
    [[ask('a', { messages: [{ role: 'none', content: '' }] })], 400, 'messages[0].role'],
    [[ask('a', { stream: true })], 400, 'stream'],
    [[], 400, 'requests'],
    [
      [ask('a', { max_tokens: 190_000 }), ask('b', { max_tokens: 190_000 }), ask('c', { max_tokens: 190_000 })],
      429,
      '',
    ],
  ])('%j', async (requests, status, message) => {
    const { client, vendor, ledger } = await scene()
    const refused = client.messages.batches.create({ requests })
    const error = { error: { message: expect.stringContaining(message) } }
    await expect(refused).rejects.toMatchObject({ status, error })
    expect(vendor.batches).toEqual([])
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
  })

  test('by a cap that all requests together would break, and by the vendor', async () => {
    const caps = [{ name: 'daily', period: 'day', calls: 3 }] as const
    const { client, vendor, ledger } = await scene({ keys: { 'sk-test': { account: 'acme', caps } } })
    const four = ['a', 'b', 'c', 'd'].map((id) => ask(id))
    await expect(client.messages.batches.create({ requests: four })).rejects.toMatchObject({ status: 429 })
    expect(await ledger.account('acme')).toMatchObject({ held: 0n })
    await client.messages.batches.create({ requests: four.slice(0, 3) })
    expect(vendor.batches).toHaveLength(1)

    const { client: again, vendor: strict, ledger: books } = await scene()
    strict.reply = (_, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
    await expect(again.messages.batches.create({ requests: [ask('a')] })).rejects.toThrow(BadRequestError)
    expect(await books.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
    expect((await again.messages.batches.list()).data).toEqual([])
  })
})

test('a batch whose submission was broken off is found at the vendor, and not sent twice', async () => {
  const { client, vendor, untilEnded, ledger } = await scene({ tasks: { sweepMs: 5 } })
  vendor.before = ({ method, url }) => {
    if (method === 'POST' && url.endsWith('/batches')) throw new Error('broken off')
  }
  const { id } = await client.messages.batches.create({ requests: [ask('a')] })
  await untilEnded(id)
  expect(vendor.batches).toHaveLength(1)
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a batch that never reached the vendor is sent again, however long the vendor refuses it', async () => {
  const { client, vendor, untilEnded, ledger } = await scene({ tasks: { sweepMs: 5 } })
  const { reply } = vendor
  let refusals = 3
  vendor.reply = async (request, response) => {
    if (request.method !== 'POST') return reply(request, response)
    if (refusals === 3) response.destroy()
    else if (refusals > 0) response.writeHead(429, { 'content-type': 'application/json' }).end('{}')
    else return reply(request, response)
    refusals--
  }
  const { id } = await client.messages.batches.create({ requests: [ask('a')] })
  await untilEnded(id)
  expect(vendor.batches).toHaveLength(1)
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('results that keep breaking off, even when some are charged, are reported to the host', async () => {
  const failures = publishedFailures()
  const { client, vendor, untilEnded, ledger } = await scene({ tasks: { sweepMs: 5 } })
  const { reply } = vendor
  let breaks = 3
  vendor.reply = async (request, response) => {
    if (!request.url.endsWith('/results') || breaks-- <= 0) return reply(request, response)
    const { requests = [] } = vendor.batches[0] ?? {}
    response.writeHead(200, { 'content-type': 'application/x-jsonl' })
    const lines = requests.slice(0, 66).map(({ custom_id, params }) => ({ custom_id, result: succeeded(params) }))
    response.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), () => response.destroy())
  }
  const { id } = await client.messages.batches.create({
    requests: Array.from({ length: 70 }, (_, index) => ask(`r${index}`)),
  })
  await untilEnded(id)
  expect(failures).toHaveLength(1)
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 70n * 50n })
})

test('without the option there are no such paths, and with it the storage must keep batches', async () => {
  const { url } = await hostedWith({ models: {} })
  const response = await fetch(`${url}/v1/messages/batches`, { headers: { 'x-api-key': 'sk-test' } })
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('Unknown request URL')
  expect(() => createGateway({ models: {}, batches: true })).toThrow('batches: needs a storage')
})
