/** Counting the input tokens of a response: by its vendor, or by estimate, without cost and with a rate of its own. */
import { anthropic, defineProvider, gemini, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import type { GatewayOptions } from '../../../src/index.ts'
import { seal } from '../../../src/formats/envelope.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { post } from '../ask.ts'

async function counting(provider: Provider, options: Partial<GatewayOptions> = {}) {
  const hosted = await hostedWith({ models: { m: { provider, providerModel: 'inner' } }, ...options })
  const count = (body: object = {}) =>
    post(hosted.url, '/responses/input_tokens', { model: 'm', input: 'Hi there', ...body })
  return { ...hosted, count }
}

const answering =
  (value: object, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const counted = (tokens: number) => ({ object: 'response.input_tokens', input_tokens: tokens })

const silent = defineProvider({
  name: 'silent',
  chat() {
    throw new Error('nothing but a count was asked for')
  },
})

const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }

test('OpenAI counts: it gets the whole conversation, and only the fields that it counts', async () => {
  const vendor = await vendorFor(({ url }, response) => {
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }]
    const whole = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'inner', output }
    const body = url.endsWith('/input_tokens') ? counted(77) : whole
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const provider = openai({ baseURL: vendor.baseURL, responses: true })
  const { count, url, receipts, receipt } = await counting(provider)
  const before = {
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'Earlier' }],
  }
  const earlier = await post(url, '/responses', { model: 'm', input: [before] })
  await receipt()
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: seal('google', 'x') }
  const { json } = await count({
    previous_response_id: (earlier.json as { id: string }).id,
    input: [reasoning, { role: 'user', content: 'Hi there' }],
    instructions: 'Be brief.',
    tools: [tool],
    temperature: 1,
    max_output_tokens: 50,
    metadata: { a: 'b' },
  })
  expect(json).toEqual(counted(77))
  const { url: path, json: sent } = vendor.requests.at(-1) ?? {}
  expect(path).toBe('/v1/responses/input_tokens')
  expect(sent).toEqual({
    model: 'inner',
    instructions: 'Be brief.',
    tools: [tool],
    input: [
      before,
      { type: 'message', role: 'assistant', status: 'completed', content: [] },
      { role: 'user', content: 'Hi there' },
    ],
  })
  expect(receipts).toHaveLength(1)
})

test('OpenAI counts again without reasoning that it rejects', async () => {
  const vendor = await vendorFor((request, response) => {
    const { input } = request.json as { input: readonly { type?: string }[] }
    const rejects = input.some(({ type }) => type === 'reasoning')
    const error = { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' }
    response.writeHead(rejects ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(rejects ? { error } : counted(9)))
  })
  const provider = openai({ baseURL: vendor.baseURL, responses: true })
  const { count } = await counting(provider)
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: seal(provider.maker ?? '', 'expired') }
  const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] }
  expect((await count({ input: [reasoning, answer, { role: 'user', content: 'Hi' }] })).json).toEqual(counted(9))
  expect(vendor.requests).toHaveLength(2)
  expect(Object.keys(vendor.requests[1]?.json as object).sort()).toEqual(['input', 'model'])
})

test('Anthropic counts the translated request, of which it gets only the fields that it counts', async () => {
  const vendor = await vendorFor(answering({ input_tokens: 2_095 }))
  const { count, receipts } = await counting(anthropic({ baseURL: vendor.baseURL }))
  const body = { instructions: 'Be brief.', tools: [tool], temperature: 0.5, max_output_tokens: 50, user: 'ada' }
  expect((await count(body)).json).toEqual(counted(2_095))
  const [request] = vendor.requests
  expect(request?.url).toBe('/v1/messages/count_tokens')
  expect(request?.json).toMatchObject({
    model: 'inner',
    system: 'Be brief.',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi there' }] }],
  })
  expect(Object.keys(request?.json as object).sort()).toEqual(['messages', 'model', 'system', 'tools'])
  expect(receipts).toEqual([])
})

test('Gemini counts the translated request', async () => {
  const vendor = await vendorFor(answering({ totalTokens: 31 }))
  const { count } = await counting(gemini({ baseURL: vendor.baseURL.replace('/v1', '') }))
  expect((await count({ tools: [tool] })).json).toEqual(counted(31))
  expect(vendor.requests[0]).toMatchObject({
    url: '/v1beta/models/inner:countTokens',
    json: {
      generateContentRequest: {
        model: 'models/inner',
        contents: [{ role: 'user', parts: [{ text: 'Hi there' }] }],
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
      },
    },
  })
})

test('otherwise it is an estimate from the size, without calling a model', async () => {
  const { count } = await counting(silent)
  const { json } = await count({ input: 'word '.repeat(100) })
  expect(json).toMatchObject({ object: 'response.input_tokens' })
  const { input_tokens: tokens } = json as { input_tokens: number }
  expect(tokens).toBeGreaterThan(100)
  expect(tokens).toBeLessThan(200)
})

test('a vendor that fails, or counts nothing, is passed over; one that rejects the request is heard', async () => {
  const first = await vendorFor(answering({ error: { message: 'secret' } }, 500))
  const second = await vendorFor(answering({ input_tokens: 5 }))
  const providers = [openai({ baseURL: first.baseURL, responses: true }), anthropic({ baseURL: second.baseURL })]
  const route = providers.map((provider, order) => ({ provider, providerModel: 'inner', order }))
  const { count } = await counting(silent, { models: { m: { route } } })
  for (const [status, body] of [
    [500, {}],
    [404, {}],
    [429, {}],
    [200, { input_tokens: 'many' }],
    [200, {}],
  ] as const) {
    first.reply = answering(body, status)
    expect((await count()).json).toEqual(counted(5))
  }
  first.reply = answering({ error: { message: 'secret', param: 'input', type: 'invalid_request_error' } }, 400)
  const refused = await count()
  expect(refused).toMatchObject({ status: 400, json: { error: { type: 'invalid_request_error', param: 'input' } } })
  expect(refused.text).not.toContain('secret')
})

test('is refused as a response would be', async () => {
  const vendor = await vendorFor(answering({ totalTokens: 1 }))
  const { count } = await counting(gemini({ baseURL: vendor.baseURL.replace('/v1', '') }))
  const refusals = [
    [404, null, { model: 'unknown' }],
    [400, 'input', { input: [] }],
    [404, null, { conversation: 'conv_1' }],
    [400, 'input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
    [400, 'text.verbosity', { text: { verbosity: 'low' } }],
    [400, 'service_tier', { service_tier: 'priority' }],
  ] as const
  for (const [status, param, body] of refusals) {
    expect(await count(body)).toMatchObject({ status, json: { error: { param } } })
  }
  expect(vendor.requests).toEqual([])
})

test('costs nothing, needs no balance, and has the rate of all counts', async () => {
  const { count, url, gateway } = await counting(silent, {
    models: { m: { provider: silent, price: { input: '3', output: '15' }, rate: { requests: '1/h' } } },
    keys: { 'sk-test': { rate: { requests: '1/h' } } },
    billing: { currency: 'USD' },
    limits: { tokenCounts: '2/h' },
  })
  const first = await fetch(`${url}/v1/responses/input_tokens`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', input: 'Hi' }),
  })
  expect(first.status).toBe(200)
  expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
  const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  expect((await post(url, '/messages/count_tokens', question)).status).toBe(200)
  expect(await count()).toMatchObject({ status: 429, json: { error: { code: 'rate_limit_exceeded' } } })
  // The rate of requests is untouched: this one is refused for the empty balance.
  expect(await post(url, '/responses', { model: 'm', input: 'Hi' })).toMatchObject({
    json: { error: { code: 'insufficient_quota' } },
  })
  expect((await gateway.admin.usage.list({ account: 'default' })).items).toEqual([])
})
