/** Counting the tokens of a request: by its vendor, or by estimate, without cost and with a rate of its own. */
import { anthropic, defineProvider, gemini, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import type { GatewayOptions } from '../../../src/index.ts'
import { seal } from '../../../src/formats/envelope.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi there' }] }

async function counting(provider: Provider, options: Partial<GatewayOptions> = {}) {
  const hosted = await hostedWith({ models: { m: { provider, providerModel: 'inner' } }, ...options })
  const count = async (body: object = {}, headers: Record<string, string> = {}) => {
    const response = await fetch(`${hosted.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...question, ...body }),
    })
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Record<string, unknown>,
    }
  }
  return { ...hosted, count }
}

const answering =
  (value: object, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const silent = defineProvider({
  name: 'silent',
  chat() {
    throw new Error('nothing but a count was asked for')
  },
})

test('Anthropic counts: it gets the body with its own name of the model, and the headers of the API', async () => {
  const vendor = await vendorFor(answering({ input_tokens: 2_095 }))
  const { count, receipts } = await counting(anthropic({ baseURL: vendor.baseURL }))
  const thought = { type: 'thinking', thinking: 'hm', signature: seal('google', 'x') }
  const messages = [...question.messages, { role: 'assistant', content: [thought, { type: 'text', text: 'Yes?' }] }]
  const { json } = await count(
    { messages, speed: 'fast' },
    { 'anthropic-beta': 'effort-2025-11-24,fast-mode-2026-02-01' },
  )
  expect(json).toEqual({ input_tokens: 2_095 })
  const [request] = vendor.requests
  expect(request).toMatchObject({
    url: '/v1/messages/count_tokens',
    headers: { 'anthropic-beta': 'effort-2025-11-24' },
  })
  expect(request?.json).toEqual({
    model: 'inner',
    messages: [...question.messages, { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }] }],
  })
  expect(receipts).toEqual([])
})

test('Gemini counts the translated request', async () => {
  const vendor = await vendorFor(answering({ totalTokens: 31 }))
  const { count } = await counting(gemini({ baseURL: vendor.baseURL.replace('/v1', '') }))
  const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]
  const { json } = await count({ system: 'Be brief.', tools, thinking: { type: 'enabled', budget_tokens: 30_000 } })
  expect(json).toEqual({ input_tokens: 31 })
  expect(vendor.requests[0]).toMatchObject({
    url: '/v1beta/models/inner:countTokens',
    json: {
      generateContentRequest: { model: 'models/inner', contents: [{ role: 'user', parts: [{ text: 'Hi there' }] }] },
    },
  })
})

test('Vertex AI counts the fields of the translated request', async () => {
  const vendor = await vendorFor(answering({ totalTokens: 31 }))
  const base = vendor.baseURL.replace('/v1', '/v1/projects/p/locations/l/publishers/google')
  const { count } = await counting(gemini({ baseURL: base }))
  expect((await count({ system: 'Be brief.' })).json).toEqual({ input_tokens: 31 })
  expect(vendor.requests[0]?.url).toBe('/v1/projects/p/locations/l/publishers/google/models/inner:countTokens')
  expect(vendor.requests[0]?.json).toMatchObject({
    contents: [{ role: 'user', parts: [{ text: 'Hi there' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
  })
})

test('Gemini counts again without a signature that it rejects', async () => {
  const vendor = await vendorFor((request, response) => {
    const isSigned = JSON.stringify(request.json).includes('thoughtSignature')
    const error = { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' }
    response.writeHead(isSigned ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isSigned ? { error } : { totalTokens: 8 }))
  })
  const { count } = await counting(gemini({ baseURL: vendor.baseURL.replace('/v1', '') }))
  const state = { message: { extra_content: { google: { thought_signature: 'old' } } } }
  const signature = seal('google', Buffer.from(JSON.stringify(state)).toString('base64url'))
  const thought = { type: 'thinking', thinking: '', signature }
  const messages = [
    ...question.messages,
    { role: 'assistant', content: [thought, { type: 'text', text: 'Yes?' }] },
    ...question.messages,
  ]
  expect((await count({ messages })).json).toEqual({ input_tokens: 8 })
  expect(vendor.requests).toHaveLength(2)
})

test('OpenAI counts the translated request, of which it gets only the fields that it counts', async () => {
  const vendor = await vendorFor(answering({ object: 'response.input_tokens', input_tokens: 77 }))
  const { count } = await counting(openai({ baseURL: vendor.baseURL, responses: true }))
  expect((await count({ temperature: 1, max_tokens: 5 })).json).toEqual({ input_tokens: 77 })
  expect(vendor.requests[0]?.url).toBe('/v1/responses/input_tokens')
  expect(Object.keys(vendor.requests[0]?.json as object).sort()).toEqual(['input', 'model'])
})

test('a field that an answer would be asked for again without, is no reason to refuse a count', async () => {
  const vendor = await vendorFor(answering({ totalTokens: 31 }))
  const provider = gemini({ baseURL: vendor.baseURL.replace('/v1', '') })
  const { count } = await counting(provider, { models: { m: { provider, providerModel: 'gemini-2.0-flash' } } })
  const { json } = await count({ output_config: { effort: 'high' }, thinking: { type: 'adaptive' } })
  expect(json).toEqual({ input_tokens: 31 })
})

test('Anthropic counts again without thinking if it misses that of another vendor', async () => {
  const message =
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block'
  const vendor = await vendorFor((request, response) => {
    const thinks = (request.json as { thinking?: { type: string } }).thinking?.type === 'enabled'
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message } }
    response.writeHead(thinks ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(thinks ? refusal : { input_tokens: 12 }))
  })
  const { count } = await counting(anthropic({ baseURL: vendor.baseURL }))
  const messages = [
    ...question.messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
  ]
  const { json } = await count({ messages, thinking: { type: 'enabled', budget_tokens: 2_000 } })
  expect(json).toEqual({ input_tokens: 12 })
  expect(vendor.requests).toHaveLength(2)
})

test('otherwise it is an estimate from the size, in which an image has a usual number', async () => {
  const { count } = await counting(silent)
  const small = (await count()).json['input_tokens'] as number
  expect(small).toBeGreaterThan(5)
  expect(small).toBeLessThan(40)
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'a'.repeat(400_000) } }
  const { json } = await count({ messages: [{ role: 'user', content: [image] }] })
  expect(json['input_tokens']).toBeGreaterThan(1_500)
  expect(json['input_tokens']).toBeLessThan(2_000)
})

test('a vendor that fails or has no count is estimated; one that rejects the request is heard', async () => {
  const vendor = await vendorFor(answering({ error: { message: 'secret' } }, 500))
  const { count } = await counting(anthropic({ baseURL: vendor.baseURL }))
  for (const status of [500, 404, 429]) {
    vendor.reply = answering({ type: 'error', error: { type: 'api_error', message: 'secret' } }, status)
    expect((await count()).json['input_tokens']).toBeGreaterThan(5)
  }
  const error = { type: 'invalid_request_error', message: 'messages.0: bad' }
  vendor.reply = answering({ type: 'error', error }, 400)
  expect(await count()).toMatchObject({ status: 400, json: { type: 'error', error } })
})

test('costs nothing, needs no balance, and has a rate of its own', async () => {
  const { count, url, gateway } = await counting(silent, {
    models: { m: { provider: silent, price: { input: '3', output: '15' }, rate: { requests: '1/h' } } },
    keys: { 'sk-test': { rate: { requests: '1/h' } } },
    billing: { currency: 'USD' },
    limits: { tokenCounts: '2/h' },
  })
  const first = await count()
  expect(first.status).toBe(200)
  expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
  expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
  expect((await count()).status).toBe(200)
  const refused = await count()
  expect(refused).toMatchObject({ status: 429, json: { type: 'error', error: { type: 'rate_limit_error' } } })
  expect(refused.headers.get('x-should-retry')).toBe('false')
  // The rate of requests is untouched: this one is refused for the empty balance.
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...question, max_tokens: 10 }),
  })
  expect(await response.json()).toMatchObject({ error: { type: 'billing_error' } })
  expect((await gateway.admin.usage.list({ account: 'default' })).items).toEqual([])
})

test('is refused as a message would be', async () => {
  const { count } = await counting(silent)
  expect(await count({ model: 'unknown' })).toMatchObject({ status: 404, json: { error: { type: 'not_found_error' } } })
  expect(await count({ messages: [] })).toMatchObject({
    status: 400,
    json: { error: { type: 'invalid_request_error' } },
  })
  expect(await count({}, { 'x-api-key': 'sk-none' })).toMatchObject({
    status: 401,
    json: { error: { type: 'authentication_error' } },
  })
})
