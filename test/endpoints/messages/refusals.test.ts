/** Requests for messages that no vendor answers: at every step the same envelope, and words a person understands. */
import { anthropic } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { memoryLedger, type GatewayOptions } from '../../../src/index.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const start = Date.parse('2026-11-22T12:00:00Z')

async function gateway(options: Partial<GatewayOptions> = {}) {
  const vendor = await vendorFor((_, response) => {
    const usage = { input_tokens: 10, output_tokens: 5 }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: 'end_turn',
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...message, usage }))
  })
  const hosted = await hostedWith({
    models: { m: { provider: anthropic({ baseURL: vendor.baseURL }), price: { input: '3', output: '15' } } },
    retry: { maxAttempts: 1 },
    clock: () => start,
    ...options,
  })
  const send = async (body: unknown, init: RequestInit = {}, path = '/v1/messages') => {
    const response = await fetch(hosted.url + path, {
      method: 'POST',
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
      headers: {
        'x-api-key': 'sk-test',
        'content-type': 'application/json',
        ...(init.headers as Record<string, string>),
      },
    })
    const json = (await response.json()) as {
      type: string
      error: { type: string; message: string }
      request_id: string
    }
    expect(Object.keys(json)).toEqual(['type', 'error', 'request_id'])
    expect(Object.keys(json.error)).toEqual(['type', 'message'])
    expect(json.type).toBe('error')
    expect(json.request_id).toBe(response.headers.get('request-id'))
    expect(json.request_id).toBe(response.headers.get('x-request-id'))
    return { status: response.status, headers: response.headers, ...json.error }
  }
  return { ...hosted, vendor, send }
}

const hello = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }

test.each<[number, string, unknown, RequestInit, string?]>([
  [401, 'authentication_error', hello, { headers: { 'x-api-key': 'sk-none' } }],
  [401, 'authentication_error', hello, { headers: { 'x-api-key': '' } }],
  [404, 'not_found_error', { ...hello, model: 'none' }, {}],
  [404, 'not_found_error', hello, {}, '/v1/messages/batches'],
  [405, 'invalid_request_error', undefined, { method: 'GET' }],
  [405, 'invalid_request_error', undefined, { method: 'GET' }, '/v1/messages/count_tokens?beta=true'],
  [413, 'request_too_large', { ...hello, system: 'x'.repeat(2_000) }, {}],
  [415, 'invalid_request_error', hello, { headers: { 'content-type': 'text/plain' } }],
  [400, 'invalid_request_error', '{"model":', {}],
  [400, 'invalid_request_error', { ...hello, max_tokens: undefined }, {}],
  [400, 'invalid_request_error', { ...hello, messages: [{ role: 'tool', content: 'x' }] }, {}],
  [400, 'invalid_request_error', { ...hello, messages: [{ role: 'user', content: [{ text: 'no type' }] }] }, {}],
  [400, 'invalid_request_error', { ...hello, tools: ['f'] }, {}],
  [400, 'invalid_request_error', { ...hello, thinking: 'much' }, {}],
  [404, 'not_found_error', undefined, { method: 'GET', headers: { 'anthropic-version': 'x' } }, '/v1/models/none'],
  [404, 'not_found_error', undefined, { method: 'GET', headers: { 'anthropic-version': 'x' } }, '/v1/files'],
  [404, 'not_found_error', undefined, { method: 'GET', headers: { 'anthropic-version': 'x' } }, '/v1/skills?limit=1'],
])('%i %s', async (status, type, body, init, path) => {
  const { send, vendor } = await gateway({ sizes: { jsonBytes: 1_000 } })
  expect(await send(body, init, path)).toMatchObject({ status, type })
  expect(vendor.requests).toEqual([])
})

test('the other endpoints keep their own format', async () => {
  const { url } = await gateway()
  const headers = { authorization: 'Bearer sk-none', 'anthropic-version': '2023-06-01' }
  const chat = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers })
  expect(await chat.json()).toMatchObject({ error: { code: 'invalid_api_key', param: null } })
  expect(chat.headers.get('request-id')).toBeNull()
})

test('a rate limit says whose it is, how much it is, and when it ends', async () => {
  const rate = { requests: '1/min' } as const
  const { send, url } = await gateway({ keys: { 'sk-test': { rate } } })
  expect((await fetch(`${url}/v1/messages`, asked())).status).toBe(200)
  const refused = await send(hello)
  expect(refused).toMatchObject({ status: 429, type: 'rate_limit_error' })
  expect(refused.message).toBe('The rate limit of this key is reached: 1 request per minute. Try again in 1m0s.')
  expect(refused.headers.get('x-should-retry')).toBe('true')
  expect(refused.headers.get('retry-after')).toBe('60')
})

test('so does one of tokens', async () => {
  const { send, url, receipt } = await gateway({ groups: { default: { models: '*', rate: { tokens: '130/h' } } } })
  expect((await fetch(`${url}/v1/messages`, asked())).status).toBe(200)
  await receipt()
  const refused = await send(hello)
  expect(refused.message).toMatch(
    /^The rate limit of this account is reached: 130 tokens per hour; this request asks for about 1\d\d. Try again in /,
  )
  expect(refused.headers.get('x-should-retry')).toBe('false')
})

test('a budget says which one is used up, by how much, and when it resets', async () => {
  const ledger = memoryLedger({ clock: () => start })
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const caps = [{ name: 'daily', period: 'day', calls: 1 } as const]
  const { send, url, receipt } = await gateway({
    keys: { 'sk-test': { account: 'acme', caps } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  expect((await fetch(`${url}/v1/messages`, asked())).status).toBe(200)
  await receipt()
  const refused = await send(hello)
  expect(refused).toMatchObject({ status: 429, type: 'billing_error' })
  expect(refused.message).toContain('The cap "daily" of this key is reached: 1 call used, of 1 call')
  expect(refused.message).toContain('It resets at 2026-11-23T00:00:00.000Z.')
  expect(refused.headers.get('x-should-retry')).toBe('false')
})

test('an empty balance is said to be one', async () => {
  const { send } = await gateway({ billing: { currency: 'USD' } })
  const refused = await send(hello)
  expect(refused).toMatchObject({ status: 429, type: 'billing_error' })
  expect(refused.message).toContain('balance')
  expect(refused.headers.get('x-should-retry')).toBe('false')
})

test('a request that is refused because the gateway stops says so', async () => {
  const { send, gateway: own } = await gateway()
  const closing = own.close({ graceMs: 0 })
  expect(await send(hello)).toMatchObject({ status: 503, type: 'overloaded_error' })
  await closing
})

function asked(): RequestInit {
  const headers = { 'x-api-key': 'sk-test', 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(hello) }
}
