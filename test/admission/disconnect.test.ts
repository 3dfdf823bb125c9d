import { describe, expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import { defineProvider, finish, text } from '../../src/providers/index.ts'
import { memoryLedger, type DisconnectPolicy, type Ledger } from '../../src/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { mount } from '../../adapters/hosts/fetch.ts'
import { askChat } from '../hosted.ts'
import { scene, streamEvents, whole, type Scene } from './scene.ts'

const words = ['one', 'two', 'three', 'four', 'five']

interface Held {
  readonly reply: VendorReply
  /** Resolves with the vendor's response once the first events are written. */
  readonly started: Promise<ServerResponse>
  /** Resolves when the gateway has cut the connection. */
  readonly aborted: Promise<void>
}

/** A vendor that writes `count` events and then waits for the test. */
function heldAfter(count: number): Held {
  const started = Promise.withResolvers<ServerResponse>()
  const aborted = Promise.withResolvers<void>()
  return {
    started: started.promise,
    aborted: aborted.promise,
    reply({ signal }, response) {
      signal.addEventListener('abort', () => aborted.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      for (const event of streamEvents.slice(0, count)) response.write(event)
      started.resolve(response)
    },
  }
}

async function funded(): Promise<Ledger> {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 9_000n, reference: 'start' })
  return ledger
}

async function sceneWith(reply: VendorReply, onDisconnect: DisconnectPolicy): Promise<Scene> {
  return scene(reply, { billing: { currency: 'CNY', onDisconnect }, storage: { ledger: await funded() } })
}

/** Reads `words` words of a stream and disconnects. */
async function readAndDisconnect({ url }: Scene, words: number): Promise<void> {
  const disconnect = new AbortController()
  const pending = askChat(url, { stream: true }, { signal: disconnect.signal })
  await readWords(await pending, words)
  disconnect.abort()
}

/** Cancels the body once `count` words have arrived. */
async function readWords({ body }: Response, count: number): Promise<void> {
  let seen = ''
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    seen += Buffer.from(piece).toString()
    if (words.slice(0, count).every((word) => seen.includes(word))) return
  }
}

/** A request without a socket in between: the gateway notices the disconnect immediately. */
function inProcess({ gateway }: Scene, body: object, signal: AbortSignal): Promise<Response> {
  const request = new Request('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    signal,
  })
  return mount(gateway)(request)
}

async function readAndCancel(stage: Scene, words: number): Promise<void> {
  const response = await inProcess(stage, { stream: true }, new AbortController().signal)
  await readWords(response, words)
}

async function expectSettledOnce({ ledger, usage, receipts }: Scene, record: object): Promise<void> {
  const { items } = await usage.list({})
  expect(items).toMatchObject([record])
  expect(receipts).toHaveLength(1)
  expect(await ledger.audit()).toMatchObject({ settlements: items[0]?.cost, holds: 0n, faults: [] })
}

/** Tokens of the prompt as the gateway estimates them. */
const prompt = BigInt(
  Math.ceil(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }).length / 4),
)

describe('a client disconnect', () => {
  test.each([1, 2, 3, 4, 5])(
    'after %i words charges the prompt and those words, and aborts the vendor request',
    async (words) => {
      const vendor = heldAfter(words)
      const stage = await sceneWith(vendor.reply, {})
      await readAndDisconnect(stage, words)
      const receipt = await stage.receipt()
      expect(receipt).toMatchObject({ outcome: 'cancelled', usageSource: 'estimated', code: 'client_closed' })
      await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: prompt + BigInt(words) })
      await vendor.aborted
    },
  )

  test('charges the usage reported by the vendor, if it arrived before the disconnect', async () => {
    const vendor = heldAfter(7)
    const stage = await sceneWith(vendor.reply, {})
    await readAndDisconnect(stage, 5)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
  })

  test.each([
    [{}, { basis: 'sent', cost: prompt }],
    [{ unanswered: 'none' as const }, { basis: 'none', cost: 0n }],
    [{ charge: 'reported' as const }, { basis: 'none', cost: 0n }],
  ])(
    'before the first token charges the prompt that was sent to the vendor, unless the policy says otherwise: %o',
    async (policy, charged) => {
      const vendor = heldAfter(0)
      const stage = await sceneWith(vendor.reply, policy)
      const disconnect = new AbortController()
      const pending = askChat(stage.url, { stream: true }, { signal: disconnect.signal })
      await vendor.started
      disconnect.abort()
      await expect(pending).rejects.toThrow()
      expect(await stage.receipt()).toMatchObject({ unanswered: true })
      await expectSettledOnce(stage, { outcome: 'cancelled', ...charged })
      await vendor.aborted
    },
  )

  test.each([
    [0, { basis: 'none', cost: 0n }],
    [0.5, { basis: 'sent', cost: (prompt - 2n) / 2n }],
    [1, { basis: 'sent', cost: prompt - 3n }],
  ])('charges the share of the prompt that the provider has sent: %d', async (share, charged) => {
    const started = Promise.withResolvers<void>()
    const provider = defineProvider({
      name: 'slow',
      reportsSent: true,
      chat: ({ sent, signal }) => {
        if (share > 0) sent?.(share)
        started.resolve()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    })
    const stage = await scene(() => undefined, {
      billing: { currency: 'CNY' },
      models: () => ({ m: { provider, price: { input: '1', output: '0' } } }),
      storage: { ledger: await funded() },
    })
    const disconnect = new AbortController()
    const response = inProcess(stage, {}, disconnect.signal)
    await started.promise
    disconnect.abort()
    await response
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', ...charged })
  })

  test('before the images arrive charges all requested images', async () => {
    const received = Promise.withResolvers<void>()
    const stage = await scene(() => received.resolve(), {
      billing: { currency: 'CNY' },
      model: { price: { image: '0.001' } },
      storage: { ledger: await funded() },
    })
    const disconnect = new AbortController()
    const response = mount(stage.gateway)(
      new Request('http://gateway/v1/images/generations', {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', prompt: 'a cat', n: 3 }),
        signal: disconnect.signal,
      }),
    )
    await received.promise
    disconnect.abort()
    await response
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'sent', images: 3, cost: 3_000n })
  })

  test('keeps its concurrency slot until the provider has finished', async () => {
    const going = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const provider = defineProvider({
      name: 'ignores-abort',
      async *generate() {
        started.resolve()
        await going.promise
        yield text('late')
        yield finish('stop')
      },
    })
    const stage = await scene(() => undefined, {
      groups: { default: { models: '*', rate: { concurrent: 1 } } },
      models: () => ({ m: provider }),
    })
    const disconnect = new AbortController()
    const first = inProcess(stage, {}, disconnect.signal)
    await started.promise
    disconnect.abort()
    expect((await first).status).toBe(499)
    expect((await askChat(stage.url)).status).toBe(429)
    going.resolve()
    await expect.poll(async () => (await askChat(stage.url)).status).toBe(200)
  })

  test.each(['moderate', 'compact'] as const)(
    'keeps its concurrency slot for the provider method %s too',
    async (method) => {
      const going = Promise.withResolvers<undefined>()
      const started = Promise.withResolvers<void>()
      const provider = { name: 'ignores-abort', [method]: () => (started.resolve(), going.promise as Promise<never>) }
      const stage = await scene(() => undefined, {
        groups: { default: { models: '*', rate: { concurrent: 1 } } },
        models: () => ({ m: provider }),
      })
      const path = method === 'compact' ? 'responses/compact' : 'moderations'
      const ask = (signal: AbortSignal | null = null) =>
        mount(stage.gateway)(
          new Request(`http://gateway/v1/${path}`, {
            method: 'POST',
            headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'm', input: 'Hi' }),
            signal,
          }),
        )
      const disconnect = new AbortController()
      const first = ask(disconnect.signal)
      await started.promise
      disconnect.abort()
      await first
      expect((await ask()).status).toBe(429)
      going.resolve(undefined)
      await expect.poll(async () => (await ask()).status).toBe(400)
    },
  )

  test('charges nothing before the vendor reports usage, with charge: reported', async () => {
    const vendor = heldAfter(3)
    const stage = await sceneWith(vendor.reply, { charge: 'reported' })
    await readAndDisconnect(stage, 3)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'none', cost: 0n })
  })

  test('charges nothing with charge: none, even if the vendor reported usage', async () => {
    const vendor = heldAfter(7)
    const stage = await sceneWith(vendor.reply, { charge: 'none' })
    await readAndDisconnect(stage, 5)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'none', cost: 0n })
  })

  test('charges the delivered tokens when the vendor reports the prompt first and the completion last', async () => {
    const early = streamEvents
      .slice(0, 4)
      .map((event, index) =>
        index > 0
          ? event
          : event.replace(/\}\n\n$/, ',"usage":{"prompt_tokens":50,"completion_tokens":1,"total_tokens":51}}\n\n'),
      )
    const stage = await sceneWith((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(early.join(''))
    }, {})
    await readAndDisconnect(stage, 4)
    expect(await stage.receipt()).toMatchObject({
      usage: { completion_tokens: 1 },
      delivered: { completion_tokens: 4 },
    })
    await expectSettledOnce(stage, { basis: 'delivered', cost: 54n })
  })
})

describe('with vendor: drain', () => {
  test.each([1, 3, 5])(
    'a stream disconnected after %i words is read to its end and charged as reported',
    async (words) => {
      const vendor = heldAfter(words)
      const stage = await sceneWith(vendor.reply, { vendor: 'drain' })
      await readAndCancel(stage, words)
      const response = await vendor.started
      expect(stage.receipts).toHaveLength(0)
      response.end(streamEvents.slice(words).join(''))
      await stage.receipt()
      await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
    },
  )

  test('waits for a non-streaming response too', async () => {
    const received = Promise.withResolvers<() => void>()
    const stage = await sceneWith((request, response) => received.resolve(() => void whole(request, response)), {
      vendor: 'drain',
    })
    const disconnect = new AbortController()
    const pending = inProcess(stage, {}, disconnect.signal)
    const respond = await received.promise
    disconnect.abort()
    respond()
    await pending
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
  })

  test('stops reading after drainMs', async () => {
    const vendor = heldAfter(2)
    const stage = await sceneWith(vendor.reply, { vendor: 'drain', drainMs: 30 })
    await readAndCancel(stage, 2)
    await vendor.aborted
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: prompt + 2n })
  })

  test('drains at most maxDrains responses at the same time, and frees the slot afterwards', async () => {
    const vendors = [heldAfter(1), heldAfter(1), heldAfter(1)]
    let calls = 0
    const stage = await scene((request, response) => vendors[calls++]?.reply(request, response), {
      billing: { currency: 'CNY', onDisconnect: { vendor: 'drain' }, maxDrains: 1 },
      storage: { ledger: await funded() },
    })
    await readAndCancel(stage, 1)
    await vendors[0]?.started
    await readAndCancel(stage, 1)
    await vendors[1]?.aborted
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'delivered' } })
    ;(await vendors[0]?.started)?.end(streamEvents.slice(1).join(''))
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'reported' } })
    await readAndCancel(stage, 1)
    ;(await vendors[2]?.started)?.end(streamEvents.slice(1).join(''))
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'reported' } })
  })

  test('charges the delivered tokens when the vendor fails while draining', async () => {
    const vendor = heldAfter(2)
    const stage = await sceneWith(vendor.reply, { vendor: 'drain' })
    await readAndCancel(stage, 2)
    ;(await vendor.started).destroy()
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: prompt + 2n })
  })

  test('the policy of a model takes precedence over that of the gateway', async () => {
    const vendor = heldAfter(2)
    const stage = await scene(vendor.reply, {
      billing: { currency: 'CNY', onDisconnect: { vendor: 'drain' } },
      model: { onDisconnect: { vendor: 'abort', charge: 'none' } },
      storage: { ledger: await funded() },
    })
    await readAndCancel(stage, 2)
    await vendor.aborted
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'none' } })
  })
})
