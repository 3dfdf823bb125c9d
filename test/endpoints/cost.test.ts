/** What a call would cost, before it is made: it must say exactly what the call then holds, and take nothing. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, Price, type GatewayOptions, type PriceOptions } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { parseDecimal } from '../../src/money/money.ts'
import { hostedWith } from '../hosted.ts'

const price: PriceOptions = { input: '2', cached: '0.5', output: '8', request: '0.001', serviceTiers: { flex: '0.5' } }

const priced: Readonly<Record<string, PriceOptions>> = {
  demo: price,
  'demo-embedding': { input: '0.02' },
  'demo-image': { image: { '1024x1024': '0.04', '*': '0.08' } },
  'demo-speech': { characters: '15' },
  'demo-rerank': { units: { search: '0.002' } },
}

interface Line {
  readonly amount: string
}

interface Cost {
  readonly cost: string
  readonly lines: readonly Line[]
  readonly rounding: string
}

/** The answer of `/v1/cost`. */
interface Answer {
  readonly least: Cost
  readonly likely: Cost
  readonly most: Cost | null
  readonly held: string
  readonly [field: string]: unknown
}

async function scene(options: Partial<GatewayOptions> = {}) {
  const ledger = memoryLedger()
  const holds: bigint[] = []
  const hold = ledger.hold.bind(ledger)
  Object.assign(ledger, {
    hold(given: Parameters<typeof hold>[0]) {
      holds.push(given.amount)
      return hold(given)
    },
  })
  const calls: string[] = []
  const provider = demo({ paceMs: 1 })
  const models = Object.fromEntries(
    Object.entries(priced).map(([name, each]) => [
      name,
      { provider, price: each, contextWindow: 100_000, allow: ['service_tier'] },
    ]),
  )
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models,
    storage: { ledger },
    ...options,
    billing: { currency: 'EUR', ...options.billing },
    hooks: { attempt: ({ model }) => calls.push(model) },
  })
  await hosted.gateway.admin.accounts.open({ id: 'acme' })
  await hosted.gateway.admin.accounts.topUp({ account: 'acme', amount: '1000', reference: 'first' })
  const post = async (path: string, body: string) => {
    const response = await fetch(`${hosted.url}/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body,
    })
    return { status: response.status, text: await response.text() }
  }
  const ask = async (endpoint: string, body: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const { status, text: answer } = await post(
      'v1/cost',
      `{ "endpoint": ${JSON.stringify(endpoint)}, "body": ${text} }`,
    )
    return { status, json: JSON.parse(answer) as Answer }
  }
  return { ...hosted, ledger, holds, calls, post, ask }
}

const messages = [{ role: 'user', content: 'Hello, what is the weather? 你好' }]
const bodies: readonly (readonly [endpoint: string, body: object])[] = [
  ['chat/completions', { model: 'demo', messages }],
  ['chat/completions', { model: 'demo', messages, max_completion_tokens: 300, n: 2, stream: true }],
  ['/v1/chat/completions', { model: 'demo', messages, service_tier: 'flex', max_tokens: 50 }],
  ['completions', { model: 'demo', prompt: ['One', 'Two'], max_tokens: 20 }],
  ['messages', { model: 'demo', messages, max_tokens: 700, system: 'Be short.' }],
  ['responses', { model: 'demo', input: 'Hello', instructions: 'Be short.', max_output_tokens: 90 }],
  ['responses', { model: 'demo', input: [{ role: 'user', content: 'Hello' }] }],
  ['embeddings', { model: 'demo-embedding', input: ['One', 'Two and three'] }],
  ['images/generations', { model: 'demo-image', prompt: 'A cat', n: 3, size: '1024x1024' }],
  ['images/generations', { model: 'demo-image', prompt: 'A cat' }],
  ['audio/speech', { model: 'demo-speech', input: 'Say this.', voice: 'alloy' }],
  ['/v2/rerank', { model: 'demo-rerank', query: 'q', documents: ['a', 'b'] }],
  ['v1beta/models/demo:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }],
]

/** What the lines and the rounding add up to. */
function sumOf({ lines, rounding }: Cost): bigint {
  const exact = (text: string) => parseDecimal(text, 24)
  return lines.reduce((sum, { amount }) => sum + exact(amount), exact(rounding))
}

describe.each<[string, Partial<GatewayOptions>]>([
  ['a balance', {}],
  ['a length that is enforced', { billing: { currency: 'EUR', defaults: { outputTokens: 100, enforce: true } } }],
  [
    'caps of money and tokens',
    { billing: { currency: 'EUR', caps: [{ name: 'all', period: 'day', money: '90', tokens: 10_000_000 }] } },
  ],
  ['a factor of the group', { groups: { default: { models: '*', priceMultiplier: '0.333333' } } }],
])('with %s', (_, options) => {
  test.each(bodies)('%s says what the call then holds: %j', async (endpoint, body) => {
    const { ask, post, holds, calls, receipt, ledger } = await scene(options)
    // Odd spaces, because the size of the text counts.
    const text = JSON.stringify(body, undefined, 3)
    const before = await ledger.audit()
    const { status, json } = await ask(endpoint, text)
    expect([holds, calls, await ledger.audit()]).toEqual([[], [], before])
    const path = `v1/${endpoint}`.replace(/^v1\/\/?(?=v)/, '')
    const answered = await post(path, text)
    expect([status, answered.text]).toEqual([answered.status, expect.anything()])
    // The tokens of some answers cannot be bounded in advance, which a cap of tokens needs.
    if (status === 400) {
      expect(json).toEqual(JSON.parse(answered.text))
      return expect(endpoint).toMatch(/images|speech|rerank/)
    }
    expect(json).toMatchObject({ object: 'cost', currency: 'EUR', refused_by: [] })
    expect(holds).toHaveLength(1)
    expect(parseDecimal(json.held, 6)).toBe(holds[0])
    for (const each of [json.least, json.likely, json.most])
      if (each !== null) expect(sumOf(each)).toBe(parseDecimal(each.cost, 24))
    const [least, likely, most] = [json.least, json.likely, json.most].map((each) => parseDecimal(each?.cost ?? '0', 6))
    expect(least).toBeLessThanOrEqual(likely as bigint)
    expect(likely).toBeLessThanOrEqual(most as bigint)
    const { charge } = await receipt()
    expect(parseDecimal(charge?.cost, 6)).toBeLessThanOrEqual(most as bigint)
  })
})

test('the parts are those of a receipt, and the likely answer is as long as the last ones', async () => {
  const { ask, post, receipt } = await scene()
  const body = { model: 'demo', messages, max_tokens: 10_000 }
  const { json: first } = await ask('chat/completions', body)
  expect(first).toMatchObject({
    model: 'demo',
    output_tokens: 512,
    least: {
      lines: [
        { item: 'cached', price: '0.5' },
        { item: 'request', price: '0.001' },
      ],
    },
    likely: {
      lines: [{ item: 'input', price: '2' }, { item: 'output', quantity: 512, price: '8' }, { item: 'request' }],
    },
    most: {
      lines: [{ item: 'input', price: '2' }, { item: 'output', quantity: 10_000, price: '8' }, { item: 'request' }],
    },
  })
  await post('v1/chat/completions', JSON.stringify(body))
  const { usage } = await receipt()
  expect((await ask('chat/completions', body)).json['output_tokens']).toBe(usage.completion_tokens)
})

test('an answer whose length nothing bounds has no highest cost, which is said', async () => {
  const models = { demo: { provider: demo(), price } }
  const { ask } = await scene({ models })
  const { json } = await ask('chat/completions', { model: 'demo', messages })
  expect(json).toMatchObject({ most: null, unbounded: 'max_completion_tokens', held: expect.any(String) as string })
  const { json: bounded } = await ask('chat/completions', { model: 'demo', messages, max_tokens: 5 })
  expect(bounded.most?.cost).toBe(bounded.held)
})

test('names the balance and the caps that would refuse the call, as it then is', async () => {
  const caps = [
    { name: 'small', period: 'day', money: '0.01' },
    { name: 'large', period: 'day', money: '900' },
    { name: 'none', period: 'day', calls: 0 },
  ] as const
  const { ask, post, gateway, calls } = await scene({ billing: { currency: 'EUR', caps } })
  const body = { model: 'demo', messages, max_tokens: 5_000 }
  const { json } = await ask('chat/completions', body)
  expect(json['refused_by']).toMatchObject([
    { type: 'cap', cap: 'small', message: expect.stringContaining('0.01 EUR') as string },
    { type: 'cap', cap: 'none' },
  ])
  await gateway.admin.accounts.adjust({ account: 'acme', amount: '-999.99', reference: 'gone' })
  const { json: poor } = await ask('chat/completions', body)
  expect(poor['refused_by']).toMatchObject([{ type: 'balance' }, { cap: 'small' }, { cap: 'none' }])
  expect((await post('v1/chat/completions', JSON.stringify(body))).status).toBe(429)
  expect(calls).toEqual([])
})

test('is refused as the call would be', async () => {
  const { ask, post } = await scene({ groups: { default: { models: ['demo*'] } } })
  for (const [endpoint, body] of [
    ['chat/completions', { model: 'other', messages }],
    ['chat/completions', { model: 'demo' }],
    ['chat/completions', { model: 'demo', messages, service_tier: 'priority' }],
    ['messages', { model: 'demo', messages }],
    ['embeddings', { model: 'demo-embedding', input: [] }],
  ] as const) {
    const { status, json } = await ask(endpoint, body)
    const real = await post(`v1/${endpoint}`, JSON.stringify(body))
    const { error } = JSON.parse(real.text) as { error: { message: string } }
    expect([status, json['error']]).toEqual([real.status, expect.objectContaining({ message: error.message })])
    expect(status).toBeGreaterThanOrEqual(400)
  }
  const wrong = [
    ['models', { model: 'demo' }, 'endpoint'],
    ['cost', { endpoint: 'cost', body: {} }, 'endpoint'],
    ['videos', { model: 'demo', prompt: 'x' }, 'endpoint'],
    ['', {}, 'endpoint'],
  ] as const
  for (const [endpoint, body, param] of wrong) {
    expect(await ask(endpoint, body)).toMatchObject({ status: 400, json: { error: { param } } })
  }
  expect(await post('v1/cost', '{"endpoint":"chat/completions"}')).toMatchObject({ status: 400 })
  expect((await post('v1/cost', '{"endpoint":"chat/completions","body":[1]}')).status).toBe(400)
})

test('is limited like other calls', async () => {
  const { ask, post, holds } = await scene({
    groups: { default: { models: '*', rate: { requests: '2/min', tokens: '100000/min' } } },
  })
  const body = { model: 'demo', messages, max_tokens: 5 }
  expect((await ask('chat/completions', body)).status).toBe(200)
  expect((await ask('chat/completions', body)).status).toBe(200)
  expect((await ask('chat/completions', body)).status).toBe(429)
  expect((await post('v1/chat/completions', JSON.stringify(body))).status).toBe(429)
  expect(holds).toEqual([])
})

test.each([price, undefined])('without billing a call costs nothing, with the price %j', async (own) => {
  const model = { provider: demo(), ...(own && { price: own }) }
  const { url } = await hostedWith({ models: { demo: model }, defaultModel: 'demo' })
  const response = await fetch(`${url}/v1/cost`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: 'chat/completions', body: { messages } }),
  })
  expect(await response.json()).toMatchObject({
    model: 'demo',
    currency: null,
    held: '0',
    likely: { cost: '0', lines: [] },
  })
})

test('the lines of a bound add up to it for any price', () => {
  const prices: PriceOptions[] = [
    price,
    { input: '3', output: '15', cacheWrite1h: '6', longPrompts: [{ above: 1_000, input: '6', output: '22.5' }] },
    { input: '1', output: '1', serviceTiers: { priority: { input: '2', output: '0.5' } } },
    { second: '0.1', image: '0.123456789' },
  ]
  for (const options of prices) {
    for (const [promptTokens, outputTokens] of [
      [0, 0],
      [1, 1],
      [999, 7],
      [1_001, 0],
      [1e6, 1e6],
    ] as const) {
      for (const multiplier of [1_000_000n, 333_333n]) {
        const of = new Price(options)
        const asked = { promptTokens, outputTokens, units: { images: 3, seconds: 1.5 }, toolCalls: 2 }
        const found = of.boundLines(asked, multiplier)
        expect(sumOf({ cost: '', ...found })).toBe(of.bound(asked, multiplier) * 10n ** 18n)
      }
    }
  }
})
