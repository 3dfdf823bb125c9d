/** What vendors say that calls cost, beside the cost of the deployment. */
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { prices } from '../../adapters/prices/prices.ts'
import { memoryUsageStore, type Failure, type GatewayOptions } from '../../src/index.ts'
import { openai, type OpenAIOptions } from '../../src/providers/index.ts'
import { dollarsIn } from '../../src/wire/own-costs.ts'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'

const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 }

/** A thousand tokens at 1 and at 3 for a million. */
const cost = { input: '1', output: '3' }
const dollars = 0.004

interface Scene {
  /** What the vendor says in the usage of its answers. */
  said: object
  readonly preset?: OpenAIOptions['preset']
  readonly options?: Partial<GatewayOptions>
}

async function scene(state: Scene) {
  const failures: Failure[] = []
  const vendor = await vendorFor(({ json }, response) => answer(json as { stream?: boolean }, response, state.said))
  const { preset } = state
  const provider = openai({
    baseURL: vendor.baseURL,
    name: 'vendor',
    apiKey: 'sk',
    responses: false,
    ...(preset && { preset }),
  })
  const hosted = await hostedWith({
    models: { m: { provider, providerModel: 'theirs', cost } },
    storage: { usage: memoryUsageStore() },
    hooks: { failure: (failure) => failures.push(failure) },
    retry: { maxAttempts: 1 },
    ...state.options,
  })
  const calls = async (count: number, body: object = {}) => {
    for (let made = 0; made < count; made++) {
      const response = await askChat(hosted.url, body)
      expect(response.status).toBe(200)
      await response.text()
      await hosted.receipt()
    }
  }
  const messages = () => failures.map(({ error }) => (error as Error).message)
  return { calls, messages, warnings: () => hosted.gateway.warnings() }
}

function answer({ stream }: { stream?: boolean }, response: ServerResponse, said: object): void {
  const head = { id: 'c', created: 1, model: 'theirs' }
  const counts = { ...usage, ...said }
  if (stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage: counts }))
    return
  }
  response.setHeader('content-type', 'text/event-stream')
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: counts },
  ]
  for (const each of chunks)
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...each })}\n\n`)
  response.end('data: [DONE]\n\n')
}

const drifted =
  'vendor (theirs) has cost $0.084000 for 20 calls by its own account, and $0.080000 by the cost of the deployment, 5.0 % more. ' +
  'Correct the "cost" or the price table, and the price, which may be wrong too.'

describe('a vendor that says another cost', () => {
  test.each([
    ['OpenRouter', { cost: dollars * 1.05 }],
    [
      'OpenRouter, with a key of its customer',
      { cost: 0.0002, is_byok: true, cost_details: { upstream_inference_cost: dollars } },
    ],
    ['xAI', { cost_in_usd_ticks: 42_000_000 }],
    ['Perplexity', { cost: { input_tokens_cost: 0.0012, output_tokens_cost: 0.003, total_cost: 0.0042 } }],
    ['DeepInfra', { estimated_cost: 0.0042 }],
  ])('is reported once: %s', async (_, said) => {
    const { calls, messages, warnings } = await scene({ said })
    await calls(10)
    await calls(9, { stream: true })
    expect(messages()).toEqual([])
    await calls(1, { stream: true })
    expect(messages()).toEqual([drifted])
    expect(warnings()).toContainEqual({ code: 'cost_drift', where: 'models["m"].cost', message: drifted })
    await calls(60)
    expect(messages()).toHaveLength(1)
  })

  test('is reported again once it says another one, and is forgotten once it agrees', async () => {
    const state = { said: { cost: 0.0042 } }
    const { calls, messages, warnings } = await scene(state)
    await calls(20)
    state.said = { cost: 0.002 }
    await calls(20)
    expect(messages()[1]).toMatch(/\$0\.040000 for 20 calls .* 50\.0 % less\./)
    state.said = { cost: dollars }
    await calls(20)
    expect(messages()).toHaveLength(2)
    expect(warnings().filter(({ code }) => code === 'cost_drift')).toEqual([])
    state.said = { cost: 0.0042 }
    await calls(20)
    expect(messages()).toHaveLength(3)
  })
})

test.each<[string, Scene]>([
  ['the same', { said: { cost: dollars } }],
  ['1 % more', { said: { cost: dollars * 1.0099 } }],
  ['1 % less', { said: { cost: dollars * 0.9901 } }],
  ['nothing', { said: {} }],
  ['nonsense', { said: { cost: 'a lot' } }],
  ['a negative cost', { said: { cost: -1 } }],
  ['another cost, of a preset that is known to say none', { said: { cost: 1 }, preset: 'vllm' }],
  [
    'another cost, in a currency without a rate',
    { said: { cost: 1 }, options: { billing: { currency: 'EUR', unpriced: 'free' } } },
  ],
])('a vendor that says %s is not reported', async (_, given) => {
  const { calls, messages } = await scene(given)
  await calls(21)
  expect(messages()).toEqual([])
})

test('calls that cost little are compared once there are enough of them', async () => {
  const { calls, messages } = await scene({ said: { cost: 0.0002 }, options: {} })
  await calls(20)
  expect(messages()).toHaveLength(1)
  const few = await scene({ said: { cost_in_usd_ticks: 1 }, options: {} })
  await few.calls(20)
  expect(few.messages()[0]).toMatch(/100\.0 % less/)
})

test('costs in another currency are compared by the rate of the price table', async () => {
  const own = { 'vendor/theirs': { input: '2', output: '6' } }
  const table = prices({ currency: 'XYZ', rate: '2', own })
  const options: Partial<GatewayOptions> = { prices: table }
  // In this currency the cost of the deployment is 0.002 dollars a call.
  const { calls, messages } = await scene({ said: { cost: 0.002 }, options })
  await calls(20)
  expect(messages()).toEqual([])
  const other = await scene({ said: { cost: dollars }, options })
  await other.calls(20)
  expect(other.messages()[0]).toMatch(/\$0\.080000 for 20 calls by its own account, and \$0\.040000 .* 100\.0 % more/)
})

test('a cost of which a part is not known is none', () => {
  expect(dollarsIn({ cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: null } })).toBeUndefined()
  expect(dollarsIn({ cost: 0.1, is_byok: true })).toBeUndefined()
  expect(dollarsIn({ cost: { input_cost: 1 } })).toBeUndefined()
})
