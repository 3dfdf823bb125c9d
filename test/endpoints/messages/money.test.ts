/** What a message costs: the vendor's usage at the model's prices, held before and charged after. */
import { anthropic } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { memoryLedger, type GatewayOptions, type ModelOptions } from '../../../src/index.ts'
import type { MessageUsage } from '../../../src/wire/messages.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const price = {
  input: '3',
  output: '15',
  cached: '0.3',
  cacheWrite: '3.75',
  cacheWrite1h: '6',
  tools: { web_search: '0.01' },
} as const

const frame = (event: { readonly type: string; readonly [field: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** A vendor that reports `first` at the start of its message, and `last` at the end. */
async function shop(
  first: MessageUsage,
  last: MessageUsage,
  model: Partial<ModelOptions> = {},
  keys?: GatewayOptions['keys'],
) {
  const vendor = await vendorFor((_, response) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: first }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame({ type: 'message_start', message }))
    response.write(frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last }))
    response.end(frame({ type: 'message_stop' }))
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const hosted = await hostedWith({
    keys: keys ?? { 'sk-test': { account: 'acme' } },
    models: { m: { provider: anthropic({ baseURL: vendor.baseURL }), price, contextWindow: 200_000, ...model } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const buy = async (body: object = {}) => {
    const response = await fetch(`${hosted.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
    return { status: response.status, text: await response.text() }
  }
  return { ...hosted, vendor, buy }
}

test.each([false, true])(
  'writes to the cache for five minutes and for an hour have prices of their own, streamed: %s',
  async (stream) => {
    const { buy, receipt } = await shop(
      {
        input_tokens: 1_000,
        output_tokens: 1,
        cache_read_input_tokens: 10_000,
        cache_creation_input_tokens: 5_000,
        cache_creation: { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 3_000 },
      },
      { output_tokens: 400 },
    )
    expect((await buy({ stream, system: 'x'.repeat(20_000) })).status).toBe(200)
    const { charge, usage } = await receipt()
    expect(usage).toMatchObject({ prompt_tokens: 16_000, completion_tokens: 400 })
    // 1,000 × 3 + 10,000 × 0.3 + 2,000 × 3.75 + 3,000 × 6 + 400 × 15, per million.
    expect(charge).toMatchObject({ cost: '0.0375', overage: '0', basis: 'reported' })
  },
)

test('totals of the end replace those of the start, and are not added to them', async () => {
  const { buy, receipt } = await shop({ input_tokens: 43, output_tokens: 1 }, { input_tokens: 61, output_tokens: 2 })
  await buy({ stream: true })
  expect((await receipt()).usage).toMatchObject({ prompt_tokens: 61, completion_tokens: 2, total_tokens: 63 })
})

test('searches at the vendor are charged one by one, where the model allows them', async () => {
  const { buy, receipt } = await shop(
    { input_tokens: 1_000, output_tokens: 1 },
    { output_tokens: 100, server_tool_use: { web_search_requests: 3 } },
    { allow: ['web_search'] },
  )
  await buy({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })
  expect((await receipt()).charge).toMatchObject({ cost: '0.0345' })
})

test('a capped key may use tools of its own; the cost of the vendor’s must be bounded', async () => {
  const caps = [{ name: 'daily', period: 'day', money: '1' } as const]
  const { buy, vendor } = await shop(
    { input_tokens: 10, output_tokens: 1 },
    { output_tokens: 5 },
    { allow: ['web_search'] },
    { 'sk-test': { account: 'acme', caps } },
  )
  const own = [
    { name: 'a', input_schema: { type: 'object' } },
    { type: null, name: 'b', input_schema: { type: 'object' } },
    { type: 'custom', name: 'c', input_schema: { type: 'object' } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
  ]
  expect((await buy({ tools: own })).status).toBe(200)
  const refused = await buy({ tools: [...own, { type: 'web_search_20250305', name: 'web_search' }] })
  expect(refused.status).toBe(400)
  expect(JSON.parse(refused.text)).toMatchObject({
    error: { message: expect.stringContaining("the vendor's own tools") },
  })
  expect(vendor.requests).toHaveLength(1)
})

test('the longest answer that is held for is the one that the request asks for, at most the model’s', async () => {
  const { buy, vendor } = await shop(
    { input_tokens: 10, output_tokens: 1 },
    { output_tokens: 5 },
    { maxOutputTokens: 60_000 },
  )
  // A balance of one dollar covers 66,666 output tokens.
  expect((await buy({ max_tokens: 64_000 })).status).toBe(200)
  expect(vendor.requests[0]?.json).toMatchObject({ max_tokens: 60_000 })
  const poor = await shop({ input_tokens: 10, output_tokens: 1 }, { output_tokens: 5 })
  const refused = await poor.buy({ max_tokens: 70_000 })
  expect(refused.status).toBe(429)
  expect(JSON.parse(refused.text)).toMatchObject({ error: { type: 'billing_error' } })
})
