/** What requests cost the host at its vendors, beside what they are charged. */
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  Price,
  type GatewayOptions,
  type ModelOptions,
  type PriceTable,
  type Receipt,
  type Telemetry,
} from '../../src/index.ts'
import { anthropic, demo, gemini, openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const usage = { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 }
const head = { id: 'x', object: 'chat.completion', created: 1, model: 'm' }
const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
const price = { input: '2', output: '5' }

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function frames(response: ServerResponse, ...all: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const each of all) response.write(`data: ${JSON.stringify(each)}\n\n`)
}

const answered: VendorReply = (_, response) => json(response, { ...head, choices, usage })

/** A gateway with the model `m`; `ended` resolves with the row of the next request, with its costs. */
async function scene(model: ModelOptions, options: Partial<GatewayOptions> = {}) {
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme', tags: ['team'] } },
    models: { m: model },
    billing: { currency: 'EUR', ...options.billing },
    retry: { backoffMs: 1 },
    ...options,
  })
  await hosted.gateway.admin.accounts.open({ id: 'acme', unlimited: true })
  const ended = async () => {
    const receipt = await hosted.receipt()
    expect(JSON.stringify(receipt)).not.toMatch(/vendorCost|margin/)
    for (;;) {
      const row = await hosted.gateway.admin.usage.find(receipt.id, { costs: true })
      if (row !== undefined) return row
      await new Promise(setImmediate)
    }
  }
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${hosted.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', ...body }),
    })
    await response.text().catch(() => undefined)
    return ended()
  }
  const chat = (body: object = {}) => ask('chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...body })
  return { ...hosted, ask, chat, ended }
}

const provider = async (reply: VendorReply, name = 'first') =>
  openai({ name, baseURL: (await vendorFor(reply)).baseURL, responses: false })

/** 40 tokens at 1 and 60 at 3 for a million. */
const cost = { input: '1', output: '3' }
const once40and60 = '0.00022'

test('rates of its own, whatever the group pays', async () => {
  const groups = { default: { models: '*', priceMultiplier: '0.5' } } as const
  const { chat } = await scene({ provider: await provider(answered), price, cost }, { groups })
  expect(await chat()).toMatchObject({ cost: '0.00019', vendorCost: once40and60, margin: '-0.00003' })
})

test('the list price of the table, with a discount; the price of the model is not its cost', async () => {
  const list = new Price(cost)
  const prices: PriceTable = {
    currency: 'EUR',
    source: { name: 'test' },
    find: ({ provider: of }) => ({ price: new Price(price), ...(of !== 'unknown' && { cost: list }) }),
  }
  const vendor = await provider(answered)
  const { chat: full } = await scene({ provider: vendor }, { prices })
  expect(await full()).toMatchObject({ cost: '0.00038', vendorCost: once40and60, margin: '0.00016' })
  const { chat: cheap } = await scene({ provider: vendor, price, cost: { multiplier: '0.9' } }, { prices })
  expect(await cheap()).toMatchObject({ cost: '0.00038', vendorCost: '0.000198', margin: '0.000182' })
  const unknown = { provider: await provider(answered, 'unknown'), cost: { multiplier: '0.9' } }
  const { chat, gateway } = await scene(unknown, { prices })
  expect(await chat()).not.toHaveProperty('vendorCost')
  const [sum] = await gateway.admin.usage.statistics({ all: true, by: [], costs: true })
  expect(sum).toMatchObject({ requests: 1, vendorCost: '0', uncosted: 1 })
})

test('telemetry is told, of each call and with its currency; hooks and clients are not', async () => {
  const told: unknown[] = []
  const seen: unknown[] = []
  const telemetry: Telemetry = {
    receipt: (_, costs) => void told.push(costs),
    call: () => ({ ended: ({ costs }) => void told.push(costs) }),
  }
  const hooks = {
    receipt: (receipt: Receipt) => void seen.push(receipt),
    failure: (each: unknown) => void seen.push(each),
  }
  const { url, receipt } = await scene(
    { provider: await provider(answered), price, cost },
    { telemetry: [telemetry], hooks, usage: { record: false } },
  )
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const shown = [await response.text(), JSON.stringify([...response.headers]), JSON.stringify(seen)]
  await receipt()
  const costs = { vendorCost: once40and60, margin: '0.00016', currency: 'EUR' }
  expect(told).toEqual([costs, costs])
  expect(shown.join()).not.toMatch(/vendor_?cost|margin|0\.00022/i)
})

test('costs below a millionth are not rounded up', async () => {
  const reply: VendorReply = (_, response) =>
    json(response, {
      object: 'list',
      model: 'm',
      data: [{ index: 0, embedding: [1] }],
      usage: { prompt_tokens: 5, total_tokens: 5 },
    })
  const { ask, gateway } = await scene({
    provider: await provider(reply),
    price: { input: '0.02' },
    cost: { input: '0.02' },
  })
  for (let each = 0; each < 3; each++)
    expect(await ask('embeddings', { input: 'Hi' })).toMatchObject({ cost: '0.000001', vendorCost: '0.0000001' })
  const [sum] = await gateway.admin.usage.statistics({ account: 'acme', by: [], costs: true })
  expect(sum).toMatchObject({ cost: '0.000003', vendorCost: '0.0000003', margin: '0.0000027' })
})

describe('what nobody pays for costs the host', () => {
  test('an attempt that had counted its prompt before it failed, and the one after it, each at its own rates', async () => {
    const claude = await vendorFor((_, response) => {
      const message = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1_000, output_tokens: 1 },
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`)
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
      response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
    })
    const second = await provider((_, response) => {
      frames(response, { ...head, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] })
      response.end(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`)
    })
    const route = [
      { provider: anthropic({ name: 'claude', baseURL: claude.baseURL }), cost: { input: '10', output: '10' } },
      { provider: second, cost },
    ]
    const { chat } = await scene({ route, price }, { retry: { maxAttempts: 1 } })
    // 1,001 tokens at 10 for a million, and the answer.
    expect(await chat({ stream: true })).toMatchObject({ attempts: 2, cost: '0.00038', vendorCost: '0.01023' })
  })

  test('a stream that breaks off', async () => {
    const text = 'x'.repeat(400)
    const reply: VendorReply = (_, response) => {
      frames(response, { ...head, choices: [{ index: 0, delta: { content: text } }] })
      response.end()
    }
    const { chat } = await scene({ provider: await provider(reply), price, cost: { output: '1' } })
    const row = await chat({ stream: true })
    expect(row).toMatchObject({ outcome: 'failed', cost: '0', basis: 'none' })
    expect(row.completionTokens).toBe(100)
    expect(row.vendorCost).toBe('0.0001')
  })

  test('an attempt that was given up because it did not begin in time: its prompt', async () => {
    const slow = await provider(() => {}, 'slow')
    const second = await provider((_, response) => {
      frames(response, { ...head, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] })
      response.end(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`)
    }, 'second')
    const route = [
      { provider: slow, cost: { input: '1000' }, firstContentMs: 50 },
      { provider: second, cost: { input: '1', output: '1' }, order: 2 },
    ]
    const { chat } = await scene({ route, price }, { retry: { maxAttempts: 1 } })
    const row = await chat({ stream: true })
    const theirs = usage.prompt_tokens + usage.completion_tokens
    const estimated = Number(row.vendorCost) * 1e6 - theirs
    expect(estimated).toBeGreaterThanOrEqual(1_000)
    expect(Math.round(estimated) % 1_000).toBe(0)
  })

  test('a stream that goes on elsewhere: what each vendor has used, at its own rates', async () => {
    const first: VendorReply = (_, response) => {
      frames(response, { ...head, choices: [{ index: 0, delta: { content: 'x'.repeat(400) } }] })
      response.end()
    }
    const second = await provider((_, response) => {
      frames(response, { ...head, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] })
      response.end(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`)
    }, 'second')
    const route = [
      { provider: await provider(first), cost: { output: '1' } },
      { provider: second, cost: { input: '10', output: '10' }, order: 2 },
    ]
    const { chat } = await scene({ route, price, continue: true }, { retry: { maxAttempts: 1 } })
    const row = await chat({ stream: true })
    // The client pays the prompt once, and both texts.
    expect(row.completionTokens).toBe(100 + usage.completion_tokens)
    const theirs = (usage.prompt_tokens + usage.completion_tokens) * 10
    expect(row.vendorCost).toBe(String((100 + theirs) / 1e6))
  })

  test('a stream that its client leaves, where the host charges nothing for it', async () => {
    const reply: VendorReply = (_, response) =>
      frames(response, { ...head, choices: [{ index: 0, delta: { content: 'Hello' } }], usage })
    const onDisconnect = { vendor: 'abort', charge: 'none' } as const
    const { url, ended } = await scene({ provider: await provider(reply), price, cost, onDisconnect })
    const abort = new AbortController()
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await response.body?.getReader().read()
    abort.abort()
    expect(await ended()).toMatchObject({ outcome: 'cancelled', cost: '0', vendorCost: once40and60 })
  })

  test('a model that is free', async () => {
    const free = { currency: 'EUR', unpriced: 'free' } as const
    const { chat } = await scene({ provider: await provider(answered), cost }, { billing: free })
    expect(await chat()).toMatchObject({ cost: '0', vendorCost: once40and60, margin: '-0.00022' })
  })
})

test('attempts that a vendor did not answer cost nothing, not even its fee', async () => {
  const reply: VendorReply = (_, response) => json(response, { error: { message: 'no' } }, 500)
  const { chat } = await scene({ provider: await provider(reply), price, cost: { ...cost, request: '1' } })
  expect(await chat()).toMatchObject({ outcome: 'failed', attempts: 2, vendorCost: '0', margin: '0' })
})

test("a customer's own key costs the host nothing", async () => {
  const ownKeys = { credentials: () => ({ apiKey: 'sk-theirs' }) }
  const { chat } = await scene({ provider: await provider(answered), price, cost }, { ownKeys })
  expect(await chat()).toMatchObject({ provider: 'first/own-key', vendorCost: '0' })
})

test('images by size, and videos by second', async () => {
  const provider = demo({ paceMs: 1, videoSeconds: 0 })
  const models = {
    'demo-image': { provider, price: { image: '1' }, cost: { image: { '1024x1024': '0.04', '*': '0.08' } } },
    'demo-video': { provider, price: { second: '1' }, cost: { second: '0.1' } },
  }
  const { ask, gateway, receipt, url } = await scene({ provider }, { models, tasks: { sweepMs: 10 } })
  expect(await ask('images/generations', { model: 'demo-image', prompt: 'x', n: 2, size: '1024x1024' })).toMatchObject({
    cost: '2',
    vendorCost: '0.08',
  })
  await fetch(`${url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-video', prompt: 'x', duration: 5 }),
  })
  await receipt()
  const rows = async () => (await gateway.admin.usage.list({ all: true, model: 'demo-video', costs: true })).items
  await expect.poll(rows).toMatchObject([{ cost: '5', vendorCost: '0.5', margin: '4.5' }])
})

test('without billing, costs are known from the table alone', async () => {
  const prices: PriceTable = {
    currency: 'USD',
    source: { name: 'test' },
    find: () => ({ price: new Price(price), cost: new Price(cost) }),
  }
  const { gateway, url, receipt } = await hostedWith({
    models: { m: await provider(answered) },
    prices,
    usage: { record: true },
  })
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await receipt()
  expect(gateway.admin.offers()).toMatchObject({ costs: true, accounts: false })
  for (let rows: readonly object[] = []; rows.length === 0;)
    rows = (await gateway.admin.usage.list({ all: true, costs: true })).items
  const rows = await gateway.admin.usage.statistics({
    all: true,
    by: ['provider', 'providerModel', 'day', 'tag'],
    costs: true,
  })
  expect(rows).toMatchObject([{ provider: 'first', providerModel: 'm', tag: '', vendorCost: once40and60 }])
})

test.each([
  [{ cost: { inptu: '1' } }, /cost: unknown option "inptu"/],
  [{ cost: { multiplier: '-1' } }, /cost.multiplier: a factor cannot be negative/],
  [{ cost: { input: 1 } }, /cost.input: 1 is not a decimal/],
  [
    { provider: undefined, route: [{ provider: gemini({ apiKey: 'x' }) }], cost },
    /cost: move it to the entries of the route/,
  ],
  [
    { provider: undefined, route: [{ provider: gemini({ apiKey: 'x' }), cost: { output: 'x' } }] },
    /cost.output: "x" is not/,
  ],
])('a cost that cannot be meant is refused: %j', (options, message) =>
  expect(scene({ provider: demo(), price, ...options } as never)).rejects.toThrow(message),
)
