/** What a call leaves behind when it ends early: nothing, also with a provider that takes no notice. */
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { createGateway, type Exchange, type GatewayOptions, type Receipt, type Reply, type Sink } from 'modelhatch'
import { defineProvider, text, type ChatPiece, type Provider } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

/** A provider that answers when told to and never looks at its signal, so that its end is all it can notice. */
function stubborn(words = 1) {
  const asked = Promise.withResolvers<AbortSignal>()
  const told = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  let pulled = 0
  async function* pieces(): AsyncGenerator<ChatPiece> {
    try {
      await told.promise
      for (pulled = 1; pulled <= words; pulled++) yield text('word')
      ended.resolve('by itself')
    } finally {
      ended.resolve('early')
    }
  }
  const provider = defineProvider({
    name: 'stubborn',
    chat({ signal }) {
      asked.resolve(signal)
      return pieces()
    },
  })
  return { provider, asked: asked.promise, answer: told.resolve, ended: ended.promise, pulled: () => pulled }
}

interface Handled {
  readonly reply: Promise<Reply>
  /** The client goes. */
  readonly leave: () => void
  readonly client: AbortSignal
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
    leave: () => client.abort(),
    client: client.signal,
    receipt: receipt.promise,
  }
}

const early = { timeouts: { firstContentMs: 20 } }

describe.each([
  { client: 'a client that waits', stream: false },
  { client: 'a client that streams', stream: true },
])('$client', ({ stream }) => {
  test('leaves before the answer: the provider is told, and what it answers later is let go', async () => {
    const { provider, asked, answer, ended, pulled } = stubborn(1_000)
    const { reply, leave, client, receipt } = handle(provider, stream)
    const signal = await asked
    leave()
    expect(await reply).toMatchObject({ status: 499 })
    expect(signal.aborted).toBe(true)
    expect(await receipt).toMatchObject({ outcome: 'cancelled', attempts: 1 })
    answer()
    expect(await ended).toBe('early')
    expect(pulled()).toBe(1)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('is told that it took too long: the provider is told, and what it answers later is let go', async () => {
    const { provider, asked, answer, ended, pulled } = stubborn(1_000)
    const { reply, client, receipt } = handle(provider, stream, early)
    const signal = await asked
    expect(await reply).toMatchObject({ status: 503 })
    expect(signal.reason).toMatchObject({ code: 'service_unavailable' })
    expect(await receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
    answer()
    expect(await ended).toBe('early')
    expect(pulled()).toBe(1)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('gets its answer: no listener and no timer stays behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { provider, asked, answer } = stubborn()
    const { reply, client, receipt } = handle(provider, stream)
    answer()
    const { body } = await reply
    if (typeof body === 'object' && 'start' in body) body.start(sink())
    expect(await receipt).toMatchObject({ outcome: 'completed' })
    const signal = await asked
    expect(signal.aborted).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(client, 'abort')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('waits while the gateway is closed: it is told so, and the provider too', async () => {
    const { provider, asked, answer, ended } = stubborn(1_000)
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
    const signal = await asked
    void gateway.close({ graceMs: 0 }).then(closing.resolve)
    expect(await reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    await closing.promise
    expect(signal.aborted).toBe(true)
    answer()
    expect(await ended).toBe('early')
  })
})

describe('a stream', () => {
  test('whose first chunk is none is let go', async () => {
    const ended = Promise.withResolvers<void>()
    const nonsense = { choices: 'none' } as unknown as ChatPiece
    const pieces: AsyncIterableIterator<ChatPiece> = {
      [Symbol.asyncIterator]: () => pieces,
      next: async () => ({ done: false, value: nonsense }),
      async return() {
        ended.resolve()
        return { done: true, value: undefined }
      },
    }
    const { reply } = handle(defineProvider({ name: 'confused', chat: () => pieces }), true)
    expect(await reply).toMatchObject({ status: 503 })
    await ended.promise
  })

  test('that nobody starts is let go when its client leaves', async () => {
    const { provider, answer, ended } = stubborn(1_000)
    const { reply, leave, receipt } = handle(provider, true)
    answer()
    expect(await reply).toMatchObject({ status: 200 })
    leave()
    expect(await receipt).toMatchObject({ outcome: 'cancelled' })
    expect(await ended).toBe('early')
  })

  test('whose client leaves in the middle is let go', async () => {
    const { provider, answer, ended, pulled } = stubborn(1_000)
    const { reply, leave, receipt, client } = handle(provider, true)
    answer()
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
        leave()
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
