/** Which responses are stored for replay: failures, broken streams, client disconnects, oversized responses. */
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mount } from '../../../adapters/hosts/fetch.ts'
import { createGateway, memoryIdempotencyStore, type IdempotencyStore, type StreamBody } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import type { VendorReply, VendorRequest } from '../../../src/testing/vendor.ts'
import { publishedFailures } from '../../failures.ts'
import { scene, streamEvents, whole, type Scene } from '../scene.ts'
import { ask, begin, digest, failing, gated, inTurn, question } from './keyed.ts'

/** Waits for `count` turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const streamed = { ...question, stream: true }
const stream: VendorReply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamEvents.join(''))
}
const brokenStream: VendorReply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(streamEvents.slice(0, 3).join(''), () => response.destroy())
}

describe('a failure is not stored; repeating the request calls the vendor again:', () => {
  test.each([
    ['400 from the vendor', failing(400), 400],
    ['429 from the vendor', failing(429), 429],
    ['500 from the vendor', failing(500), 503],
    ['503 from the vendor', failing(503), 503],
  ])('%s', async (_, failure, status) => {
    const stage = await scene(inTurn(failure, whole))
    expect((await ask(stage.url)).status).toBe(status)
    expect(await ask(stage.url)).toMatchObject({ status: 200, replayed: null })
    expect((await ask(stage.url)).replayed).toBe('true')
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('a broken stream', async () => {
    const stage = await scene(inTurn(brokenStream, stream))
    expect((await ask(stage.url, { body: streamed })).text).not.toContain('[DONE]')
    const second = await ask(stage.url, { body: streamed })
    expect(second.replayed).toBe(null)
    expect(second.text).toContain('[DONE]')
    expect((await ask(stage.url, { body: streamed })).text).toBe(second.text)
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('a rejected request, whose key can be used for a corrected one', async () => {
    const stage = await scene(whole)
    for (const body of [{ ...question, model: 'unknown' }, { ...question, temperature: 9 }, { model: 'm' }])
      expect((await ask(stage.url, { body })).status).toBeGreaterThanOrEqual(400)
    expect(await ask(stage.url)).toMatchObject({ status: 200, replayed: null })
  })

  test('requests that waited for it get the same error', async () => {
    const { reply, received, open } = gated(inTurn(failing(400), whole))
    const stage = await scene(reply)
    const all = [ask(stage.url), ask(stage.url), ask(stage.url)]
    await received
    open()
    const [first, ...others] = await Promise.all(all)
    expect(others.map(({ text }) => text)).toEqual([first?.text, first?.text])
    expect(stage.vendor.requests).toHaveLength(1)
    expect((await ask(stage.url)).status).toBe(200)
  })
})

describe('images, where each attempt is charged:', () => {
  const asking = { path: '/images/generations', body: { model: 'm', prompt: 'a cat' } }

  test('a failure after the vendor may have started is stored: only a new key calls it again', async () => {
    const stage = await scene(failing(500))
    const first = await ask(stage.url, asking)
    expect(first).toMatchObject({ status: 500, shouldRetry: 'false', replayed: null })
    const { text, status, shouldRetry } = first
    expect(await ask(stage.url, asking)).toMatchObject({ text, status, shouldRetry, replayed: 'true' })
    expect(stage.vendor.requests).toHaveLength(1)
    await ask(stage.url, { ...asking, key: 'another' })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('a failure before the vendor started is not stored', async () => {
    const stage = await scene(failing(429))
    for (const calls of [1, 2]) {
      expect(await ask(stage.url, asking)).toMatchObject({ status: 429, replayed: null })
      expect(stage.vendor.requests).toHaveLength(calls)
    }
  })
})

describe('a client disconnect', () => {
  /** A vendor that writes three words, and the rest when the test calls `goOn`. */
  function held() {
    const rest = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    const reply: VendorReply = async ({ signal }, response) => {
      signal.addEventListener('abort', () => aborted.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(streamEvents.slice(0, 3).join(''))
      await rest.promise
      response.end(streamEvents.slice(3).join(''))
    }
    return { reply, goOn: () => rest.resolve(), aborted: aborted.promise }
  }

  async function readAndDisconnect({ url }: Scene): Promise<void> {
    const disconnect = new AbortController()
    const { body } = await begin(url, { body: streamed, signal: disconnect.signal })
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>)
      if (Buffer.from(piece).includes('three')) break
    disconnect.abort()
  }

  test('that ends the stream frees the key', async () => {
    const { reply, aborted } = held()
    const stage = await scene(inTurn(reply, stream))
    await readAndDisconnect(stage)
    await aborted
    expect(await ask(stage.url, { body: streamed })).toMatchObject({ status: 200, replayed: null })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('before the response lets a waiting request take over', async () => {
    const { reply, received, open } = gated(whole)
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    const stage = await scene(reply, { authenticate: () => arrivals[calls++]?.resolve() as undefined })
    const disconnect = new AbortController()
    const first = begin(stage.url, { signal: disconnect.signal })
    await received
    const second = ask(stage.url)
    await arrivals[1]?.promise
    disconnect.abort()
    await expect(first).rejects.toThrow()
    const { signal } = stage.vendor.requests[0] as VendorRequest
    if (!signal.aborted) await once(signal, 'abort')
    open()
    expect(await second).toMatchObject({ status: 200, replayed: null })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('from a drained stream: repeating the request replays all of it', async () => {
    const { reply, goOn } = held()
    const stage = await scene(reply, { model: { onDisconnect: { vendor: 'drain' } } })
    await readAndDisconnect(stage)
    const again = ask(stage.url, { body: streamed })
    goOn()
    const { text, replayed } = await again
    expect(replayed).toBe('true')
    for (const word of ['one', 'five', '[DONE]']) expect(text).toContain(word)
    expect(stage.vendor.requests).toHaveLength(1)
    expect(stage.receipts).toHaveLength(1)
  })

  test('before anything was written frees the key', async () => {
    const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: demo({ paceMs: 0 }) } })
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const disconnect = new AbortController()
    const exchange = (signal: AbortSignal) => ({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test', 'idempotency-key': 'k', 'content-type': 'application/json' },
      body: { state: 'text' as const, text: JSON.stringify(streamed) },
      signal,
    })
    const reply = await gateway.handle(exchange(disconnect.signal))
    disconnect.abort()
    const closedSink = { closed: true, write: () => true, drained: async () => {}, end() {}, destroy() {} }
    ;(reply.body as StreamBody).start(closedSink)
    const second = await gateway.handle(exchange(new AbortController().signal))
    expect(second.status).toBe(200)
    expect(second.headers).not.toHaveProperty('idempotent-replayed')
    ;(second.body as StreamBody).start(closedSink)
  })
})

test('a stream with heartbeats is replayed byte for byte', async () => {
  const rest = Promise.withResolvers<void>()
  const stage = await scene(
    async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(streamEvents[0])
      await rest.promise
      response.end(streamEvents.slice(1).join(''))
    },
    { timeouts: { keepAliveMs: 20 } },
  )
  let text = ''
  for await (const piece of (await begin(stage.url, { body: streamed })).body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString()
    if (text.includes('"delta":{},')) rest.resolve()
  }
  expect((await ask(stage.url, { body: streamed })).text).toBe(text)
})

describe('a response over maxBytes', () => {
  test.each([question, streamed])('is sent once; repeating the request is rejected: %o', async (body) => {
    const stage = await scene(body === streamed ? stream : whole, { idempotency: { maxBytes: 100 } })
    expect((await ask(stage.url, { body })).status).toBe(200)
    const second = await ask(stage.url, { body })
    expect(second).toMatchObject({ status: 409, code: 'conflict', shouldRetry: 'false' })
    expect(second.text).toContain('too large')
    expect(stage.vendor.requests).toHaveLength(1)
  })
})

describe('two gateways over one store', () => {
  /** Two gateways, as in two processes: they share only the store. */
  async function pair(
    reply: VendorReply,
    { leaseMs = 30_000, begins = (): unknown => undefined, now = (): number => 0 } = {},
  ) {
    const good = memoryIdempotencyStore({ clock: now })
    const begin: IdempotencyStore['begin'] = (start) => (begins(), good.begin(start))
    const shared = {
      storage: { idempotency: { ...good, begin, close: () => undefined } },
      idempotency: { leaseMs },
    }
    return { here: await scene(reply, shared), there: await scene(whole, shared) }
  }

  test('a repeated request gets a retryable 409 while the first is running, and then its response', async () => {
    const { reply, received, open } = gated(whole)
    const { here, there } = await pair(reply)
    const first = ask(here.url)
    await received
    const early = await ask(there.url)
    expect(early).toMatchObject({ status: 409, code: 'conflict', shouldRetry: 'true' })
    expect(early.headers.get('retry-after')).toBe('1')
    expect(await ask(there.url, { body: { ...question, n: 2 } })).toMatchObject({ status: 409, shouldRetry: 'false' })
    open()
    const { text } = await first
    expect(await ask(there.url)).toMatchObject({ status: 200, replayed: 'true', text })
    expect([here.receipts.length, there.receipts.length]).toEqual([1, 0])
  })

  test('the key is kept for as long as the first gateway renews its lease', async () => {
    const { reply, received, open } = gated(whole)
    const signs = Promise.withResolvers<void>()
    // Each renewal comes shortly before the lease expires.
    let count = 0
    const begins = () => ++count === 8 && signs.resolve()
    const { here, there } = await pair(reply, { leaseMs: 30, begins, now: () => count * 25 })
    const first = ask(here.url)
    await received
    await signs.promise
    expect((await ask(there.url)).status).toBe(409)
    open()
    expect((await first).status).toBe(200)
    expect((await ask(there.url)).replayed).toBe('true')
  })

  test('the key is kept while storing the response takes longer than a lease', async () => {
    const kept = Promise.withResolvers<void>()
    const keeping = Promise.withResolvers<void>()
    const signs = Promise.withResolvers<void>()
    let count = 0
    const good = memoryIdempotencyStore({ clock: () => count * 25 })
    const store: IdempotencyStore = {
      ...good,
      begin: (start) => (++count === 8 && signs.resolve(), good.begin(start)),
      async finish(end) {
        keeping.resolve()
        await kept.promise
        await good.finish(end)
      },
    }
    const shared = { storage: { idempotency: store }, idempotency: { leaseMs: 30 } }
    const [here, there] = [await scene(whole, shared), await scene(whole, shared)]
    const first = ask(here.url)
    await keeping.promise
    await signs.promise
    expect((await ask(there.url)).status).toBe(409)
    kept.resolve()
    expect((await first).status).toBe(200)
    expect((await ask(there.url)).replayed).toBe('true')
  })

  test('the keys of a dead process are free after its lease', async () => {
    let now = 0
    const store = memoryIdempotencyStore({ clock: () => now })
    const stage = await scene(whole, { storage: { idempotency: store } })
    const record = { account: 'acme', route: 'chat.completions', key: 'k' }
    await store.begin({ ...record, attempt: 'of a dead process', digest: digest(question), leaseMs: 30_000 })
    expect((await ask(stage.url)).status).toBe(409)
    now = 30_000
    expect(await ask(stage.url)).toMatchObject({ status: 200, replayed: null })
  })
})

describe('a store', () => {
  const broken = () => Promise.reject(new Error('the store is down'))

  async function withStore(change: Partial<IdempotencyStore>, reply = whole) {
    return scene(reply, { storage: { idempotency: { ...memoryIdempotencyStore(), ...change } } })
  }

  test('that fails in begin() rejects only requests with a key, with 503', async () => {
    const stage = await withStore({ begin: broken })
    expect(await ask(stage.url)).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(stage.vendor.requests).toHaveLength(0)
    expect((await ask(stage.url, { key: undefined })).status).toBe(200)
  })

  test('that fails in finish() does not affect the response, and the failure is published', async () => {
    const failures = publishedFailures()
    const stage = await withStore({ finish: broken })
    expect((await ask(stage.url)).status).toBe(200)
    expect(failures).toHaveLength(1)
  })

  test('of the bundle is used, and closed after its last call', async () => {
    const calls: string[] = []
    const good = memoryIdempotencyStore()
    const { reply, received } = gated(whole)
    const stage = await scene(reply, {
      storage: {
        idempotency: {
          begin: (start) => (calls.push('begin'), good.begin(start)),
          finish: (end) => (calls.push('finish'), good.finish(end)),
          async forget(claim) {
            await turns(20)
            await good.forget(claim)
            calls.push('forget')
          },
          close: () => void calls.push('close'),
        },
      },
    })
    const first = ask(stage.url)
    await received
    await stage.gateway.close({ graceMs: 0 })
    expect((await first).status).toBe(503)
    expect(calls).toEqual(['begin', 'forget', 'close'])
  })

  test('with missing methods, or invalid options, is rejected at creation', () => {
    const create = (idempotency: object) => () => createGateway({ models: {}, idempotency })
    const storage = { idempotency: { begin: whole } as never }
    expect(() => createGateway({ models: {}, storage })).toThrow(TypeError)
    expect(create({ keepMs: 0 })).toThrow('idempotency')
    expect(create({ unknown: 1 })).toThrow(TypeError)
  })

  test('gets a digest of the request, never its text', async () => {
    const starts: string[] = []
    const good = memoryIdempotencyStore()
    const stage = await withStore({ begin: (start) => (starts.push(JSON.stringify(start)), good.begin(start)) })
    await ask(stage.url)
    expect(starts).toHaveLength(1)
    expect(starts[0]).toContain(digest(question))
    expect(starts[0]).not.toContain('Hi')
  })
})

test('works through the fetch adapter', async () => {
  const gateway = createGateway({ keys: { 'sk-test': {} }, models: { demo: demo({ paceMs: 0 }) } })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const handle = mount(gateway)
  const post = async () => {
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'k' }
    const body = JSON.stringify({ ...streamed, model: 'demo' })
    const response = await handle(new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }))
    return { text: await response.text(), replayed: response.headers.get('idempotent-replayed') }
  }
  const first = await post()
  expect(first.text).toContain('[DONE]')
  expect(await post()).toEqual({ text: first.text, replayed: 'true' })
})
