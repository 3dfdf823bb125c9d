/** Answers to equal requests from the cache: which are equal, who shares them, what they cost, and how many calls are made. */
import {
  memoryIdempotencyStore,
  memoryLedger,
  memoryUsageStore,
  type CacheOptions,
  type GatewayOptions,
} from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { everyBundle } from '../../every-bundle.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }

/** Counts its answers. */
function numbered(gate?: Promise<void>): VendorReply {
  let count = 0
  return async ({ json, url }, response) => {
    const number = ++count
    await gate
    const { stream } = json as { stream?: boolean }
    if (url.endsWith('/embeddings')) {
      response.setHeader('content-type', 'application/json')
      const data = [{ object: 'embedding', index: 0, embedding: [number] }]
      return void response.end(
        JSON.stringify({ object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
      )
    }
    if (stream !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', content: `answer ${number}` }, finish_reason: 'stop' }]
      response.setHeader('content-type', 'application/json')
      return void response.end(
        JSON.stringify({ id: `c${number}`, object: 'chat.completion', created: 1, model: 'm', choices, usage }),
      )
    }
    response.setHeader('content-type', 'text/event-stream')
    for (const content of ['answer ', String(number)])
      response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
      )
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
    )
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`,
    )
    response.end('data: [DONE]\n\n')
  }
}

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], temperature: 0 }

/** A tool whose schema has a long number. */
function limit(digits: string) {
  const parameters = { type: 'object', minimum: JSON.rawJSON(digits) }
  return { tools: [{ type: 'function', function: { name: 'f', parameters } }] }
}

async function world(cache: CacheOptions | undefined, options: Partial<GatewayOptions> = {}, reply = numbered()) {
  const vendor = await vendorFor(reply)
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k' })
  const hosted = await hostedWith({
    models: {
      m: { provider, aliases: ['alias'], allow: ['web_search_options'], price: { input: '100000', output: '100000' } },
      other: { provider },
    },
    ...(cache && { cache }),
    ...options,
  })
  const ask = async (body: object | string = question, headers: object = {}, path = '/v1/chat/completions') => {
    const response = await fetch(`${hosted.url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    const from = response.headers.get('x-modelhatch-cache')
    return {
      status: response.status,
      text,
      from,
      id: response.headers.get('x-request-id'),
      answer: /answer \d+/.exec(text)?.[0],
    }
  }
  return { ...hosted, vendor, ask }
}

describe('equal requests', () => {
  test('are answered by one call, byte for byte, each with an id and a receipt of its own', async () => {
    const { ask, vendor, receipt } = await world({})
    const [first, second] = [await ask(), await ask()]
    expect([first.from, second.from]).toEqual(['miss', 'hit'])
    expect(second.text).toBe(first.text)
    expect(second.id).not.toBe(first.id)
    expect(vendor.requests).toHaveLength(1)
    const [called, cached] = [await receipt(), await receipt()]
    expect(called).not.toHaveProperty('cached')
    expect(cached).toMatchObject({
      id: second.id,
      attempts: 0,
      cached: 0,
      usage,
      usageSource: 'reported',
      provider: 'openai',
    })
  })

  test('may differ in the order of their fields, in white space, and in what says who asks', async () => {
    const { ask, vendor } = await world({})
    await ask({
      ...question,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    })
    const same = `{"temperature": 0, "user": "eve", "metadata": {"a": "b"},
      "response_format": {"json_schema": {"schema": {"type": "object"}, "name": "a"}, "type": "json_schema"},
      "messages": [{"content": "Hi", "role": "user"}], "model": "m"}`
    expect((await ask(same)).from).toBe('hit')
    expect(vendor.requests).toHaveLength(1)
  })

  test.each([
    ['words', { messages: [{ role: 'user', content: 'Hi!' }] }],
    ['another limit', { max_tokens: 5 }],
    ['a stream', { stream: true }],
    ['another model', { model: 'other' }],
    ['another name of the model, which the answer repeats', { model: 'alias' }],
    ['a list in place of an object', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    ['digits that a parser would drop', limit('12345678901234567891')],
  ])('do not differ in %s', async (_, change) => {
    const { ask } = await world({})
    const base = 'tools' in change ? { ...question, ...limit('12345678901234567890') } : question
    await ask(base)
    expect((await ask({ ...base, ...change })).from).toBe('miss')
    expect((await ask({ ...base, ...change })).from).toBe('hit')
  })

  test('that stream are answered by streams', async () => {
    const { ask, vendor } = await world({})
    const body = { ...question, stream: true, stream_options: { include_usage: true } }
    const [first, second] = [await ask(body), await ask(body)]
    expect([first.from, second.from]).toEqual(['miss', 'hit'])
    expect(second.text).toBe(first.text)
    expect(second.text).toContain('data: [DONE]')
    expect(vendor.requests).toHaveLength(1)
  })

  test('of embeddings are always the same', async () => {
    const { ask, vendor } = await world({})
    const body = { model: 'm', input: 'Hi' }
    const first = await ask(body, {}, '/v1/embeddings')
    expect(await ask(body, {}, '/v1/embeddings')).toMatchObject({ from: 'hit', text: first.text })
    expect(vendor.requests).toHaveLength(1)
  })
})

describe('the cache is not used', () => {
  test.each([
    ['without the option', undefined, question, {}],
    ['without temperature 0', {}, { ...question, temperature: 0.5 }, {}],
    ['for hosted tools', {}, { ...question, web_search_options: {} }, {}],
    ['if the client says so', {}, question, { 'x-modelhatch-cache': 'none' }],
    ['unless the client asks for it, where it has to', { when: 'asked' }, question, {}],
    ['for two fields of one name', {}, JSON.stringify(question).replace('"role"', '"role":"user","role"'), {}],
  ] as const)('%s', async (_, cache, body, headers) => {
    const { ask, vendor } = await world(cache)
    expect([(await ask(body, headers)).from, (await ask(body, headers)).from]).toEqual([null, null])
    expect(vendor.requests).toHaveLength(2)
  })

  test('with an Idempotency-Key, which has its own rules', async () => {
    const { ask, vendor } = await world({})
    await ask()
    const keyed = await ask(question, { 'idempotency-key': 'a' })
    expect(keyed).toMatchObject({ from: null, answer: 'answer 2' })
    expect((await ask(question, { 'idempotency-key': 'a' })).answer).toBe('answer 2')
    expect((await ask()).answer).toBe('answer 1')
    expect(vendor.requests).toHaveLength(2)
  })

  test('for stored responses', async () => {
    const { ask } = await world({})
    const body = { model: 'm', input: 'Hi', temperature: 0 }
    expect((await ask(body, {}, '/v1/responses')).from).toBe(null)
    expect((await ask({ ...body, store: false }, {}, '/v1/responses')).from).toBe('miss')
    expect((await ask({ ...body, store: false }, {}, '/v1/responses')).from).toBe('hit')
  })
})

test('a client may ask for it', async () => {
  const { ask, vendor } = await world({ when: 'asked' })
  const use = { 'x-modelhatch-cache': 'use' }
  const warm = { ...question, temperature: 1 }
  expect([(await ask(warm, use)).from, (await ask(warm, use)).from]).toEqual(['miss', 'hit'])
  expect(vendor.requests).toHaveLength(1)
})

describe('other accounts', () => {
  const keys = {
    'sk-test': { account: 'a', group: 'one' },
    'sk-b': { account: 'b', group: 'one' },
    'sk-c': { account: 'c', group: 'two' },
  }
  const groups = { one: { models: '*' }, two: { models: ['m'] } } as const
  const as = (key: string) => ({ authorization: `Bearer ${key}` })

  test('have their own answers', async () => {
    const { ask } = await world({}, { keys, groups })
    await ask()
    expect((await ask(question, as('sk-b'))).from).toBe('miss')
  })

  test('share them within a group if the host says so, never across groups', async () => {
    const { ask } = await world({ share: 'group' }, { keys, groups })
    await ask()
    expect(await ask(question, as('sk-b'))).toMatchObject({ from: 'hit', answer: 'answer 1' })
    expect((await ask(question, as('sk-c'))).from).toBe('miss')
  })

  test('with no right to the model get no answer', async () => {
    const { ask } = await world({ share: 'group' }, { keys, groups })
    await ask({ ...question, model: 'other' })
    expect((await ask({ ...question, model: 'other' }, as('sk-c'))).status).toBe(404)
  })
})

test.each([
  [undefined, '0'],
  [0.25, '0.75'],
  [1, '3'],
])('an answer costs by the policy %s: %s', async (charge, cost) => {
  const ledger = memoryLedger()
  const usage = memoryUsageStore()
  const { ask, receipt, gateway, vendor } = await world(charge === undefined ? {} : { charge }, {
    storage: { ledger, usage },
    billing: { currency: 'EUR', unpriced: 'free' },
    keys: { 'sk-test': { account: 'a' } },
  })
  await gateway.admin.accounts.topUp({ account: 'a', amount: '1000000', reference: 't1' })
  await ask()
  await ask()
  expect((await receipt()).charge?.cost).toBe('3')
  expect((await receipt()).charge?.cost).toBe(cost)
  expect(vendor.requests).toHaveLength(1)
  // The host pays its vendor nothing for it.
  await expect
    .poll(async () => (await gateway.admin.usage.list({ account: 'a' })).items.map(({ cost: each }) => each).toSorted())
    .toEqual([cost, '3'].toSorted())
  await expect
    .poll(async () => Number((await gateway.admin.accounts.find('a'))?.balance))
    .toBe(1_000_000 - 3 - Number(cost))
})

describe('many equal requests at once', () => {
  test('500 make one call', async () => {
    const gate = Promise.withResolvers<void>()
    const { ask, vendor } = await world({}, {}, numbered(gate.promise))
    const asked = Array.from({ length: 500 }, () => ask())
    await expect.poll(() => vendor.requests.length).toBe(1)
    gate.resolve()
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ answer }) => answer))).toEqual(new Set(['answer 1']))
    expect(answers.filter(({ from }) => from === 'hit')).toHaveLength(499)
    expect(vendor.requests).toHaveLength(1)
  })

  test('so do 200 that stream', async () => {
    const gate = Promise.withResolvers<void>()
    const { ask, vendor } = await world({}, {}, numbered(gate.promise))
    const asked = Array.from({ length: 200 }, () => ask({ ...question, stream: true }))
    await expect.poll(() => vendor.requests.length).toBe(1)
    gate.resolve()
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(vendor.requests).toHaveLength(1)
  })

  test('ask on their own if the one call fails, and the failure is not kept', async () => {
    let count = 0
    const gate = Promise.withResolvers<void>()
    const good = numbered()
    const { ask, vendor } = await world({}, {}, async (request, response) => {
      if (++count > 1) return good(request, response)
      await gate.promise
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    })
    const asked = [ask(), ask(), ask()]
    await expect.poll(() => vendor.requests.length).toBe(1)
    gate.resolve()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 200, 400])
    expect((await ask()).status).toBe(200)
  })

  test('go on when the first client leaves', async () => {
    const gate = Promise.withResolvers<void>()
    const { url, ask, vendor } = await world({}, {}, numbered(gate.promise))
    const leaving = new AbortController()
    const first = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(question),
      signal: leaving.signal,
    }).catch(() => undefined)
    await expect.poll(() => vendor.requests.length).toBe(1)
    const second = ask()
    leaving.abort()
    await first
    gate.resolve()
    expect((await second).status).toBe(200)
  })
})

test('answers of an erased account are gone', async () => {
  const { ask, gateway } = await world({}, { keys: { 'sk-test': { account: 'a' } } })
  await ask()
  expect((await ask()).from).toBe('hit')
  await gateway.admin.erase('a')
  expect((await ask()).from).toBe('miss')
})

test('an answer is used for its time, and not kept if it is too large', async () => {
  let now = 1_000
  const { ask } = await world({ ttlMs: 100 }, { clock: () => now })
  await ask()
  now += 99
  expect((await ask()).from).toBe('hit')
  now += 2
  expect((await ask()).from).toBe('miss')
  const small = await world({ maxBytes: 10 })
  await small.ask()
  expect((await small.ask()).status).toBe(200)
  expect(small.vendor.requests).toHaveLength(2)
})

test('a store that is down costs a call, not an answer', async () => {
  const store = {
    ...memoryIdempotencyStore(),
    begin() {
      throw new Error('down')
    },
  }
  const { ask, vendor } = await world({ store })
  expect((await ask()).status).toBe(200)
  expect((await ask()).status).toBe(200)
  expect(vendor.requests).toHaveLength(2)
})

describe.each(everyBundle())('with %s', (_, available, open) => {
  test.skipIf(!available)('answers are shared by processes', async () => {
    const first = await world({}, { storage: await open() })
    const second = await world({}, { storage: await open() })
    const streamed = { ...question, stream: true }
    expect((await first.ask()).from).toBe('miss')
    expect((await first.ask(streamed)).from).toBe('miss')
    await expect.poll(async () => (await second.ask()).from).toBe('hit')
    await expect.poll(async () => (await second.ask(streamed)).from).toBe('hit')
    expect((await second.ask()).answer).toBe('answer 1')
  })
})
