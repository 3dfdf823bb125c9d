/** A request that ends early leaves nothing behind, even with a provider that ignores its signal. */
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import {
  createGateway,
  type Exchange,
  type Gateway,
  type GatewayOptions,
  type Receipt,
  type Reply,
  type Sink,
} from 'modelhatch'
import { defineProvider, type ChatPiece, type Provider } from 'modelhatch/providers'
import { text } from '../chat-chunks.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

/** A provider that responds once the test calls `respond` and ignores its signal: only the end of its iterator is visible to it. */
function ignoringAbort(words = 1) {
  const called = Promise.withResolvers<AbortSignal>()
  const released = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  let pulled = 0
  async function* pieces(): AsyncGenerator<ChatPiece> {
    try {
      await released.promise
      for (pulled = 1; pulled <= words; pulled++) yield text('word')
      ended.resolve('complete')
    } finally {
      ended.resolve('early')
    }
  }
  const provider = defineProvider({
    name: 'ignores-abort',
    chat({ signal }) {
      called.resolve(signal)
      return pieces()
    },
  })
  return { provider, called: called.promise, respond: released.resolve, ended: ended.promise, pulled: () => pulled }
}

interface Handled {
  readonly reply: Promise<Reply>
  /** Disconnects the client. */
  readonly disconnect: () => void
  readonly client: AbortSignal
  readonly gateway: Gateway
  readonly receipt: Promise<Receipt>
}

function handle(provider: Provider, stream: boolean, options: Partial<GatewayOptions> = {}): Handled {
  const receipt = Promise.withResolvers<Receipt>()
  const gateway = createGateway({
    models: { m: provider },
    keys: { 'sk-test': {} },
    hooks: { receipt: receipt.resolve },
    ...options,
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const client = new AbortController()
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream })
  const exchange: Exchange = {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: { state: 'unread', stream: Readable.from([Buffer.from(body)]) },
    signal: client.signal,
  }
  return {
    reply: gateway.handle(exchange),
    disconnect: () => client.abort(),
    client: client.signal,
    gateway,
    receipt: receipt.promise,
  }
}

const early = { timeouts: { firstContentMs: 20 } }

describe.each([
  { kind: 'a non-streaming request', stream: false },
  { kind: 'a streaming request', stream: true },
])('$kind', ({ stream }) => {
  test('whose client disconnects before the response aborts the provider and discards its late response', async () => {
    const { provider, called, respond, ended, pulled } = ignoringAbort(1_000)
    const { reply, disconnect, client, receipt } = handle(provider, stream)
    const signal = await called
    disconnect()
    expect(await reply).toMatchObject({ status: 499 })
    expect(signal.aborted).toBe(true)
    expect(await receipt).toMatchObject({ outcome: 'cancelled', attempts: 1 })
    respond()
    expect(await ended).toBe('early')
    expect(pulled()).toBe(1)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('that times out aborts the provider and discards its late response', async () => {
    const { provider, called, respond, ended, pulled } = ignoringAbort(1_000)
    const { reply, client, receipt } = handle(provider, stream, early)
    const signal = await called
    expect(await reply).toMatchObject({ status: 503 })
    expect(signal.reason).toMatchObject({ code: 'service_unavailable' })
    expect(await receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
    respond()
    expect(await ended).toBe('early')
    expect(pulled()).toBe(1)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('that completes leaves no listener, and no timer once the gateway is closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { provider, called, respond } = ignoringAbort()
    const { reply, client, receipt, gateway } = handle(provider, stream)
    respond()
    const { body } = await reply
    if (typeof body === 'object' && 'start' in body) body.start(sink())
    expect(await receipt).toMatchObject({ outcome: 'completed' })
    const signal = await called
    expect(signal.aborted).toBe(false)
    const closing = gateway.close({ graceMs: 0 })
    await vi.advanceTimersByTimeAsync(0)
    await closing
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('in progress while the gateway closes is rejected with 503, and the provider aborted', async () => {
    const { provider, called, respond, ended } = ignoringAbort(1_000)
    const closing = Promise.withResolvers<void>()
    const gateway = createGateway({ models: { m: provider }, authenticate: () => ({ account: 'a', group: 'default' }) })
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream }
    const reply = gateway.handle({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
      body: { state: 'parsed', value: body },
      signal: new AbortController().signal,
    })
    const signal = await called
    void gateway.close({ graceMs: 0 }).then(closing.resolve)
    expect(await reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    await closing.promise
    expect(signal.aborted).toBe(true)
    respond()
    expect(await ended).toBe('early')
  })
})

describe('a stream', () => {
  test('whose first chunk is invalid is closed', async () => {
    const ended = Promise.withResolvers<void>()
    const invalid = { choices: 'none' } as unknown as ChatPiece
    const pieces: AsyncIterableIterator<ChatPiece> = {
      [Symbol.asyncIterator]: () => pieces,
      next: async () => ({ done: false, value: invalid }),
      async return() {
        ended.resolve()
        return { done: true, value: undefined }
      },
    }
    const { reply } = handle(defineProvider({ name: 'invalid', chat: () => pieces }), true)
    expect(await reply).toMatchObject({ status: 503 })
    await ended.promise
  })

  test('that is never started is closed when its client disconnects', async () => {
    const { provider, respond, ended } = ignoringAbort(1_000)
    const { reply, disconnect, receipt } = handle(provider, true)
    respond()
    expect(await reply).toMatchObject({ status: 200 })
    disconnect()
    expect(await receipt).toMatchObject({ outcome: 'cancelled' })
    expect(await ended).toBe('early')
  })

  test('whose client disconnects midway is closed', async () => {
    const { provider, respond, ended, pulled } = ignoringAbort(1_000)
    const { reply, disconnect, receipt, client } = handle(provider, true)
    respond()
    const { body } = await reply
    if (typeof body !== 'object' || !('start' in body)) throw new Error('no stream')
    let closed = false
    const slow = sink()
    body.start({
      ...slow,
      get closed() {
        return closed
      },
      write() {
        closed = true
        disconnect()
        return true
      },
    })
    expect(await receipt).toMatchObject({ outcome: 'cancelled' })
    expect(await ended).toBe('early')
    expect(pulled()).toBeLessThan(4)
    expect(getEventListeners(client, 'abort')).toEqual([])
  })
})

/** A client that reads everything. */
function sink(): Sink {
  return { write: () => true, drained: () => Promise.resolve(), end: () => {}, destroy: () => {}, closed: false }
}
