import { describe, expect, test } from 'vitest'
import { memoryLedger, type ModelOptions } from '../../src/index.ts'
import type { PriceOptions } from '../../src/money/prices/price-options.ts'
import { anthropic, openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { errorOf, post } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { scene, usage } from './scene.ts'

const messages = [{ role: 'user', content: 'Hi' }]

/** A vendor that reports a service tier, or none. */
function reporting(tier?: string): VendorReply {
  return (_, response) => {
    response.setHeader('content-type', 'application/json')
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    response.end(JSON.stringify({ id: 'c', choices, usage, ...(tier && { service_tier: tier }) }))
  }
}

async function world(reply: VendorReply, price: PriceOptions, model: Partial<ModelOptions> = {}, balance = 1_000_000n) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: balance, reference: 'start' })
  const hosted = await scene(reply, { billing: { currency: 'USD' }, storage: { ledger }, model: { price, ...model } })
  const ask = (fields: object) => post(hosted.url, '/chat/completions', { model: 'm', messages, ...fields })
  return { ...hosted, ask }
}

const tiers = { input: '10', output: '10', serviceTiers: { flex: '0.5', priority: '2' } }

describe('a request for a service tier', () => {
  const allow = ['service_tier']

  test.each([
    ['priority', undefined, '0.0006'],
    ['priority', 'default', '0.0003'],
    ['priority', 'priority', '0.0006'],
    ['flex', 'flex', '0.00015'],
    ['auto', 'flex', '0.00015'],
    [undefined, undefined, '0.0003'],
    [undefined, 'scale', '0.0006'],
  ])('%s, served as %s, costs %s', async (asked, served, cost) => {
    const { ask, receipt } = await world(reporting(served), tiers, { allow })
    expect((await ask({ service_tier: asked })).status).toBe(200)
    expect((await receipt()).charge).toMatchObject({ cost })
  })

  test('without a price is rejected before the vendor is called', async () => {
    const { ask, vendor } = await world(reporting(), tiers, { allow })
    const answer = await ask({ service_tier: 'scale' })
    expect([answer.status, errorOf(answer).code, errorOf(answer).param]).toEqual([
      400,
      'unsupported_value',
      'service_tier',
    ])
    expect(vendor.requests).toEqual([])
  })

  test('is rejected if the price has no tiers at all', async () => {
    const { ask } = await world(reporting(), { input: '10', output: '10' }, { allow })
    expect((await ask({ service_tier: 'priority' })).status).toBe(400)
    expect((await ask({ service_tier: 'default' })).status).toBe(200)
  })

  test.each([
    [{ speed: 'fast' }, 'speed'],
    [{ inference_geo: 'us' }, 'inference_geo'],
  ])('that another field selects is rejected by the name of the field: %j', async (fields, param) => {
    const { ask } = await world(reporting(), tiers, { allow: Object.keys(fields) })
    const answer = await ask(fields)
    expect([answer.status, errorOf(answer).param]).toEqual([400, param])
  })

  test('that the host sets is charged at its own price', async () => {
    const { ask, receipt } = await world(reporting(), tiers, { set: { service_tier: 'flex' } })
    expect((await ask({})).status).toBe(200)
    expect((await receipt()).charge).toMatchObject({ cost: '0.00015' })
  })
})

describe('the hold', () => {
  /** Whether a request passes with this balance, in millionths. */
  async function passes(balance: bigint, price: PriceOptions, fields: object, model: Partial<ModelOptions> = {}) {
    const { ask } = await world(reporting(), price, model, balance)
    return (await ask({ max_tokens: 100, ...fields })).status === 200
  }
  // 100 output tokens cost 100 millionths for each dollar per million tokens.
  const output = (more: Partial<PriceOptions>): PriceOptions => ({ output: '1', ...more })

  test('covers the most expensive service tier, unless the request names another', async () => {
    const price = output({ serviceTiers: { flex: '0.5', priority: '3' } })
    expect(await passes(299n, price, {})).toBe(false)
    expect(await passes(300n, price, {})).toBe(true)
    expect(await passes(100n, price, { service_tier: 'default' })).toBe(true)
    expect(await passes(100n, price, { service_tier: 'flex' }, { allow: ['service_tier'] })).toBe(true)
    expect(await passes(99n, price, { service_tier: 'flex' }, { allow: ['service_tier'] })).toBe(false)
  })

  test('covers writes to a one-hour cache', async () => {
    const { ask: cheap } = await world(reporting(), { input: '1', output: '0' }, {}, 300n)
    expect((await cheap({})).status).toBe(200)
    const { ask: dear } = await world(reporting(), { input: '1', cacheWrite1h: '20', output: '0' }, {}, 300n)
    expect((await dear({})).status).toBe(429)
  })

  test('covers the price of a long prompt', async () => {
    const longPrompts = [{ above: 10_000, output: '5' }]
    const long = { messages: [{ role: 'user', content: 'x'.repeat(20_000) }] }
    expect(await passes(400n, output({ longPrompts }), {})).toBe(true)
    expect(await passes(400n, output({ longPrompts }), long)).toBe(false)
  })

  test('covers the largest image of a model that is charged by tokens', async () => {
    const balances = { less: 8_191n, enough: 8_192n }
    for (const [name, balance] of Object.entries(balances)) {
      const ledger = memoryLedger()
      await ledger.credit({ account: 'acme', amount: balance, reference: 'start' })
      const vendor = await vendorFor((_, response) => void response.end('{"created":1,"data":[{"b64_json":"AA=="}]}'))
      const { url } = await hostedWith({
        keys: { 'sk-test': { account: 'acme' } },
        models: { m: { provider: openai({ baseURL: vendor.baseURL }), price: { outputImage: '1' } } },
        billing: { currency: 'USD' },
        storage: { ledger },
      })
      const { status } = await post(url, '/images/generations', { model: 'm', prompt: 'a sun' })
      expect(status, name).toBe(name === 'enough' ? 200 : 429)
    }
  })

  test('covers a fee for each call of a tool that the vendor may run', async () => {
    const price = output({ tools: { web_search: '0.01' } })
    const allow = ['web_search_options']
    expect(await passes(100n, price, {}, { allow })).toBe(true)
    expect(await passes(100_099n, price, { web_search_options: {} }, { allow })).toBe(false)
    expect(await passes(100_100n, price, { web_search_options: {} }, { allow })).toBe(true)
    expect(await passes(100n, price, {}, { set: { web_search_options: {} } })).toBe(false)
  })
})

test('a one-hour cache write of Claude is charged at its own price', async () => {
  const reply: VendorReply = (_, response) => {
    response.setHeader('content-type', 'application/json')
    const cache = { cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 90 } }
    const counted = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 100, ...cache }
    response.end(
      JSON.stringify({
        id: 'm',
        type: 'message',
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        usage: counted,
      }),
    )
  }
  const vendor = await vendorFor(reply)
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const price = { input: '3', output: '15', cacheWrite: '3.75', cacheWrite1h: '6' }
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { provider: anthropic({ baseURL: vendor.baseURL, apiKey: 'k' }), price } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const cached = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]
  expect(
    (await post(url, '/chat/completions', { model: 'm', messages: [{ role: 'user', content: cached }] })).status,
  ).toBe(200)
  expect((await receipt()).charge).toMatchObject({ cost: '0.000596', rounding: '0.0000005' })
})

test('a tool that ran at the vendor is charged by the call', async () => {
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', 'application/json')
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }
    const text = { type: 'output_text', text: 'Hi', annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }
    const counted = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    response.end(
      JSON.stringify({ id: 'r', object: 'response', status: 'completed', output: [search, message], usage: counted }),
    )
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      m: {
        provider: openai({ baseURL: vendor.baseURL, responses: true }),
        price: { input: '1', output: '1', tools: { web_search: '0.01' } },
        allow: ['web_search'],
      },
    },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  await post(url, '/responses', { model: 'm', input: 'Hi', tools: [{ type: 'web_search' }] })
  expect((await receipt()).charge?.lines).toContainEqual({
    item: 'tools.web_search',
    quantity: 1,
    per: 1,
    price: '0.01',
    amount: '0.01',
  })
})

test('a number of tool calls that is not possible is reduced and reported', async () => {
  const reply: VendorReply = (_, response) => {
    response.setHeader('content-type', 'application/json')
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    const counted = { ...usage, server_tool_use: { web_search_requests: 1e9 } }
    response.end(JSON.stringify({ id: 'c', choices, usage: counted }))
  }
  const { ask, receipt } = await world(reply, { output: '0', tools: { web_search: '0.000001' } })
  expect((await ask({})).status).toBe(200)
  expect(await receipt()).toMatchObject({
    charge: { cost: '0.001' },
    implausible: { usage: { server_tool_use: { web_search_requests: 1e9 } } },
  })
})
