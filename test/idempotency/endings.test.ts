/** What is kept and what is not: failures, broken streams, clients that leave, answers that are too large. */
import { once } from 'node:events'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mount } from '../../adapters/hosts/fetch.ts'
import {
  createGateway,
  memoryIdempotencyStore,
  type Failure,
  type IdempotencyStore,
  type StreamBody,
} from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import type { VendorReply, VendorRequest } from '../../src/testing/vendor.ts'
import { scene, streamEvents, whole, type Scene } from '../admission/scene.ts'
import { ask, begin, digest, failing, gated, inTurn, question } from './keyed.ts'

/** As many turns of the event loop. */
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

describe('a failure is not kept, the repetition is a new call:', () => {
  test.each([
    ['400 of the vendor', failing(400), 400],
    ['429 of the vendor', failing(429), 429],
    ['500 of the vendor', failing(500), 503],
    ['503 of the vendor', failing(503), 503],
  ])('%s', async (_, failure, status) => {
    const stage = await scene(inTurn(failure, whole))
    expect((await ask(stage.url)).status).toBe(status)
    expect(await ask(stage.url)).toMatchObject({ status: 200, replayed: null })
    expect((await ask(stage.url)).replayed).toBe('true')
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('a stream that breaks off', async () => {
    const stage = await scene(inTurn(brokenStream, stream))
    expect((await ask(stage.url, { body: streamed })).text).not.toContain('[DONE]')
    const second = await ask(stage.url, { body: streamed })
    expect(second.replayed).toBe(null)
    expect(second.text).toContain('[DONE]')
    expect((await ask(stage.url, { body: streamed })).text).toBe(second.text)
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('a request that was refused, which leaves the key to a better one', async () => {
    const stage = await scene(whole)
    for (const body of [{ ...question, model: 'unknown' }, { ...question, temperature: 9 }, { model: 'm' }])
      expect((await ask(stage.url, { body })).status).toBeGreaterThanOrEqual(400)
    expect(await ask(stage.url)).toMatchObject({ status: 200, replayed: null })
  })

  test('those who waited for it get it as well, but wait no longer', async () => {
    const { reply, asked, open } = gated(inTurn(failing(400), whole))
    const stage = await scene(reply)
    const all = [ask(stage.url), ask(stage.url), ask(stage.url)]
    await asked
    open()
    const [first, ...others] = await Promise.all(all)
    expect(others.map(({ text }) => text)).toEqual([first?.text, first?.text])
    expect(stage.vendor.requests).toHaveLength(1)
    expect((await ask(stage.url)).status).toBe(200)
  })
})

describe('images, of which each attempt costs:', () => {
  const asking = { path: '/images/generations', body: { model: 'm', prompt: 'a cat' } }

  test('a failure after which the vendor may have begun is kept: only a new key is a new call', async () => {
    const stage = await scene(failing(500))
    const first = await ask(stage.url, asking)
    expect(first).toMatchObject({ status: 500, shouldRetry: 'false', replayed: null })
    const { text, status, shouldRetry } = first
    expect(await ask(stage.url, asking)).toMatchObject({ text, status, shouldRetry, replayed: 'true' })
    expect(stage.vendor.requests).toHaveLength(1)
    await ask(stage.url, { ...asking, key: 'another' })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('one before which nothing was begun is not', async () => {
    const stage = await scene(failing(429))
    for (const calls of [1, 2]) {
      expect(await ask(stage.url, asking)).toMatchObject({ status: 429, replayed: null })
      expect(stage.vendor.requests).toHaveLength(calls)
    }
  })
})

describe('a client that leaves', () => {
  /** A vendor that has written three words and goes on when it is told to. */
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

  async function readAndLeave({ url }: Scene): Promise<void> {
    const leaving = new AbortController()
    const { body } = await begin(url, { body: streamed, signal: leaving.signal })
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>)
      if (Buffer.from(piece).includes('three')) break
    leaving.abort()
  }

  test('in a stream that ends with it leaves the key to a new call', async () => {
    const { reply, aborted } = held()
    const stage = await scene(inTurn(reply, stream))
    await readAndLeave(stage)
    await aborted
    expect(await ask(stage.url, { body: streamed })).toMatchObject({ status: 200, replayed: null })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('before its answer makes way for one who waits for it', async () => {
    const { reply, asked, open } = gated(whole)
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    const stage = await scene(reply, { authenticate: () => arrivals[calls++]?.resolve() as undefined })
    const leaving = new AbortController()
    const first = begin(stage.url, { signal: leaving.signal })
    await asked
    const second = ask(stage.url)
    await arrivals[1]?.promise
    leaving.abort()
    await expect(first).rejects.toThrow()
    const { signal } = stage.vendor.requests[0] as VendorRequest
    if (!signal.aborted) await once(signal, 'abort')
    open()
    expect(await second).toMatchObject({ status: 200, replayed: null })
    expect(stage.vendor.requests).toHaveLength(2)
  })

  test('in a stream that is drained finds all of it when it comes back', async () => {
    const { reply, goOn } = held()
    const stage = await scene(reply, { model: { onDisconnect: { vendor: 'drain' } } })
    await readAndLeave(stage)
    const again = ask(stage.url, { body: streamed })
    goOn()
    const { text, replayed } = await again
    expect(replayed).toBe('true')
    for (const word of ['one', 'five', '[DONE]']) expect(text).toContain(word)
    expect(stage.vendor.requests).toHaveLength(1)
    expect(stage.receipts).toHaveLength(1)
  })

  test('before anything was written, in the very moment, leaves no key behind', async () => {
    const gateway = createGateway({ keys: { 'sk-test': {} }, models: { m: demo({ paceMs: 0 }) } })
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const leaving = new AbortController()
    const exchange = (signal: AbortSignal) => ({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test', 'idempotency-key': 'k', 'content-type': 'application/json' },
      body: { state: 'text' as const, text: JSON.stringify(streamed) },
      signal,
    })
    const reply = await gateway.handle(exchange(leaving.signal))
    leaving.abort()
    const nowhere = { closed: true, write: () => true, drained: async () => {}, end() {}, destroy() {} }
    ;(reply.body as StreamBody).start(nowhere)
    const second = await gateway.handle(exchange(new AbortController().signal))
    expect(second.status).toBe(200)
    expect(second.headers).not.toHaveProperty('idempotent-replayed')
    ;(second.body as StreamBody).start(nowhere)
  })
})

test('a stream that was silent for a while is replayed byte for byte', async () => {
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

describe('an answer that is too large', () => {
  test.each([question, streamed])('is given once; the repetition is told so: %o', async (body) => {
    const stage = await scene(body === streamed ? stream : whole, { idempotency: { maxBytes: 100 } })
    expect((await ask(stage.url, { body })).status).toBe(200)
    const second = await ask(stage.url, { body })
    expect(second).toMatchObject({ status: 409, code: 'conflict', shouldRetry: 'false' })
    expect(second.text).toContain('too large')
    expect(stage.vendor.requests).toHaveLength(1)
  })
})

describe('over one store, another gateway', () => {
  /** Two gateways, as of two processes: they share nothing but the store. */
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

  test('advises to try again while the first is under way, and then gives its answer', async () => {
    const { reply, asked, open } = gated(whole)
    const { here, there } = await pair(reply)
    const first = ask(here.url)
    await asked
    const early = await ask(there.url)
    expect(early).toMatchObject({ status: 409, code: 'conflict', shouldRetry: 'true' })
    expect(early.headers.get('retry-after')).toBe('1')
    expect(await ask(there.url, { body: { ...question, n: 2 } })).toMatchObject({ status: 409, shouldRetry: 'false' })
    open()
    const { text } = await first
    expect(await ask(there.url)).toMatchObject({ status: 200, replayed: 'true', text })
    expect([here.receipts.length, there.receipts.length]).toEqual([1, 0])
  })

  test('waits for as long as the first gives signs of life, however long that is', async () => {
    const { reply, asked, open } = gated(whole)
    const signs = Promise.withResolvers<void>()
    // Each sign of life comes when the lease has nearly run out.
    let count = 0
    const begins = () => ++count === 8 && signs.resolve()
    const { here, there } = await pair(reply, { leaseMs: 30, begins, now: () => count * 25 })
    const first = ask(here.url)
    await asked
    await signs.promise
    expect((await ask(there.url)).status).toBe(409)
    open()
    expect((await first).status).toBe(200)
    expect((await ask(there.url)).replayed).toBe('true')
  })

  test('waits too while the answer is being kept, for longer than a lease', async () => {
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

  test('takes over the keys of one that died', async () => {
    let now = 0
    const store = memoryIdempotencyStore({ clock: () => now })
    const stage = await scene(whole, { storage: { idempotency: store } })
    const place = { account: 'acme', route: 'chat.completions', key: 'k' }
    await store.begin({ ...place, attempt: 'of the dead', digest: digest(question), leaseMs: 30_000 })
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

  test('that cannot be asked makes requests with a key wait, and no others', async () => {
    const stage = await withStore({ begin: broken })
    expect(await ask(stage.url)).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(stage.vendor.requests).toHaveLength(0)
    expect((await ask(stage.url, { key: undefined })).status).toBe(200)
  })

  test('that cannot be told does not cost anybody an answer, and the host hears of it', async () => {
    const failures: Failure[] = []
    const listen = (message: unknown) => void failures.push(message as Failure)
    subscribe('modelhatch:failure', listen)
    onTestFinished(() => void unsubscribe('modelhatch:failure', listen))
    const stage = await withStore({ finish: broken })
    expect((await ask(stage.url)).status).toBe(200)
    expect(failures).toHaveLength(1)
  })

  test('of the bundle is used, and closed when all is told', async () => {
    const told: string[] = []
    const good = memoryIdempotencyStore()
    const { reply, asked } = gated(whole)
    const stage = await scene(reply, {
      storage: {
        idempotency: {
          begin: (start) => (told.push('begin'), good.begin(start)),
          finish: (end) => (told.push('finish'), good.finish(end)),
          async forget(claim) {
            await turns(20)
            await good.forget(claim)
            told.push('forget')
          },
          close: () => void told.push('close'),
        },
      },
    })
    const first = ask(stage.url)
    await asked
    await stage.gateway.close({ graceMs: 0 })
    expect((await first).status).toBe(503)
    expect(told).toEqual(['begin', 'forget', 'close'])
  })

  test('that is none is refused when the gateway is created', () => {
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

test('over fetch too, in one process', async () => {
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
