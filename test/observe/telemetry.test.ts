/** Telemetry receives each request, its attempts and its end, whatever happens to it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { createGateway, type Failure, type GatewayOptions, type Telemetry } from '../../src/index.ts'
import {
  defineProvider,
  finish,
  openai,
  ProviderError,
  retrySame,
  text,
  type Provider,
} from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { askChat, hosted, vendorFor } from '../hosted.ts'
import { Recorder } from './recorder.ts'

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

const good = defineProvider({
  name: 'good',
  origin: 'https://vendor.example',
  async *generate() {
    yield text('Hel')
    yield text('lo')
    yield finish('stop', usage)
  },
})

function failing(thrown: Error): Provider {
  return defineProvider({
    name: 'bad',
    chat: () => {
      throw thrown
    },
  })
}

async function observed(providers: readonly Provider[], options: Partial<GatewayOptions> = {}) {
  const recorder = new Recorder()
  const route = providers.map((provider, order) => ({ provider, order, providerModel: `${provider.name}-1` }))
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { m: { route } },
    retry: { maxAttempts: 1 },
    telemetry: [recorder],
    ...options,
  })
  return { recorder, gateway, url: await hosted(gateway) }
}

test('a request is observed from its arrival to its end', async () => {
  const { recorder, url } = await observed([good])
  const response = await askChat(url)
  await response.text()
  const { call, attempts, end } = await recorder.ended()
  expect(call).toMatchObject({ id: response.headers.get('x-request-id'), endpoint: 'chat.completions' })
  expect(call).toMatchObject({ request: { model: 'm', stream: false }, model: { id: 'm' } })
  expect(call.caller?.group).toBe('default')
  const attempt = { endpoint: 'chat.completions', step: 'call', model: 'm', provider: 'good', providerModel: 'good-1' }
  expect(attempts).toMatchObject([
    { attempt: { ...attempt, openModel: false, origin: 'https://vendor.example' }, begun: true },
  ])
  expect(attempts[0]?.end).toMatchObject({ outcome: 'succeeded', fault: undefined, receipt: { usage } })
  expect(end).toMatchObject({ outcome: 'completed', status: 200, fault: undefined, receipt: { id: call.id, usage } })
  expect(recorder.receipts).toEqual([end.receipt])
})

test('an attempt whose response is streamed ends with the stream, and each piece is reported', async () => {
  const { recorder, url } = await observed([good])
  await (await askChat(url, { stream: true })).text()
  const { attempts, pieces, end } = await recorder.ended()
  expect(pieces).toBeGreaterThan(0)
  expect(attempts[0]).toMatchObject({ begun: true, end: { outcome: 'succeeded', receipt: { stream: true } } })
  expect(end).toMatchObject({ outcome: 'completed', status: 200 })
})

test('each attempt is reported with whose fault it was, behind a response that succeeds', async () => {
  const busy = failing(new ProviderError('rate_limit_exceeded', { retry: 'next', vendorStatus: 429 }))
  const { recorder, url } = await observed([busy, failing(new TypeError('a bug')), good])
  await (await askChat(url)).text()
  const { attempts, end } = await recorder.ended()
  expect(attempts.map((each) => [each.begun, each.end?.outcome, each.end?.fault, each.end?.status])).toEqual([
    [false, 'failed', 'provider_rate_limit', 429],
    [false, 'failed', 'provider_error', undefined],
    [true, 'succeeded', undefined, undefined],
  ])
  expect(end.outcome).toBe('completed')
})

test.each([
  ['a vendor that is down', retrySame(new Error('x'), { vendorStatus: 502 }), 503, 'failed', 'provider_unavailable'],
  [
    'a vendor that rejects our key',
    retrySame(new Error('x'), { vendorStatus: 401 }),
    503,
    'failed',
    'provider_rejected',
  ],
  ['an exception in the provider', new TypeError('x'), 500, 'failed', 'provider_error'],
  [
    'a request that the vendor rejects',
    new ProviderError('invalid_request_error', { retry: 'never' }),
    400,
    'rejected',
    'caller_invalid_request',
  ],
] as const)('%s: the request fails with the fault of its last attempt', async (_, thrown, status, outcome, fault) => {
  const { recorder, url } = await observed([failing(thrown)])
  expect((await askChat(url)).status).toBe(status)
  const { attempts, end } = await recorder.ended()
  expect(attempts).toMatchObject([{ begun: false, end: { outcome, fault } }])
  expect(end).toMatchObject({ outcome: 'failed', status, fault, receipt: { outcome: 'failed', attempts: 1 } })
})

test('a request that is refused before its model has no attempt', async () => {
  const { recorder, url } = await observed([good])
  await askChat(url, {}, { headers: { authorization: 'Bearer wrong' } })
  await askChat(url, { model: 'unknown' })
  await fetch(`${url}/v1/nowhere`, { headers: { authorization: 'Bearer sk-test' } })
  await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer sk-test' } })
  expect(
    recorder.calls.map(({ call, attempts, end }) => [call.endpoint, attempts.length, end?.status, end?.fault]),
  ).toEqual([
    ['chat.completions', 0, 401, 'caller_unauthenticated'],
    ['chat.completions', 0, 404, 'caller_not_found'],
    [undefined, 0, 404, 'caller_not_found'],
    ['models.list', 0, 200, undefined],
  ])
  expect(recorder.calls[1]?.call).toMatchObject({ request: { model: 'unknown' }, model: undefined })
})

test('a limit of the gateway is a fault of policy', async () => {
  const groups = { default: { models: '*', rate: { requests: '1/min' } } } as const
  const { recorder, url } = await observed([good], { groups })
  await (await askChat(url)).text()
  expect((await askChat(url)).status).toBe(429)
  expect((await recorder.ended(1)).end).toMatchObject({ status: 429, fault: 'policy_rate_limit' })
})

test('a client that disconnects before the response aborts the attempt', async () => {
  const started = Promise.withResolvers<void>()
  const slow = defineProvider({
    name: 'slow',
    chat: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        started.resolve()
      }),
  })
  const { recorder, url } = await observed([slow])
  const client = new AbortController()
  const pending = askChat(url, {}, { signal: client.signal }).catch(() => undefined)
  await started.promise
  expect(recorder.state().openCalls).toBe(1)
  client.abort()
  const { attempts, end } = await recorder.ended()
  expect(attempts).toMatchObject([{ begun: false, end: { outcome: 'aborted', fault: 'caller_disconnected' } }])
  expect(end).toMatchObject({ outcome: 'cancelled', status: 499, fault: 'caller_disconnected' })
  await pending
  expect(recorder.state().openCalls).toBe(0)
})

test('a stream that breaks off is a failed attempt that has begun, and a response with status 200', async () => {
  const broken = defineProvider({
    name: 'broken',
    async *generate() {
      yield text('Hel')
      throw retrySame(new Error('the connection broke'), { vendorStatus: 502 })
    },
  })
  const { recorder, url } = await observed([broken])
  await (await askChat(url, { stream: true })).text()
  const { attempts, end } = await recorder.ended()
  expect(attempts).toMatchObject([{ begun: true, end: { outcome: 'failed', fault: 'provider_unavailable' } }])
  expect(end).toMatchObject({ outcome: 'failed', status: 200, fault: 'provider_unavailable' })
})

const whole = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [], usage }

test.each<[name: string, reply: VendorReply, fault: string]>([
  ['is overloaded', (_, response) => void response.writeHead(503).end(), 'provider_unavailable'],
  ['limits our rate', (_, response) => void response.writeHead(429).end(), 'provider_rate_limit'],
  ['rejects our key', (_, response) => void response.writeHead(401).end(), 'provider_rejected'],
  ['rejects the request', (_, response) => void response.writeHead(400).end('{}'), 'caller_invalid_request'],
  ['closes the connection', (_, response) => void response.destroy(), 'provider_unavailable'],
  ['does not answer in time', () => undefined, 'provider_timeout'],
  [
    'sends what is not JSON',
    (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    'provider_invalid_response',
  ],
  [
    'sends no answer',
    (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole)),
    'provider_invalid_response',
  ],
])('a vendor that %s: the fault of the attempt and of the request', async (_, reply, fault) => {
  const vendor = await vendorFor(reply)
  const firstByteMs = fault === 'provider_timeout' ? 200 : 60_000
  const { recorder, url } = await observed([openai({ baseURL: vendor.baseURL, firstByteMs })])
  await (await askChat(url)).text()
  const { attempts, end } = await recorder.ended()
  expect([attempts[0]?.end?.fault, end.fault]).toEqual([fault, fault])
})

test('the timeout of the gateway for the first content is the fault of the provider', async () => {
  const vendor = await vendorFor(() => undefined)
  const { recorder, url } = await observed([openai({ baseURL: vendor.baseURL })], { timeouts: { firstContentMs: 100 } })
  expect((await askChat(url)).status).toBe(503)
  const { attempts, end } = await recorder.ended()
  expect(attempts).toMatchObject([{ end: { outcome: 'aborted', fault: 'provider_timeout' } }])
  expect(end).toMatchObject({ outcome: 'failed', fault: 'provider_timeout' })
})

test('a gateway that is shutting down, or whose balance of an account is empty, says so', async () => {
  const price = { input: '2', output: '8' }
  const models = { m: { provider: good, price, maxOutputTokens: 100 } }
  const { recorder, gateway, url } = await observed([], { models, billing: { currency: 'EUR' } })
  expect((await askChat(url)).status).toBe(429)
  expect((await recorder.ended()).end.fault).toBe('policy_quota')
  const closed = gateway.close({ graceMs: 0 })
  expect((await askChat(url)).status).toBe(503)
  expect((await recorder.ended(1)).end.fault).toBe('gateway_closing')
  await closed
  expect(recorder.state().closing).toBe(true)
})

test('headers of a listener reach the vendor, with each attempt', async () => {
  const vendor = await vendorFor((_, response) => {
    if (vendor.requests.length === 1) return void response.writeHead(503).end()
    const message = { role: 'assistant', content: 'Hello' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message }], usage }))
  })
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
  const { recorder, url } = await observed([provider], { retry: { maxAttempts: 2, backoffMs: 1 } })
  recorder.headers = { traceparent: '00-1-2-01' }
  await (await askChat(url)).text()
  await (await askChat(url, { messages: [{ role: 'user', content: 'x'.repeat(20_000) }] })).text()
  expect(vendor.requests.map(({ headers }) => headers['traceparent'])).toEqual(Array(3).fill('00-1-2-01'))
  expect(vendor.requests[2]?.headers).toMatchObject({
    authorization: 'Bearer sk-vendor',
    'content-type': 'application/json',
  })
  expect((await recorder.ended()).attempts[0]?.attempt.origin).toBe(new URL(vendor.baseURL).origin)
})

test('the context of the host is active when a request arrives, and that of a listener when a provider is called', async () => {
  const host = new AsyncLocalStorage<string>()
  const own = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const provider = defineProvider({
    name: 'p',
    async *generate() {
      seen.push(own.getStore())
      yield finish('stop')
    },
  })
  const telemetry: Telemetry = {
    call: () => {
      seen.push(host.getStore())
      return { attempt: () => ({ within: (work) => own.run('attempt', work) }) }
    },
  }
  const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: provider }, telemetry: [telemetry] })
  const url = await hosted({
    serves: (target) => gateway.serves(target),
    handle: (exchange) => host.run('host', () => gateway.handle(exchange)),
    close: (options) => gateway.close(options),
  } as typeof gateway)
  await (await askChat(url)).text()
  expect(seen).toEqual(['host', 'attempt'])
})

test('an exception in telemetry is reported as a failure and affects no request', async () => {
  const broken = () => {
    throw new Error('telemetry failed')
  }
  const listener = { attempt: () => ({ begun: broken, ended: broken }), piece: broken, ended: broken, task: broken }
  for (const each of [
    { call: broken },
    { call: () => listener, receipt: broken },
    { call: () => ({ attempt: broken }) },
  ]) {
    const failures: Failure[] = []
    const recorder = new Recorder()
    const hooks = { failure: (failure: Failure) => void failures.push(failure) }
    const { url } = await observed([good], { telemetry: [each, recorder], hooks })
    expect(await (await askChat(url, { stream: true })).text()).toContain('[DONE]')
    expect((await recorder.ended()).attempts).toMatchObject([{ end: { outcome: 'succeeded' } }])
    expect(failures.map(({ error }) => String(error))).toContain('Error: telemetry failed')
  }
})

test('a replayed response is observed without an attempt', async () => {
  const { recorder, url } = await observed([good])
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'k' }
  for (let turn = 0; turn < 2; turn++) await (await askChat(url, {}, { headers })).text()
  const { attempts, end } = await recorder.ended(1)
  expect([attempts.length, end.outcome, end.status, end.receipt]).toEqual([0, 'completed', 200, undefined])
})
