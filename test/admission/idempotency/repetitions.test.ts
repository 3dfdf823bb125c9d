/** Replay of the first response: on every billable endpoint, streamed and non-streaming, charged once. */
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { draw } from '../../../src/providers/demo/png.ts'
import { hostedWith } from '../../hosted.ts'
import { scene, streamEvents, whole } from '../scene.ts'
import { wav } from '../../sound.ts'
import { ask, begin, gated, KeyedClient, question, type RequestOptions } from './keyed.ts'

const messages = [{ role: 'user', content: 'Count from 1 to 5' }]
const picture = await draw('a cat', { width: 64, height: 64 })

function formOf(fields: Record<string, string>, name: string, file: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append(name, new Blob([file]), 'file.bin')
  return form
}

const edit = (prompt: string) =>
  formOf(
    { model: 'demo-image', prompt, size: '256x256', response_format: 'b64_json' },
    'image',
    new Uint8Array(picture),
  )
const decision = (input: string) => ({
  model: 'demo-decision',
  input,
  questions: [{ type: 'predicate', instructions: 'It is a.' }],
})
const variation = (n: number) =>
  formOf({ model: 'demo-image', n: String(n), response_format: 'b64_json' }, 'image', new Uint8Array(picture))
const recording = (seconds: number) =>
  formOf({ model: 'demo-transcription' }, 'file', new Uint8Array(wav({ seconds, channels: 1 })))

/** Each endpoint with two different requests. */
const requests: [path: string, body: () => object, other: () => object][] = [
  ['/chat/completions', () => ({ model: 'demo', messages }), () => ({ model: 'demo', messages, n: 2 })],
  ['/completions', () => ({ model: 'demo', prompt: 'Hi' }), () => ({ model: 'demo', prompt: 'Ho' })],
  ['/responses', () => ({ model: 'demo', input: 'Hi' }), () => ({ model: 'demo', input: 'Ho' })],
  [
    '/messages',
    () => ({ model: 'demo', max_tokens: 99, messages }),
    () => ({ model: 'demo', max_tokens: 98, messages }),
  ],
  ['/embeddings', () => ({ model: 'demo-embedding', input: 'a' }), () => ({ model: 'demo-embedding', input: 'b' })],
  ['/moderations', () => ({ model: 'demo-moderation', input: 'a' }), () => ({ model: 'demo-moderation', input: 'b' })],
  [
    '/images/generations',
    () => ({ model: 'demo-image', prompt: 'a', size: '256x256' }),
    () => ({ model: 'demo-image', prompt: 'b', size: '256x256' }),
  ],
  ['/images/edits', () => edit('a'), () => edit('b')],
  ['/decisions', () => decision('a'), () => decision('b')],
  ['/images/variations', () => variation(1), () => variation(2)],
  ['/audio/transcriptions', () => recording(1), () => recording(1.5)],
  ['/audio/translations', () => recording(1), () => recording(1.5)],
]

const models = { '*': demo({ paceMs: 0 }) }

describe.each(requests)('POST %s', (path, body, other) => {
  test('replays the same bytes for the same key, marked as a replay and without a receipt', async () => {
    const { url, receipts } = await hostedWith({ models })
    const first = await ask(url, { path, body: body() })
    const second = await ask(url, { path, body: body() })
    expect([first.status, first.replayed]).toEqual([200, null])
    expect([second.status, second.replayed]).toEqual([200, 'true'])
    expect([second.text, second.type]).toEqual([first.text, first.type])
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(receipts).toHaveLength(1)
  })

  test('rejects the key with a different request, and clients do not retry', async () => {
    const { url, receipts } = await hostedWith({ models })
    await ask(url, { path, body: body() })
    expect(await ask(url, { path, body: other() })).toMatchObject({
      status: 409,
      // Anthropic's errors have no code.
      code: path === '/messages' ? undefined : 'conflict',
      shouldRetry: 'false',
    })
    expect(receipts).toHaveLength(1)
  })
})

test.each([
  ['/chat/completions', { model: 'demo', messages, stream: true, stream_options: { include_usage: true } }],
  ['/messages', { model: 'demo', max_tokens: 99, messages, stream: true }],
  ['/completions', { model: 'demo', prompt: 'Hi', stream: true }],
  ['/responses', { model: 'demo', input: 'Hi', stream: true }],
  ['/images/generations', { model: 'demo-image', prompt: 'a', size: '256x256', stream: true }],
])('a finished stream of %s is replayed as one stream', async (path, body) => {
  const { url, receipts } = await hostedWith({ models })
  const first = await ask(url, { path, body })
  const second = await ask(url, { path, body })
  expect([first.replayed, second.replayed]).toEqual([null, 'true'])
  const end = path === '/messages' ? 'data: {"type":"message_stop"}\n\n' : 'data: [DONE]\n\n'
  expect(first.text.endsWith(end)).toBe(true)
  expect([second.text, second.type]).toEqual([first.text, 'text/event-stream; charset=utf-8'])
  expect(receipts).toHaveLength(1)
})

test('a key that may not use a model gets no response of it that another key of its account has had', async () => {
  const keys = { 'sk-test': { account: 'a' }, 'sk-narrow': { account: 'a', models: ['demo-image'] } }
  const { url } = await hostedWith({ models, keys })
  const body = { model: 'demo', messages }
  expect(await ask(url, { body })).toMatchObject({ status: 200 })
  expect(await ask(url, { body, bearer: 'sk-narrow' })).toMatchObject({ status: 404, code: 'model_not_found' })
  expect(await ask(url, { body })).toMatchObject({ status: 200, replayed: 'true' })
})

describe('the official client', () => {
  const vision = async (key: string, url: string) => {
    const client = new KeyedClient({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0 })
    const options = { idempotencyKey: key }
    const stream = await client.chat.completions.create(
      { model: 'demo', messages: [{ role: 'user', content: 'Count from 1 to 5' }], stream: true },
      options,
    )
    let text = ''
    let id: string | undefined
    for await (const chunk of stream) {
      id = chunk.id
      text += chunk.choices[0]?.delta.content ?? ''
    }
    return { id, text }
  }

  test('reads a replayed stream exactly like the first', async () => {
    const { url, receipts } = await hostedWith({ models })
    const first = await vision('a', url)
    expect(first.text).toContain('5')
    expect(await vision('a', url)).toEqual(first)
    expect((await vision('b', url)).id).not.toBe(first.id)
    expect(receipts).toHaveLength(2)
  })

  test('gets the response of its first attempt when it retries after a lost connection, with vendor: drain', async () => {
    const { reply, received, open } = gated(whole)
    const stage = await scene(reply, { model: { onDisconnect: { vendor: 'drain' } } })
    let tries = 0
    const losing: typeof fetch = async (input, init) => {
      if (++tries > 1) return (open(), fetch(input, init))
      const connection = new AbortController()
      const first = fetch(input, { ...init, signal: connection.signal })
      await received
      connection.abort()
      return first
    }
    const client = new KeyedClient({ baseURL: `${stage.url}/v1`, apiKey: 'sk-test', maxRetries: 1, fetch: losing })
    const { choices } = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(choices[0]?.message.content).toBe('Hi')
    expect([tries, stage.vendor.requests.length]).toEqual([2, 1])
  })
})

describe('billing', () => {
  test('charges a repeated request once, streamed and non-streaming', async () => {
    const ledger = memoryLedger()
    await ledger.credit({ account: 'acme', amount: 9_000n, reference: 'start' })
    const stage = await scene(
      ({ json }, response) => {
        if ((json as { stream?: boolean }).stream !== true) return whole({ json } as never, response)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamEvents.join(''))
      },
      { billing: { currency: 'CNY' }, storage: { ledger } },
    )
    const streamed: RequestOptions = { key: 'streamed', body: { ...question, stream: true } }
    for (let round = 0; round < 3; round++) {
      expect((await ask(stage.url)).status).toBe(200)
      expect((await ask(stage.url, streamed)).text).toContain('[DONE]')
    }
    expect(stage.vendor.requests).toHaveLength(2)
    expect(stage.receipts).toHaveLength(2)
    expect(await ledger.audit()).toMatchObject({ settlements: 60n, holds: 0n, faults: [] })
    expect((await stage.usage.list({})).items).toHaveLength(2)
  })
})

describe('a replay', () => {
  test('frees its concurrency slot and counts against the request limit', async () => {
    const stage = await scene(whole, {
      groups: { default: { models: '*', rate: { requests: '4/min', concurrent: 1 } } },
    })
    for (let round = 0; round < 4; round++) expect((await ask(stage.url)).status).toBe(200)
    expect(await ask(stage.url)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(stage.vendor.requests).toHaveLength(1)
  })

  test('is given only to the same account on the same route', async () => {
    const { url, receipts } = await hostedWith({
      models,
      keys: { 'sk-test': { account: 'ada' }, 'sk-ada': { account: 'ada' }, 'sk-bob': { account: 'bob' } },
    })
    const body = { model: 'demo', messages, prompt: 'Hi' }
    await ask(url, { body })
    expect((await ask(url, { body, bearer: 'sk-ada' })).replayed).toBe('true')
    expect((await ask(url, { body, bearer: 'sk-bob' })).replayed).toBe(null)
    expect((await ask(url, { body, path: '/completions' })).replayed).toBe(null)
    expect(receipts).toHaveLength(3)
  })

  test('is not given without the header or with idempotency: false', async () => {
    const calls: string[] = []
    const store = {
      begin: () => (calls.push('begin'), { outcome: 'begun' as const }),
      finish: () => void calls.push('finish'),
      forget: () => undefined,
    }
    const [on, off] = [
      await scene(whole, { storage: { idempotency: store } }),
      await scene(whole, { idempotency: false }),
    ]
    for (const [{ url }, key] of [
      [on, undefined],
      [off, 'k'],
      [off, 'not a key'],
    ] as const)
      expect(await ask(url, { key })).toMatchObject({ status: 200, replayed: null })
    expect([on.vendor.requests.length, off.vendor.requests.length]).toEqual([1, 2])
    expect(calls).toEqual([])
    await ask(on.url)
    expect(calls).toEqual(['begin', 'finish'])
  })

  test('is not given after a day: the vendor is called again', async () => {
    let now = Date.UTC(2030, 0, 1)
    const stage = await scene(whole, { clock: () => now })
    await ask(stage.url)
    now += 86_400_000 - 1
    expect((await ask(stage.url)).replayed).toBe('true')
    now += 1
    expect((await ask(stage.url)).replayed).toBe(null)
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test.each([
    [200, 'of 255 characters', 'k'.repeat(255)],
    [200, 'of one', '~'],
    [400, 'that is empty', ''],
    [400, 'of 256 characters', 'k'.repeat(256)],
    [400, 'with a space', 'a b'],
    [400, 'with letters that are not ASCII', 'é'],
  ])('responds with %i to a key %s', async (status, _, key) => {
    const stage = await scene(whole)
    expect(await ask(stage.url, { key })).toMatchObject({ status })
    expect(stage.vendor.requests).toHaveLength(status === 200 ? 1 : 0)
  })
})

describe('while the first request is running', () => {
  test.each([false, true])(
    'repeated requests wait for its response and do not call the vendor; streamed: %s',
    async (stream) => {
      const { reply, received, open } = gated((request, response) => {
        if (!stream) return whole(request, response)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamEvents.join(''))
      })
      const stage = await scene(reply)
      const body = { ...question, stream }
      const all = Array.from({ length: 10 }, () => ask(stage.url, { body }))
      await received
      open()
      const responses = await Promise.all(all)
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
      expect(responses.filter(({ replayed }) => replayed === 'true')).toHaveLength(9)
      expect([stage.vendor.requests.length, stage.receipts.length]).toEqual([1, 1])
    },
  )

  test('a different request with the key is rejected immediately', async () => {
    const { reply, received, open } = gated(whole)
    const stage = await scene(reply)
    const first = ask(stage.url)
    await received
    const other = await ask(stage.url, { body: { ...question, temperature: 1 } })
    expect(other).toMatchObject({ status: 409, shouldRetry: 'false' })
    open()
    expect((await first).status).toBe(200)
  })

  test('a waiting client can disconnect without affecting the others', async () => {
    const { reply, received, open } = gated(whole)
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    const stage = await scene(reply, { authenticate: () => arrivals[calls++]?.resolve() as undefined })
    const first = ask(stage.url)
    await received
    const disconnect = new AbortController()
    const second = begin(stage.url, { signal: disconnect.signal })
    await arrivals[1]?.promise
    disconnect.abort()
    await expect(second).rejects.toThrow()
    open()
    expect([await first, await ask(stage.url)]).toMatchObject([{ status: 200 }, { status: 200, replayed: 'true' }])
    expect(stage.vendor.requests).toHaveLength(1)
  })
})
