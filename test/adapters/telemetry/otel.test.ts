/** Traces and metrics by OpenTelemetry's conventions, through the SDK with exporters in memory. */
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { beforeAll, describe, expect, test } from 'vitest'
import { otel, type OtelOptions } from '../../../adapters/telemetry/otel/otel.ts'
import { createGateway, type Exchange, type GatewayOptions } from '../../../src/index.ts'
import {
  anthropic,
  defineProvider,
  demo,
  finish,
  openai,
  retrySame,
  text,
  type Provider,
} from '../../../src/providers/index.ts'
import { message, messageFrames } from '../../bench/message-traffic.ts'
import { completion, frames } from '../../bench/traffic.ts'
import { askChat, hosted, vendorFor } from '../../hosted.ts'
import { Sdk, withContexts, withinHost, type Point } from './sdk.ts'

beforeAll(withContexts)

const usage = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

const good = defineProvider({
  name: 'gemini',
  origin: 'https://vendor.example:8443',
  async *generate() {
    yield text('Hel')
    yield text('lo')
    yield finish('stop', usage)
  },
})

const bad = defineProvider({
  name: 'bad',
  chat: () => {
    throw retrySame(new Error('secret text of the vendor'), { vendorStatus: 502 })
  },
})

async function traced(providers: readonly Provider[], given: OtelOptions = {}, more: Partial<GatewayOptions> = {}) {
  const sdk = new Sdk()
  const { tracerProvider, meterProvider } = sdk
  const route = providers.map((provider, order) => ({ provider, order, providerModel: `${provider.name}-1` }))
  const gateway = createGateway({
    keys: { 'sk-test': { account: 'acme', user: 'lovelace' } },
    models: { m: { route } },
    retry: { maxAttempts: 1 },
    telemetry: [otel({ tracerProvider, meterProvider, ...given })],
    ...more,
  })
  return { sdk, gateway, url: await hosted(gateway) }
}

function exchangeOf(body: object, headers: Record<string, string> = {}): Exchange {
  return {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
    body: { state: 'parsed', value: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body } },
    signal: new AbortController().signal,
  }
}

const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] }

const pointsOf = (points: Map<string, Point[]>, name: string) =>
  (points.get(name) ?? []).map(({ attributes, count }) => ({ ...attributes, count }))

describe('spans', () => {
  test('a request has one, and a child for its attempt at a vendor', async () => {
    const { sdk, url } = await traced([good])
    const response = await askChat(url, { temperature: 0.5, max_completion_tokens: 100, n: 1, seed: 7 })
    await response.text()
    const [attempt, call] = await sdk.ended(2)
    const id = response.headers.get('x-request-id')
    expect(call).toMatchObject({ name: 'chat m', kind: SpanKind.SERVER, parent: undefined, status: 0 })
    expect(call?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'http.response.status_code': 200,
      'modelhatch.request.id': id,
    })
    expect(attempt).toMatchObject({
      name: 'chat gemini-1',
      kind: SpanKind.CLIENT,
      parent: call?.id,
      trace: call?.trace,
    })
    expect(attempt?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-1',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 100,
      'gen_ai.request.seed': 7,
      'gen_ai.response.id': id?.replace('req_', 'chatcmpl-'),
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 12,
      'gen_ai.usage.cache_read.input_tokens': 20,
      'gen_ai.usage.cache_creation.input_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'server.address': 'vendor.example',
      'server.port': 8443,
    })
  })

  test('of a stream end with it, and have the time of the first chunk', async () => {
    const { sdk, url } = await traced([good])
    await (await askChat(url, { stream: true })).text()
    const [attempt, call] = await sdk.ended(2)
    expect(attempt?.attributes).toMatchObject({ 'gen_ai.request.stream': true, 'gen_ai.usage.output_tokens': 12 })
    expect(attempt?.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0)
    expect(call?.attributes).toMatchObject({ 'gen_ai.request.stream': true, 'http.response.status_code': 200 })
  })

  test.each([
    ['chat JSON', openai, '/chat/completions', false, completion('json'), 'chatcmpl-', 'stop'],
    ['chat stream', openai, '/chat/completions', true, frames('json', 5).join(''), 'chatcmpl-', 'stop'],
    ['message JSON', anthropic, '/messages', false, message('json'), 'msg_', 'end_turn'],
    ['message stream', anthropic, '/messages', true, messageFrames('json', 5).join(''), 'msg_', 'end_turn'],
  ] as const)(
    'have the id and the finish reason of a response: %s',
    async (_, make, path, stream, body, prefix, reason) => {
      const type = stream ? 'text/event-stream' : 'application/json'
      const vendor = await vendorFor((__, response) => void response.writeHead(200, { 'content-type': type }).end(body))
      const { sdk, url } = await traced([make({ baseURL: vendor.baseURL, apiKey: 'k' })])
      const response = await fetch(`${url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: 'Hi' }] }),
      })
      const text = await response.text()
      const [attempt] = await sdk.ended(2)
      const id = attempt?.attributes['gen_ai.response.id']
      expect(id).toMatch(new RegExp(`^${prefix}`))
      expect(text).toContain(`"${String(id)}"`)
      expect(attempt?.attributes['gen_ai.response.finish_reasons']).toEqual([reason])
    },
  )

  test.each([
    ['responses JSON', false],
    ['responses stream', true],
  ])('have the id of a response: %s', async (_, stream) => {
    const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [item] }
    const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
    const events = [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response }),
    ]
    const type = stream ? 'text/event-stream' : 'application/json'
    const body = stream ? events.join('') : JSON.stringify(response)
    const vendor = await vendorFor((__, reply) => void reply.writeHead(200, { 'content-type': type }).end(body))
    const { sdk, url } = await traced([openai({ baseURL: vendor.baseURL, apiKey: 'k', responses: true })])
    const answer = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Hi', stream }),
    })
    expect(await answer.text()).toContain('"resp_1"')
    const [attempt] = await sdk.ended(2)
    expect(attempt?.attributes['gen_ai.response.id']).toBe('resp_1')
  })

  test('of attempts that failed tell whose fault it was, and nothing of the vendor’s text', async () => {
    const { sdk, url } = await traced([bad, good])
    await (await askChat(url)).text()
    const [failed, succeeded, call] = await sdk.ended(3)
    expect(failed).toMatchObject({ name: 'chat bad-1', parent: call?.id, status: SpanStatusCode.ERROR })
    expect(failed?.attributes).toMatchObject({ 'error.type': 'provider_unavailable', 'http.response.status_code': 502 })
    expect(succeeded).toMatchObject({ name: 'chat gemini-1', parent: call?.id, status: SpanStatusCode.UNSET })
    expect(call).toMatchObject({ status: SpanStatusCode.UNSET, attributes: { 'modelhatch.attempts': 2 } })
    expect(JSON.stringify(sdk.spans)).not.toContain('secret')
  })

  test('of a request that failed have the fault of its last attempt', async () => {
    const { sdk, url } = await traced([bad])
    expect((await askChat(url)).status).toBe(503)
    const [, call] = await sdk.ended(2)
    expect(call).toMatchObject({ status: SpanStatusCode.ERROR })
    expect(call?.attributes).toMatchObject({
      'error.type': 'provider_unavailable',
      'http.response.status_code': 503,
      'modelhatch.outcome': 'failed',
    })
  })

  test('of requests that are refused before a model have no child', async () => {
    const { sdk, url } = await traced([good])
    await askChat(url, {}, { headers: { authorization: 'Bearer wrong' } })
    await askChat(url, { model: 'x'.repeat(5_000) })
    await fetch(`${url}/v1/nowhere`)
    const spans = await sdk.ended(3)
    expect(
      spans.map(({ name, attributes }) => [name, attributes['error.type'], attributes['http.response.status_code']]),
    ).toEqual([
      ['chat', 'caller_unauthenticated', 401],
      ['chat', 'caller_not_found', 404],
      ['_OTHER', 'caller_not_found', 404],
    ])
    expect(spans[1]?.attributes['gen_ai.request.model']).toBe('x'.repeat(256))
  })

  test('of a request whose client disconnects say so, and are not errors of the request', async () => {
    const started = Promise.withResolvers<void>()
    const slow = defineProvider({
      name: 'slow',
      chat: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
          started.resolve()
        }),
    })
    const { sdk, url } = await traced([slow])
    const client = new AbortController()
    const pending = askChat(url, {}, { signal: client.signal }).catch(() => undefined)
    await started.promise
    client.abort()
    const [attempt, call] = await sdk.ended(2)
    expect(attempt?.attributes).toMatchObject({ 'error.type': 'caller_disconnected', 'modelhatch.outcome': 'aborted' })
    expect(call).toMatchObject({ status: SpanStatusCode.UNSET })
    expect(call?.attributes).toMatchObject({ 'error.type': 'caller_disconnected', 'modelhatch.outcome': 'cancelled' })
    await pending
  })

  test('are children of the host’s active span, and are active while the provider is called', async () => {
    const { sdk, gateway } = await traced([
      defineProvider({
        name: 'inner',
        async *generate() {
          sdk.tracerProvider.getTracer('plug-in').startSpan('plug-in').end()
          yield finish('stop')
        },
      }),
    ])
    const host = await withinHost(sdk, () => gateway.handle(exchangeOf({})))
    const spans = await sdk.ended(4)
    const [inner, attempt, call] = spans.filter(({ name }) => name !== 'host')
    expect(call).toMatchObject({ kind: SpanKind.INTERNAL, parent: host.id, trace: host.trace })
    expect(attempt).toMatchObject({ parent: call?.id, trace: host.trace })
    expect(inner).toMatchObject({ name: 'plug-in', parent: attempt?.id, trace: host.trace })
  })

  test('are active for providers of the host’s own, and for all with the option "active"', async () => {
    const own = defineProvider({ ...good, name: 'own', origin: undefined })
    for (const [provider, given, isActive] of [
      [own, {}, true],
      [own, { active: false }, false],
      [good, {}, false],
      [good, { active: true }, true],
    ] as const) {
      const seen: (string | undefined)[] = []
      const generate = () => {
        seen.push(trace.getActiveSpan()?.spanContext().spanId)
        return provider.generate()
      }
      const { sdk, gateway } = await traced([{ ...provider, generate }], given)
      await gateway.handle(exchangeOf({}))
      const [attempt] = await sdk.ended(2)
      expect(seen).toEqual([isActive ? attempt?.id : undefined])
    }
  })

  test('continue the client’s trace only if the host allows it', async () => {
    const client = { trace: '0af7651916cd43dd8448eb211c80319c', id: 'b7ad6b7169203331' }
    const headers = { traceparent: `00-${client.trace}-${client.id}-01` }
    for (const acceptTraceparent of [true, false]) {
      const { sdk, gateway } = await traced([good], { acceptTraceparent })
      await gateway.handle(exchangeOf({}, headers))
      const [, call] = await sdk.ended(2)
      expect([call?.trace === client.trace, call?.parent === client.id]).toEqual([acceptTraceparent, acceptTraceparent])
      await gateway.handle(exchangeOf({}, { traceparent: '00-zz-1-01' }))
      expect((await sdk.ended(4))[3]?.parent).toBeUndefined()
      const host = await withinHost(sdk, () => gateway.handle(exchangeOf({}, headers)))
      const spans = await sdk.ended(7)
      expect(spans.filter(({ parent }) => parent === host.id).map(({ name }) => name)).toEqual(['chat m'])
    }
  })

  test('carry accounts, keys and content only if asked to', async () => {
    const body = { messages: [{ role: 'user', content: 'a private thought' }], user: 'u-1', tools: [] }
    const quiet = await traced([good])
    await (await askChat(quiet.url, body)).text()
    await quiet.sdk.ended(2)
    expect(JSON.stringify(quiet.sdk.spans)).not.toMatch(/private|acme|lovelace|u-1|sk-test/)
    const open = await traced([good], { record: ['account', 'key', 'user', 'content'] })
    await (await askChat(open.url, body)).text()
    const [attempt, call] = await open.sdk.ended(2)
    expect(call?.attributes).toMatchObject({ 'modelhatch.account': 'acme', 'modelhatch.user': 'lovelace' })
    expect(call?.attributes['modelhatch.key']).toMatch(/^key_|\w/)
    expect(attempt?.attributes['gen_ai.input.messages']).toBe(JSON.stringify(body.messages))
    expect(JSON.stringify(open.sdk.spans)).not.toContain('sk-test')
  })

  test('say nothing about the content of a large request, which would take long to parse', async () => {
    const { sdk, url } = await traced([good], { record: ['content'] })
    const messages = [{ role: 'user', content: 'x'.repeat(300 * 1024) }]
    await (await askChat(url, { messages, temperature: 1, stream: true })).text()
    const [attempt] = await sdk.ended(2)
    expect(attempt?.attributes).toMatchObject({ 'gen_ai.request.stream': true, 'gen_ai.usage.input_tokens': 30 })
    expect(attempt?.attributes).not.toHaveProperty('gen_ai.request.temperature')
    expect(attempt?.attributes).not.toHaveProperty('gen_ai.input.messages')
  })

  test('reach the vendor as traceparent only if asked to', async () => {
    const vendor = await vendorFor((_, response) => {
      const message = { role: 'assistant', content: 'Hello' }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message }], usage }))
    })
    for (const propagate of [false, true]) {
      const { sdk, url } = await traced([openai({ baseURL: vendor.baseURL })], { propagate })
      await (await askChat(url)).text()
      const [attempt] = await sdk.ended(2)
      const expected = propagate ? `00-${attempt?.trace}-${attempt?.id}-01` : undefined
      expect(vendor.requests.at(-1)?.headers['traceparent']).toBe(expected)
      expect(attempt?.attributes['server.port']).toBe(Number(new URL(vendor.baseURL).port))
    }
  })

  test('are absent without an SDK, and requests are served all the same', async () => {
    const gateway = createGateway({
      keys: { 'sk-test': {} },
      models: { m: good },
      telemetry: [otel({ propagate: true })],
    })
    expect((await gateway.handle(exchangeOf({}))).status).toBe(200)
    await gateway.close()
  })
})

describe('metrics', () => {
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'gcp.gemini' }

  test('count attempts, tokens and requests, with the buckets of the conventions', async () => {
    const { sdk, url } = await traced([bad, good])
    await (await askChat(url)).text()
    const points = await sdk.points()
    const vendors = { ...chat, 'gen_ai.request.model': 'gemini-1' }
    expect(pointsOf(points, 'gen_ai.client.operation.duration')).toEqual([
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'bad',
        'gen_ai.request.model': 'bad-1',
        'error.type': 'provider_unavailable',
        count: 1,
      },
      { ...vendors, count: 1 },
    ])
    expect(pointsOf(points, 'gen_ai.client.token.usage')).toEqual([
      { ...vendors, 'gen_ai.token.type': 'input', count: 1 },
      { ...vendors, 'gen_ai.token.type': 'output', count: 1 },
    ])
    expect(points.get('gen_ai.client.token.usage')?.map(({ value }) => value)).toEqual([30, 12])
    expect(pointsOf(points, 'gen_ai.server.request.duration')).toEqual([
      { ...chat, 'gen_ai.request.model': 'm', count: 1 },
    ])
    const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    expect(points.get('gen_ai.server.request.duration')?.[0]?.bounds).toEqual(seconds)
    expect(points.get('gen_ai.client.operation.duration')?.[0]?.bounds).toEqual(seconds)
    expect(points.get('gen_ai.client.token.usage')?.[0]?.bounds).toEqual([
      1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
    ])
    expect(points.has('gen_ai.client.operation.time_to_first_chunk')).toBe(false)
  })

  test('measure streams: first chunk, time per chunk, first token, time per token', async () => {
    const { sdk, url } = await traced([good])
    await (await askChat(url, { stream: true })).text()
    await sdk.ended(2)
    const points = await sdk.points()
    expect(pointsOf(points, 'gen_ai.client.operation.time_to_first_chunk')).toEqual([
      { ...chat, 'gen_ai.request.model': 'gemini-1', count: 1 },
    ])
    for (const name of ['gen_ai.server.time_to_first_token', 'gen_ai.server.time_per_output_token']) {
      expect(pointsOf(points, name)).toEqual([{ ...chat, 'gen_ai.request.model': 'm', count: 1 }])
    }
  })

  test('count costs in millionths, holds, queues and open calls', async () => {
    const entered = Promise.withResolvers<void>()
    const leave = Promise.withResolvers<void>()
    const waiting = defineProvider({
      name: 'waiting',
      async *generate() {
        entered.resolve()
        await leave.promise
        yield finish('stop', usage)
      },
    })
    const { sdk, gateway, url } = await traced(
      [],
      {},
      {
        billing: { currency: 'EUR' },
        models: {
          m: {
            route: [{ provider: waiting, providerModel: 'waiting-1', cost: { input: '1', output: '10.5' } }],
            price: { input: '2', output: '10' },
            maxOutputTokens: 100,
          },
        },
      },
    )
    await gateway.admin.accounts.topUp({ account: 'acme', amount: '10', reference: 'first' })
    const pending = askChat(url)
    await entered.promise
    const during = await sdk.points()
    expect(during.get('modelhatch.calls.open')).toMatchObject([{ value: 1 }])
    expect(during.get('modelhatch.holds')).toMatchObject([{ value: 1 }])
    expect(during.get('modelhatch.queue.size')?.map(({ attributes }) => attributes['modelhatch.queue'])).toEqual([
      'settlements',
      'returns',
      'usage',
    ])
    leave.resolve()
    await (await pending).text()
    const after = await sdk.points()
    expect(after.get('modelhatch.cost')).toMatchObject([
      { attributes: { 'gen_ai.request.model': 'm', 'modelhatch.currency': 'EUR' }, value: 30 * 2 + 12 * 10 },
    ])
    const spent = 30 * 1 + 12 * 10.5
    const ofVendor = { 'gen_ai.provider.name': 'waiting', 'gen_ai.request.model': 'm', 'modelhatch.currency': 'EUR' }
    expect(after.get('modelhatch.vendor_cost')).toMatchObject([{ attributes: ofVendor, value: spent }])
    expect(after.get('modelhatch.calls.open')).toMatchObject([{ value: 0 }])
    expect(after.get('modelhatch.holds')).toMatchObject([{ value: 0 }])
    expect(sdk.spans.at(-1)?.attributes).toMatchObject({
      'modelhatch.cost': 180,
      'modelhatch.vendor_cost': spent,
      'modelhatch.margin': 180 - spent,
      'modelhatch.currency': 'EUR',
    })
  })

  test('show the breaker of a deployment, and count its changes', async () => {
    let now = 0
    const clock = () => now
    let up = false
    const flaky = defineProvider({
      name: 'flaky',
      async *generate() {
        if (!up) throw retrySame(new Error('down'))
        yield finish('stop')
      },
    })
    const { sdk, url } = await traced([flaky], {}, { clock, breaker: { failures: 2, coolDownMs: 1_000 } })
    const state = async () => (await sdk.points()).get('modelhatch.breaker.state') ?? []
    await askChat(url)
    expect(await state()).toEqual([])
    await askChat(url)
    const attributes = { 'gen_ai.provider.name': 'flaky', 'gen_ai.request.model': 'flaky-1' }
    expect(await state()).toMatchObject([{ attributes, value: 2 }])
    up = true
    now = 5_000
    await (await askChat(url)).text()
    expect(await state()).toMatchObject([{ attributes, value: 0 }])
    const changes = (await sdk.points()).get('modelhatch.breaker.changes')
    expect(changes?.map((each) => [each.attributes['modelhatch.state'], each.value])).toEqual([
      ['open', 1],
      ['half-open', 1],
      ['closed', 1],
    ])
  })

  test('count failures of stores, and what is dropped', async () => {
    const broken = { find: async () => Promise.reject(new Error('the database is down')) }
    const { sdk, gateway, url } = await traced([good], {}, { storage: { keys: broken }, keys: {} })
    expect((await askChat(url)).status).toBe(503)
    expect((await sdk.points()).get('modelhatch.store.failures')).toMatchObject([
      { attributes: { 'modelhatch.store': 'the key store' }, value: 1 },
    ])
    const [call] = await sdk.ended(1)
    expect(call?.attributes).toMatchObject({ 'error.type': 'gateway_store' })
    await gateway.close()
  })

  test('count usage records that were dropped', async () => {
    const usageStore = {
      append: () => new Promise<void>(() => undefined),
      list: async () => [],
      summarise: async () => [],
    }
    const { sdk, url } = await traced(
      [good],
      {},
      {
        storage: { usage: usageStore as never },
        usage: { queue: 1 },
      },
    )
    for (let turn = 0; turn < 3; turn++) await (await askChat(url)).text()
    await expect
      .poll(async () => (await sdk.points()).get('modelhatch.dropped'), { timeout: 20_000 })
      .toMatchObject([{ attributes: { 'modelhatch.queue': 'usage' } }])
  })

  test('have no label for model names that clients choose', async () => {
    const { sdk, url } = await traced([], { models: ['open/known'] }, { models: { m: good, 'open/*': good } })
    for (const model of ['open/a', 'open/b', 'open/known', 'c', 'd', 'm']) await (await askChat(url, { model })).text()
    const points = await sdk.points()
    const models = (name: string) =>
      new Set(points.get(name)?.map(({ attributes }) => attributes['gen_ai.request.model']))
    expect(models('gen_ai.server.request.duration')).toEqual(new Set(['_OTHER', 'open/known', 'm']))
    expect(models('gen_ai.client.operation.duration')).toEqual(new Set(['_OTHER', 'm']))
  })

  test('can be had without traces, and traces without metrics', async () => {
    const silent = await traced([good], { traces: false })
    await (await askChat(silent.url, { stream: true })).text()
    expect((await silent.sdk.points()).has('gen_ai.server.request.duration')).toBe(true)
    expect(silent.sdk.spans).toEqual([])
    const only = await traced([good], { metrics: false })
    await (await askChat(only.url)).text()
    expect((await only.sdk.ended(2)).length).toBe(2)
    expect((await only.sdk.points()).size).toBe(0)
  })
})

test('an unknown option is a TypeError that names it', () => {
  expect(() => otel({ propagation: true } as OtelOptions)).toThrow(
    new TypeError(
      'otel: unknown option "propagation". Valid options: tracerProvider, meterProvider, traces, metrics, propagate, acceptTraceparent, active, record, models.',
    ),
  )
})

test('every endpoint has spans and a duration', async () => {
  const models = { chat: demo(), image: demo(), embed: demo(), film: demo({ videoSeconds: 0 }) }
  const { sdk, url } = await traced([], {}, { models })
  const headers = { authorization: 'Bearer sk-test' }
  const ask = async (path: string, body?: object) => {
    const json = { ...headers, 'content-type': 'application/json' }
    const init = body instanceof FormData ? { headers, body } : { headers: json, body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, body === undefined ? { headers } : { method: 'POST', ...init })
    return [path, response.status, await response.text()] as const
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const image = (
    await ask('/v1/images/generations', { model: 'image', prompt: 'a cat', response_format: 'b64_json' })
  )[2]
  const { b64_json: picture = '' } = (JSON.parse(image) as { data: { b64_json: string }[] }).data[0] ?? {}
  const answers = [
    await ask('/v1/chat/completions', { model: 'chat', messages }),
    await ask('/v1/chat/completions', { model: 'chat', messages, stream: true }),
    await ask('/v1/completions', { model: 'chat', prompt: 'Hi' }),
    await ask('/v1/responses', { model: 'chat', input: 'Hi' }),
    await ask('/v1/messages', { model: 'chat', max_tokens: 50, messages }),
    await ask('/v1/embeddings', { model: 'embed', input: 'Hi' }),
    await ask('/v1/moderations', { model: 'chat', input: 'Hi' }),
    await ask('/v1/images/edits', form({ model: 'image', prompt: 'a dog' }, 'image', Buffer.from(picture, 'base64'))),
    await ask('/v1/images/variations', form({ model: 'image' }, 'image', Buffer.from(picture, 'base64'))),
    await ask('/v1/audio/transcriptions', form({ model: 'chat' }, 'file', silence())),
    await ask('/v1/videos', { model: 'film', prompt: 'a cat', seconds: '5' }),
    await ask('/v1/models'),
  ]
  for (const [path, status, body] of answers) expect([path, status, body]).toEqual([path, 200, body])
  const operations = ['image_generation', 'chat', 'chat', 'text_completion', 'chat', 'chat', 'embeddings', 'moderation']
  const all = [...operations, 'image_edit', 'image_variation', 'transcription', 'video_generation']
  await sdk.ended(2 * all.length + 1)
  const calls = sdk.spans.filter(({ kind }) => kind === SpanKind.SERVER)
  expect(calls.map(({ attributes }) => attributes['gen_ai.operation.name'])).toEqual([...all, 'models.list'])
  expect(calls.map(({ name }) => name)).toContain('transcription chat')
  const attempts = sdk.spans.filter(({ kind }) => kind === SpanKind.CLIENT)
  expect(attempts.map(({ attributes }) => attributes['gen_ai.operation.name'])).toEqual(all)
  expect(attempts.map(({ parent }) => parent)).toEqual(calls.slice(0, -1).map(({ id }) => id))
  const durations = (await sdk.points()).get('gen_ai.server.request.duration') ?? []
  const counted = durations.map(({ attributes }) => attributes['gen_ai.operation.name'])
  expect(new Set(counted)).toEqual(new Set([...all, 'models.list']))
})

function form(fields: Readonly<Record<string, string>>, name: string, file: Buffer): FormData {
  const data = new FormData()
  for (const [field, value] of Object.entries(fields)) data.append(field, value)
  data.append(name, new Blob([new Uint8Array(file)]), name === 'file' ? 'speech.wav' : 'picture.png')
  return data
}

/** A tenth of a second of silence as WAV. */
function silence(): Buffer {
  const head = Buffer.alloc(44)
  const bytes = 1_600
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + bytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(16_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(bytes, 40)
  return Buffer.concat([head, Buffer.alloc(bytes)])
}
