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
  /** The response, when the first events are written. */
  readonly begun: Promise<ServerResponse>
  /** Resolves when the gateway has cut the connection. */
  readonly aborted: Promise<void>
}

/** A vendor that writes so many events and then waits for the test. */
function heldAfter(count: number): Held {
  const begun = Promise.withResolvers<ServerResponse>()
  const aborted = Promise.withResolvers<void>()
  return {
    begun: begun.promise,
    aborted: aborted.promise,
    reply({ signal }, response) {
      signal.addEventListener('abort', () => aborted.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      for (const event of streamEvents.slice(0, count)) response.write(event)
      begun.resolve(response)
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

/** Reads so many words of a stream and goes. */
async function readAndLeave({ url }: Scene, words: number): Promise<void> {
  const leaving = new AbortController()
  const asking = askChat(url, { stream: true }, { signal: leaving.signal })
  await readWords(await asking, words)
  leaving.abort()
}

/** Leaves the body behind when the words have come. */
async function readWords({ body }: Response, count: number): Promise<void> {
  let seen = ''
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    seen += Buffer.from(piece).toString()
    if (words.slice(0, count).every((word) => seen.includes(word))) return
  }
}

/** A call without a socket in between: the gateway knows at once that the client has gone. */
function inProcess({ gateway }: Scene, body: object, signal: AbortSignal): Promise<Response> {
  const request = new Request('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    signal,
  })
  return mount(gateway)(request)
}

async function readAndLeaveAtOnce(stage: Scene, words: number): Promise<void> {
  const response = await inProcess(stage, { stream: true }, new AbortController().signal)
  await readWords(response, words)
}

async function expectSettledOnce({ ledger, usage, receipts }: Scene, record: object): Promise<void> {
  const { items } = await usage.list({})
  expect(items).toMatchObject([record])
  expect(receipts).toHaveLength(1)
  expect(await ledger.audit()).toMatchObject({ settlements: items[0]?.cost, holds: 0n, faults: [] })
}

/** Tokens of the question as the gateway estimates them. */
const question = BigInt(
  Math.ceil(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }).length / 4),
)

describe('a client that leaves a stream', () => {
  test.each([1, 2, 3, 4, 5])(
    'after %i words pays for the question and those words, and the vendor is stopped',
    async (words) => {
      const vendor = heldAfter(words)
      const stage = await sceneWith(vendor.reply, {})
      await readAndLeave(stage, words)
      const receipt = await stage.receipt()
      expect(receipt).toMatchObject({ outcome: 'cancelled', usageSource: 'estimated', code: 'client_closed' })
      await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: question + BigInt(words) })
      await vendor.aborted
    },
  )

  test('pays for whatever the vendor has counted, if it has by then', async () => {
    const vendor = heldAfter(7)
    const stage = await sceneWith(vendor.reply, {})
    await readAndLeave(stage, 5)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
  })

  test.each([
    [{}, { basis: 'sent', cost: question }],
    [{ unanswered: 'none' as const }, { basis: 'none', cost: 0n }],
    [{ charge: 'reported' as const }, { basis: 'none', cost: 0n }],
  ])('before the first word pays for the question that the vendor has read, policy %o', async (policy, charged) => {
    const vendor = heldAfter(0)
    const stage = await sceneWith(vendor.reply, policy)
    const leaving = new AbortController()
    const asking = askChat(stage.url, { stream: true }, { signal: leaving.signal })
    await vendor.begun
    leaving.abort()
    await expect(asking).rejects.toThrow()
    expect(await stage.receipt()).toMatchObject({ unanswered: true })
    await expectSettledOnce(stage, { outcome: 'cancelled', ...charged })
    await vendor.aborted
  })

  test.each([
    [0, { basis: 'none', cost: 0n }],
    [0.5, { basis: 'sent', cost: (question - 2n) / 2n }],
    [1, { basis: 'sent', cost: question - 3n }],
  ])('pays for the part of its question that the provider has sent: %d', async (share, charged) => {
    const begun = Promise.withResolvers<void>()
    const provider = defineProvider({
      name: 'slow',
      reportsSent: true,
      chat: ({ sent, signal }) => {
        if (share > 0) sent?.(share)
        begun.resolve()
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
    const leaving = new AbortController()
    const answer = inProcess(stage, {}, leaving.signal)
    await begun.promise
    leaving.abort()
    await answer
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', ...charged })
  })

  test('before the images come pays for all that it asked for', async () => {
    const asked = Promise.withResolvers<void>()
    const stage = await scene(() => asked.resolve(), {
      billing: { currency: 'CNY' },
      model: { price: { image: '0.001' } },
      storage: { ledger: await funded() },
    })
    const leaving = new AbortController()
    const answer = mount(stage.gateway)(
      new Request('http://gateway/v1/images/generations', {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', prompt: 'a cat', n: 3 }),
        signal: leaving.signal,
      }),
    )
    await asked.promise
    leaving.abort()
    await answer
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'sent', images: 3, cost: 3_000n })
  })

  test('keeps its place until the provider has ended', async () => {
    const going = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const deaf = defineProvider({
      name: 'deaf',
      async *chat() {
        begun.resolve()
        await going.promise
        yield text('late')
        yield finish('stop')
      },
    })
    const stage = await scene(() => undefined, {
      groups: { default: { models: '*', rate: { concurrent: 1 } } },
      models: () => ({ m: deaf }),
    })
    const leaving = new AbortController()
    const first = inProcess(stage, {}, leaving.signal)
    await begun.promise
    leaving.abort()
    expect((await first).status).toBe(499)
    expect((await askChat(stage.url)).status).toBe(429)
    going.resolve()
    await expect.poll(async () => (await askChat(stage.url)).status).toBe(200)
  })

  test.each(['moderate', 'compact'] as const)('keeps it whatever the provider is asked for: %s', async (method) => {
    const going = Promise.withResolvers<undefined>()
    const begun = Promise.withResolvers<void>()
    const provider = { name: 'deaf', [method]: () => (begun.resolve(), going.promise as Promise<never>) }
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
    const leaving = new AbortController()
    const first = ask(leaving.signal)
    await begun.promise
    leaving.abort()
    await first
    expect((await ask()).status).toBe(429)
    going.resolve(undefined)
    await expect.poll(async () => (await ask()).status).toBe(400)
  })

  test('pays nothing where only counts of the vendor are charged', async () => {
    const vendor = heldAfter(3)
    const stage = await sceneWith(vendor.reply, { charge: 'reported' })
    await readAndLeave(stage, 3)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'none', cost: 0n })
  })

  test('pays nothing where nothing is charged, counted or not', async () => {
    const vendor = heldAfter(7)
    const stage = await sceneWith(vendor.reply, { charge: 'none' })
    await readAndLeave(stage, 5)
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'none', cost: 0n })
  })

  test('pays for the answer that was begun, where the vendor counts the question first and the answer last', async () => {
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
    await readAndLeave(stage, 4)
    expect(await stage.receipt()).toMatchObject({
      usage: { completion_tokens: 1 },
      delivered: { completion_tokens: 4 },
    })
    await expectSettledOnce(stage, { basis: 'delivered', cost: 54n })
  })
})

describe('where answers are drained', () => {
  test.each([1, 3, 5])(
    'a stream left after %i words is read to its end, and pays what the vendor counts',
    async (words) => {
      const vendor = heldAfter(words)
      const stage = await sceneWith(vendor.reply, { vendor: 'drain' })
      await readAndLeaveAtOnce(stage, words)
      const response = await vendor.begun
      expect(stage.receipts).toHaveLength(0)
      response.end(streamEvents.slice(words).join(''))
      await stage.receipt()
      await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
    },
  )

  test('an answer that is not streamed is waited for too', async () => {
    const asked = Promise.withResolvers<() => void>()
    const stage = await sceneWith((request, response) => asked.resolve(() => void whole(request, response)), {
      vendor: 'drain',
    })
    const leaving = new AbortController()
    const asking = inProcess(stage, {}, leaving.signal)
    const answer = await asked.promise
    leaving.abort()
    answer()
    await asking
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'reported', cost: 30n })
  })

  test('nobody is read on for longer than the bound', async () => {
    const vendor = heldAfter(2)
    const stage = await sceneWith(vendor.reply, { vendor: 'drain', drainMs: 30 })
    await readAndLeaveAtOnce(stage, 2)
    await vendor.aborted
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: question + 2n })
  })

  test('no more answers are drained at once than the options allow, and the place is free afterwards', async () => {
    const vendors = [heldAfter(1), heldAfter(1), heldAfter(1)]
    let asked = 0
    const stage = await scene((request, response) => vendors[asked++]?.reply(request, response), {
      billing: { currency: 'CNY', onDisconnect: { vendor: 'drain' }, maxDrains: 1 },
      storage: { ledger: await funded() },
    })
    await readAndLeaveAtOnce(stage, 1)
    await vendors[0]?.begun
    await readAndLeaveAtOnce(stage, 1)
    await vendors[1]?.aborted
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'delivered' } })
    ;(await vendors[0]?.begun)?.end(streamEvents.slice(1).join(''))
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'reported' } })
    await readAndLeaveAtOnce(stage, 1)
    ;(await vendors[2]?.begun)?.end(streamEvents.slice(1).join(''))
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'reported' } })
  })

  test('a vendor that fails when nobody listens any more is charged for what was delivered', async () => {
    const vendor = heldAfter(2)
    const stage = await sceneWith(vendor.reply, { vendor: 'drain' })
    await readAndLeaveAtOnce(stage, 2)
    ;(await vendor.begun).destroy()
    await stage.receipt()
    await expectSettledOnce(stage, { outcome: 'cancelled', basis: 'delivered', cost: question + 2n })
  })

  test('the rule of a model goes before that of the gateway', async () => {
    const vendor = heldAfter(2)
    const stage = await scene(vendor.reply, {
      billing: { currency: 'CNY', onDisconnect: { vendor: 'drain' } },
      model: { onDisconnect: { vendor: 'abort', charge: 'none' } },
      storage: { ledger: await funded() },
    })
    await readAndLeaveAtOnce(stage, 2)
    await vendor.aborted
    expect(await stage.receipt()).toMatchObject({ charge: { basis: 'none' } })
  })
})
