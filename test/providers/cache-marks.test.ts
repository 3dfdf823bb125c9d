/** Marks that the gateway adds for the vendors' caches of prompts. */
import { memoryLedger } from 'modelhatch'
import { anthropic, openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { JsonBody } from '../../src/http/json-body.ts'
import { defaultSizes } from '../../src/http/sizes.ts'
import { cacheMarks } from '../../src/providers/cache-marks.ts'
import type { Call } from '../../src/providers/call.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const mark = { type: 'ephemeral' }
const long = 'All of the rules of this house. '.repeat(200)
const rates = { input: '3', cached: '0.3', cacheWrite: '3.75', output: '15' }

const claude = 'claude-sonnet-5'
const question = { role: 'user', content: 'And now?' }
const messages = { path: 'messages', body: { max_tokens: 20, system: long, messages: [question] } }
const chat = { path: 'chat/completions', body: { messages: [{ role: 'system', content: long }, question] } }

interface Wire {
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly cache_control?: unknown
}

type Vendor = (baseURL: string) => ReturnType<typeof anthropic>

/** What the vendor gets for a request. */
async function sent(
  { path, body }: { readonly path: string; readonly body: object },
  provider: Vendor = (baseURL) => anthropic({ baseURL, apiKey: 'k' }),
  providerModel: string = claude,
  price: object | null = rates,
): Promise<Wire> {
  let got: Wire | undefined
  const vendor = await vendorFor((request, response) => {
    got = request.json as Wire
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{}')
  })
  const model = { provider: provider(vendor.baseURL), providerModel, ...(price !== null && { price }) }
  const { url } = await hostedWith({ models: { m: model } })
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
  })
  await response.arrayBuffer()
  if (got === undefined) throw new Error('the vendor got nothing')
  return got
}

const marksIn = (wire: Wire) => JSON.stringify(wire).split('"cache_control"').length - 1
const text = (words: string) => [{ type: 'text', text: words, cache_control: mark }]

describe('a vendor with marks', () => {
  test.each([
    ['messages', messages],
    ['chats that become messages', chat],
  ])('gets them on the instructions and on the last turn of %s', async (_, request) => {
    const wire = await sent(request)
    expect(wire.system).toEqual(text(long))
    expect(wire.messages).toEqual([{ role: 'user', content: text('And now?') }])
    expect(marksIn(wire)).toBe(2)
  })

  test('gets one on the last tool if there are no instructions', async () => {
    const tool = (name: string) => ({ name, description: long, input_schema: { type: 'object' } })
    const { tools, system } = await sent({
      ...messages,
      body: { ...messages.body, system: undefined, tools: [tool('one'), tool('two')] },
    })
    expect(system).toBeUndefined()
    expect(tools).toEqual([tool('one'), { ...tool('two'), cache_control: mark }])
  })

  test('gets one on the results of tools', async () => {
    const result = { type: 'tool_result', tool_use_id: 'call', content: 'Done.' }
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'call', name: 'one', input: {} }] }
    const turns = [question, call, { role: 'user', content: [result] }]
    const wire = await sent({ ...messages, body: { ...messages.body, messages: turns } })
    expect(wire.messages).toEqual([question, call, { role: 'user', content: [{ ...result, cache_control: mark }] }])
  })

  test("gets only the client's own, if it sent any", async () => {
    const turns = [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { ...mark, ttl: '1h' } }] }]
    const price = { ...rates, cacheWrite1h: '6' }
    const wire = await sent({ ...messages, body: { ...messages.body, messages: turns } }, undefined, claude, price)
    expect(wire.system).toBe(long)
    expect(wire.messages).toEqual(turns)
  })

  test('gets them although the client writes about them', async () => {
    const turns = [{ role: 'user', content: 'What does {"cache_control": 1} mean?' }]
    expect(marksIn(await sent({ ...messages, body: { ...messages.body, messages: turns } }))).toBe(2)
  })

  test.each([
    ['the prompt is too short for the model', 'claude-opus-4-5', rates, {}],
    ['the price has no rate for written tokens', claude, { input: '3', cached: '0.3', output: '15' }, {}],
    ['there is no price', claude, null, {}],
    ['the host wants none', claude, rates, { promptCache: 'none' }],
  ] as const)('gets none if %s', async (_, model, price, options) => {
    const wire = await sent(messages, (baseURL) => anthropic({ baseURL, apiKey: 'k', ...options }), model, price)
    expect(marksIn(wire)).toBe(0)
    expect(wire.system).toBe(long)
  })

  test('gets them without a price if the host wants so', async () => {
    const provider: Vendor = (baseURL) => anthropic({ baseURL, apiKey: 'k', promptCache: 'auto' })
    expect(marksIn(await sent(messages, provider, claude, null))).toBe(2)
  })

  test('gets none on instructions that are too short by themselves', async () => {
    const turns = [{ role: 'user', content: long }]
    const wire = await sent({ ...messages, body: { ...messages.body, system: 'Be brief.', messages: turns } })
    expect(wire.system).toBe('Be brief.')
    expect(wire.messages).toEqual([{ role: 'user', content: text(long) }])
  })
})

describe('a vendor of chats', () => {
  const at =
    (preset: 'openrouter' | 'qwen'): Vendor =>
    (baseURL) =>
      openai({ preset, baseURL, apiKey: 'k' })

  test.each([
    ['openrouter', 'anthropic/claude-sonnet-5', chat],
    ['openrouter', 'anthropic/claude-sonnet-5', messages],
    ['qwen', 'qwen3-max', chat],
  ] as const)('gets them at %s for %s', async (preset, model, request) => {
    const wire = await sent(request, at(preset), model)
    expect(wire.messages).toEqual([
      { role: 'system', content: text(long) },
      { role: 'user', content: text('And now?') },
    ])
  })

  test.each([
    ['openrouter', 'openai/gpt-5'],
    ['qwen', 'qwen3-32b'],
  ] as const)('gets none at %s for %s', async (preset, model) => {
    expect(marksIn(await sent(chat, at(preset), model))).toBe(0)
  })
})

test('a vendor that marks the last turn itself gets one field, and the turns are not parsed', () => {
  const body = JsonBody.fromBytes(
    Buffer.from(JSON.stringify({ ...messages.body, model: 'm', pad: long.repeat(4) })),
    defaultSizes,
  )
  const read: string[] = []
  const field = (name: string) => {
    read.push(name)
    return body.get(name)
  }
  const call = {
    field,
    json: (changes: object) => body.with({ ...changes }),
    pricesCache: true,
  } as unknown as Call<unknown>
  const changes = cacheMarks(call, { promptCache: undefined, model: claude, instructions: 'system', automatic: true })
  expect(changes).toEqual({ system: text(long), cache_control: mark })
  expect(read).not.toContain('messages')
})

test('a prompt that the vendor writes to its cache costs at most what was held', async () => {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const vendor = await vendorFor((request, response) => {
    const written = JSON.stringify(request.json).length
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: claude,
        content: [{ type: 'text', text: 'Yes.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 0, cache_creation_input_tokens: Math.ceil(written / 4), output_tokens: 20 },
      }),
    )
  })
  const provider = anthropic({ baseURL: vendor.baseURL, apiKey: 'k' })
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { provider, providerModel: claude, price: rates } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...messages.body }),
  })
  expect(response.status, await response.text()).toBe(200)
  const { charge } = await receipt()
  expect(charge).toMatchObject({ overage: '0' })
  expect(charge?.lines.map(({ item }) => item)).toEqual(['cacheWrite', 'output'])
})
