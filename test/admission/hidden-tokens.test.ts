/** Reasoning that the client does not see is charged although the client disconnects. */
import { describe, expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import { memoryLedger, type BillingOptions } from '../../src/index.ts'
import { anthropic, openai } from '../../src/providers/index.ts'
import { hidesTokens } from '../../src/admission/hidden-tokens.ts'
import type { Deployment } from '../../src/models/contract.ts'
import { mount } from '../../adapters/hosts/fetch.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const reasoning = 5_000
const [input, output] = [20, reasoning + 2]
const usage = {
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  completion_tokens_details: { reasoning_tokens: reasoning },
}
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const frames = (events: readonly object[]) => events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
const counted = { input_tokens: input, output_tokens: output, total_tokens: input + output }
const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
const response = { id: 'r', object: 'response', status: 'in_progress', model: 'm', output: [] }

/** What each endpoint of the vendor sends before the client leaves, and afterwards. */
const scripts: Readonly<Record<string, readonly [string, string]>> = {
  '/chat/completions': [
    frames([{ ...head, choices: [{ index: 0, delta: { content: 'Hi there' } }] }]),
    `${frames([
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...head, choices: [], usage },
    ])}data: [DONE]\n\n`,
  ],
  '/responses': [
    frames([
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi there' },
    ]),
    frames([{ type: 'response.completed', response: { ...response, status: 'completed', usage: counted } }]),
  ],
  '/messages': [
    frames([
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: input, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi there' } },
    ]),
    frames([
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
      { type: 'message_stop' },
    ]),
  ],
}

/** `begins`: whether the vendor sends the first part of its script before the client disconnects. */
async function scene(model: string, begins: boolean, billing: Partial<BillingOptions> = {}) {
  const asked = Promise.withResolvers<ServerResponse>()
  const aborted = Promise.withResolvers<void>()
  let rest = ''
  const vendor = await vendorFor(({ url, json, signal }, reply) => {
    signal.addEventListener('abort', () => aborted.resolve())
    const path = Object.keys(scripts).find((each) => url.endsWith(each)) as string
    const [first, second] = scripts[path] as readonly [string, string]
    rest = begins ? second : first + second
    if ((json as { stream?: boolean }).stream !== true) {
      rest = JSON.stringify({
        ...head,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage,
      })
      reply.setHeader('content-type', 'application/json')
    } else reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    if (begins) reply.write(first)
    asked.resolve(reply)
  })
  const { baseURL } = vendor
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const price = { input: '1', output: '10' }
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      chats: { provider: openai({ baseURL }), providerModel: model, price },
      responses: { provider: openai({ baseURL, responses: true }), providerModel: model, price },
      claude: { provider: anthropic({ baseURL, apiKey: 'x' }), providerModel: model, price },
    },
    billing: { currency: 'EUR', ...billing },
    storage: { ledger },
  })
  /** Sends a request, disconnects, and lets the vendor go on. */
  const leave = async (name: string, path: string, fields: object = {}) => {
    const client = new AbortController()
    // Without a socket in between, the gateway notices the disconnect at once.
    const request = new Request(`http://gateway/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, stream: true, max_tokens: 6_000, ...fields }),
      signal: client.signal,
    })
    const pending = mount(hosted.gateway)(request)
    const reply = await asked.promise
    const reader = begins ? (await pending).body?.getReader() : undefined
    await reader?.read()
    client.abort()
    await reader?.cancel().catch(() => undefined)
    if (!begins) pending.catch(() => undefined)
    return { reply, go: () => reply.end(rest) }
  }
  return { ...hosted, vendor, ledger, leave, aborted: aborted.promise }
}

const messages = [{ role: 'user', content: 'Hi' }]
/** In micro-units. */
const whole = input + output * 10
const cost = (charge: { readonly cost: string } | undefined) => Math.round(Number(charge?.cost) * 1e6)

describe.each([true, false])('after the first content: %s', (begins) => {
  test.each([
    ['chats', 'gpt-5-mini', 'chat/completions', { messages }],
    ['chats', 'o3', 'messages', { messages }],
    ['chats', 'gpt-5', 'responses', { input: 'Hi', max_tokens: undefined }],
    ['responses', 'o4-mini', 'responses', { input: 'Hi', max_tokens: undefined }],
    ['responses', 'gpt-5', 'messages', { messages }],
    ['chats', 'house', 'chat/completions', { messages, reasoning_effort: 'high' }],
    ['claude', 'claude-sonnet', 'messages', { messages, thinking: { type: 'enabled', budget_tokens: 1_024 } }],
    ['claude', 'claude-sonnet', 'chat/completions', { messages, reasoning_effort: 'high' }],
  ])('%s as %s by /v1/%s is read to its end and charged as reported', async (name, model, path, fields) => {
    const { leave, receipt } = await scene(model, begins)
    const { go } = await leave(name, path, fields)
    go()
    const { charge, outcome, attempts } = await receipt()
    expect({ outcome, attempts, basis: charge?.basis, cost: cost(charge) }).toEqual({
      outcome: 'cancelled',
      attempts: 1,
      basis: 'reported',
      cost: whole,
    })
  })
})

test('a response that is not streamed is read to its end, too', async () => {
  const { leave, receipt } = await scene('gpt-5', false)
  const { go } = await leave('chats', 'chat/completions', { messages, stream: false })
  go()
  expect(cost((await receipt()).charge)).toBe(whole)
})

test.each([
  ['gpt-4o', { messages }, {}],
  ['house', { messages }, {}],
  ['gpt-5', { messages }, { onDisconnect: { vendor: 'abort' as const } }],
  ['gpt-5', { messages }, { maxDrains: 0 }],
])('%s is aborted with %o and %o', async (model, fields, billing) => {
  const { leave, receipt, aborted } = await scene(model, true, billing)
  await leave('chats', 'chat/completions', fields)
  await aborted
  expect((await receipt()).charge?.basis).toBe('delivered')
})

test('where nothing can be drained, the time is charged at the speed of the model, at most the hold', async () => {
  for (const begins of [true, false]) {
    const { leave, receipt, aborted, ledger } = await scene('gpt-5', begins, { maxDrains: 0 })
    await leave('chats', 'chat/completions', { messages, max_tokens: 3 })
    await aborted
    const { charge, usage: estimated } = await receipt()
    // Three tokens at 100 tokens a second are 30 ms.
    expect(estimated.completion_tokens).toBeLessThanOrEqual(3)
    expect(estimated.completion_tokens).toBeGreaterThanOrEqual(begins ? 2 : 1)
    expect(charge?.overage).toBe('0')
    expect(await ledger.audit()).toMatchObject({ holds: 0n, faults: [] })
  }
})

test('a drain that takes too long is charged by the time', async () => {
  const { leave, receipt } = await scene('gpt-5', true, { onDisconnect: { drainMs: 300 } })
  await leave('chats', 'chat/completions', { messages })
  // 300 ms at 100 tokens a second.
  expect((await receipt()).usage.completion_tokens).toBeGreaterThanOrEqual(30)
})

test('a drain that the end of the process cuts off is charged by the time', async () => {
  for (const stream of [true, false]) {
    const { leave, receipt, gateway } = await scene('gpt-5', false)
    await leave('chats', 'chat/completions', { messages, stream })
    await gateway.close({ graceMs: 100 })
    const { outcome, usage: estimated } = await receipt()
    expect(outcome).toBe('cancelled')
    expect(estimated.completion_tokens).toBeGreaterThanOrEqual(10)
  }
})

test('an attempt that fails after the client has gone is not repeated', async () => {
  const { leave, receipt, vendor } = await scene('gpt-5', false)
  const { reply } = await leave('chats', 'chat/completions', { messages })
  reply.destroy()
  expect((await receipt()).attempts).toBe(1)
  expect(vendor.requests).toHaveLength(1)
})

describe('hidden reasoning', () => {
  const at = (model: string, origin?: string, chatTraits = {}) => ({
    deployments: [{ provider: { name: 'x', origin, chatTraits }, model, order: 0, weight: 1 } as Deployment],
  })
  const none = () => undefined
  const fields = (given: object) => (name: string) => (given as Record<string, unknown>)[name]

  test.each([
    'o1',
    'o3-pro',
    'openai/o4-mini',
    'gpt-5',
    'openai/gpt-5.4-nano',
    'gpt-12',
    'x-ai/grok-4',
    'grok-code-fast-1',
  ])('is assumed of %s', (model) => expect(hidesTokens(at(model), none)).toBe(true))

  test.each([
    'gpt-4o',
    'gpt-5-chat-latest',
    'gpt-4.1',
    'claude-opus-4-8',
    'gemini-2.5-pro',
    'deepseek-reasoner',
    'demo',
    'grok-4-fast-non-reasoning',
    'foo1',
  ])('is not assumed of %s', (model) => expect(hidesTokens(at(model), none)).toBe(false))

  test('is assumed of unknown models of vendors that never show it, and of requests for it', () => {
    expect(hidesTokens(at('orion', 'https://api.openai.com'), none)).toBe(true)
    expect(hidesTokens(at('gpt-4o', 'https://api.openai.com'), none)).toBe(false)
    expect(hidesTokens(at('orion'), fields({ reasoning: { effort: 'low' } }))).toBe(true)
    expect(hidesTokens(at('orion'), fields({ thinking: { type: 'adaptive' } }))).toBe(true)
    expect(hidesTokens(at('orion'), fields({ reasoning_effort: 'none', thinking: { type: 'disabled' } }))).toBe(false)
    expect(hidesTokens(at('deepseek', undefined, { reasoning: true }), fields({ reasoning_effort: 'high' }))).toBe(
      false,
    )
  })
})
