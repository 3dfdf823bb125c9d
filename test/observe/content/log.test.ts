/** Which calls are kept, how much of them, and that no call waits for it. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { mask, type LoggedContent } from 'modelhatch'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { MediaNotes } from '../../../src/observe/content/media.ts'
import { askChat } from '../../hosted.ts'
import { stoppedStore, textsIn, worldWith } from './world.ts'

const messages = [{ role: 'user', content: 'Who?' }]
const chat = { model: 'm', messages }
const path = '/v1/chat/completions'

const chunkOf = (delta: object, finish: string | null) => {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

describe('which calls', () => {
  test('those of the accounts that are named, or that a function names', async () => {
    const none = await worldWith({ content: { accounts: ['another'] } })
    await (await none.post(path, chat)).text()
    expect(none.gateway.admin.content.counts()).toEqual({ written: 0, dropped: 0, waiting: 0 })
    const seen: unknown[] = []
    const some = await worldWith({
      content: { accounts: (call) => seen.push(call) === 2 },
    })
    for (let sent = 0; sent < 3; sent++) await (await some.post(path, { ...chat, user: 'ada' })).text()
    await some.settled()
    expect(some.gateway.admin.content.counts()).toEqual({ written: 1, dropped: 0, waiting: 0 })
    const caller = { account: 'acme', group: 'default', user: 'ada' }
    expect(seen[0]).toMatchObject({ endpoint: 'chat.completions', model: 'm', caller })
  })

  test('a share of them', async () => {
    const draws = [0.1, 0.3, 0.2, 0.9]
    const { post, settled, gateway } = await worldWith({
      content: { sample: 0.25 },
      affinity: 'none',
      random: () => draws[0] ?? 0,
    })
    while (draws.length > 0) {
      await (await post(path, chat)).text()
      draws.shift()
    }
    await settled()
    expect(gateway.admin.content.counts().written).toBe(2)
  })

  test('a function that throws is reported, and the call served without it', async () => {
    const { post, gateway, failures } = await worldWith({
      content: {
        accounts: () => {
          throw new Error('my function')
        },
      },
    })
    expect((await post(path, chat)).status).toBe(200)
    expect(failures).toMatchObject([{ message: 'my function' }])
    expect(gateway.admin.content.counts()).toEqual({ written: 0, dropped: 0, waiting: 0 })
  })
})

describe('a stream that is cut', () => {
  /** Sends two pieces, and then what `end` does. */
  const slowly = (end: (response: ServerResponse) => void): VendorReply =>
    function reply(_, response) {
      response.setHeader('content-type', 'text/event-stream')
      for (const content of ['Once upon', ' a time']) response.write(chunkOf({ content }, null))
      end(response)
    }

  test('by the client is kept as far as it got', async () => {
    const { url, gateway, settled } = await worldWith(
      {},
      slowly(() => {}),
    )
    const abort = new AbortController()
    const response = await askChat(url, { stream: true }, { signal: abort.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let got = ''
    while (!got.includes('a time')) got += Buffer.from((await reader.read()).value ?? []).toString()
    abort.abort()
    await settled()
    const found = await gateway.admin.content.get(response.headers.get('x-request-id') ?? '')
    expect(found).toMatchObject({ isWhole: false, outcome: 'cancelled' })
    expect(textsIn(found?.answer.answer?.choices)).toEqual(['Once upon a time'])
    expect(found?.answer.answer?.choices[0]?.end).toBeUndefined()
  })

  test('by the vendor is kept as far as it got', async () => {
    const { url, kept } = await worldWith(
      {},
      slowly((response) => response.socket?.end()),
    )
    const found = await kept(await askChat(url, { stream: true }))
    expect(found).toMatchObject({ isWhole: false, outcome: 'failed' })
    expect(textsIn(found.answer.answer?.choices)).toEqual(['Once upon a time'])
  })
})

describe('media', () => {
  const image = randomBytes(15 * 1024 * 1024)
  const reference = `sha256:${createHash('sha256').update(image).digest('hex')}`
  const asked = (url: string) => ({
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Who?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  })

  test('of 20 MB is kept by its hash', async () => {
    const { post, kept, gateway } = await worldWith({ sizes: { jsonBytes: 64 * 1024 * 1024 } })
    const response = await post(path, asked(`data:image/png;base64,${image.toString('base64')}`))
    expect(response.status).toBe(200)
    const found = await kept(response)
    expect(found.request.conversation?.turns[0]?.blocks).toEqual([
      { kind: 'text', text: 'Who?' },
      { kind: 'media', type: 'image', source: { url: reference, mediaType: 'image/png' } },
    ])
    expect(found.media).toEqual([{ reference, type: 'image/png', bytes: image.length }])
    expect(gateway.admin.content.counts()).toEqual({ written: 1, dropped: 0, waiting: 0 })
  })

  test('of 20 MB is worked on in many turns of the event loop, so that it blocks none for long', async () => {
    const body = Buffer.from(JSON.stringify(asked(`data:image/png;base64,${image.toString('base64')}`)))
    let turns = 0
    const count = () => {
      turns++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const light = await new MediaNotes(4_096).lightened(body)
    clearImmediate(immediate)
    expect(light.length).toBeLessThan(500)
    expect(turns).toBeGreaterThan(body.length / (200 * 1024))
  })

  test('is known by its hash however it is written, and small media stays', async () => {
    const { url, kept } = await worldWith({ content: { mediaBytes: 1_024 } })
    const pixels = image.subarray(0, 2_000)
    const digest = `sha256:${createHash('sha256').update(pixels).digest('hex')}`
    // As PHP writes it.
    const escaped = JSON.stringify(asked(`data:image/png;base64,${pixels.toString('base64')}`)).replaceAll('/', '\\/')
    const slashes = await kept(await askChat(url, {}, { body: escaped }))
    expect(slashes.media).toEqual([{ reference: digest, type: 'image/png', bytes: 2_000 }])
    const small = image.subarray(0, 300).toString('base64')
    const whole = await kept(await askChat(url, asked(`data:image/png;base64,${small}`)))
    expect(whole.media).toEqual([])
    expect(JSON.stringify(whole)).toContain(small)
  })

  test('in the JSON of an answer is kept by its hash', async () => {
    const { post, kept } = await worldWith({}, (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ created: 1, data: [{ b64_json: image.subarray(0, 9_000).toString('base64') }] }))
    })
    const digest = createHash('sha256').update(image.subarray(0, 9_000)).digest('hex')
    const found = await kept(await post('/v1/images/generations', { model: 'm', prompt: 'A cat' }))
    expect(found.request.body).toMatchObject({ prompt: 'A cat' })
    expect(found.answer.body).toMatchObject({ data: [{ b64_json: `sha256:${digest}` }] })
    expect(found.media).toMatchObject([{ bytes: 9_000 }])
  })
})

describe('redaction', () => {
  const [email, card] = ['ada@example.org', '4111 1111 1111 1111']
  const secret = `Write to ${email} about ${card}`

  test('what the mask hides from vendors is not in the log either, in any part of it', async () => {
    const { post, kept } = await worldWith(
      { inspect: [mask()], content: { redact: ['email', 'card'] } },
      ({ body, json }, response) => {
        const [placeholder = ''] = /EMAIL_[A-Z]{8}/.exec(body.toString()) ?? []
        const call = {
          id: 'call_1',
          type: 'function',
          function: { name: 'send', arguments: `{"to":"${placeholder}"}` },
        }
        const message = { role: 'assistant', content: `For ${placeholder}`, tool_calls: [call] }
        if ((json as { stream?: boolean }).stream !== true) {
          response.setHeader('content-type', 'application/json')
          return void response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
        }
        response.setHeader('content-type', 'text/event-stream')
        // Split within the placeholder.
        for (const content of [`For ${placeholder.slice(0, 4)}`, placeholder.slice(4)])
          response.write(chunkOf({ content }, null))
        response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
      },
    )
    const body = { model: 'm', user: email, messages: [{ role: 'user', name: email, content: secret }] }
    for (const stream of [false, true]) {
      const response = await post(path, { ...body, stream })
      expect(await response.clone().text()).toContain(email)
      const { user: _, ...found } = await kept(response)
      const text = JSON.stringify(found)
      expect(text).not.toContain(email)
      expect(text).not.toContain('1111')
      expect(text).toContain('Write to [EMAIL] about [CARD]')
      expect(text).toContain('For [EMAIL]')
    }
  })

  test('functions change what is kept, or keep nothing', async () => {
    const { post, kept, settled, gateway } = await worldWith({
      content: {
        redact: [
          'email',
          async (content: LoggedContent) => {
            expect(JSON.stringify(content)).not.toContain(email)
            if (content.stream) return undefined
            return { ...content, request: {}, model: 'hidden' }
          },
        ],
      },
    })
    const body = { model: 'm', messages: [{ role: 'user', content: secret }] }
    expect(await kept(await post(path, body))).toMatchObject({ request: {}, model: 'hidden', account: 'acme' })
    await (await post(path, { ...body, stream: true })).text()
    await settled()
    expect(gateway.admin.content.counts()).toEqual({ written: 1, dropped: 1, waiting: 0 })
  })

  test('if a function fails, nothing is kept, and the failure is reported', async () => {
    const { post, settled, gateway, failures, store } = await worldWith({
      content: { redact: [() => Promise.reject(new Error('my function'))] },
    })
    expect((await post(path, chat)).status).toBe(200)
    await settled()
    expect(gateway.admin.content.counts()).toEqual({ written: 0, dropped: 1, waiting: 0 })
    expect(failures).toMatchObject([{ cause: { message: 'my function' } }])
    expect(await store.list({ account: 'acme' })).toEqual({ items: [] })
  })

  test('a pattern that does not exist is a mistake', async () => {
    await expect(worldWith({ content: { redact: ['mails' as 'email'] } })).rejects.toThrow(
      'content.redact: there is no pattern "mails"',
    )
  })
})

describe('a store that is stopped', () => {
  test('makes no call wait, and what was written and dropped adds up', async () => {
    const store = stoppedStore()
    const { url, gateway, failures } = await worldWith({ content: { store, queue: 20 } })
    const ids = new Set<string>()
    for (let sent = 0; sent < 50; sent++) {
      const response = await askChat(url)
      expect(response.status).toBe(200)
      ids.add(response.headers.get('x-request-id') ?? '')
      await response.text()
    }
    expect(gateway.admin.content.counts().written).toBe(0)
    expect(gateway.admin.content.counts().dropped).toBe(30)
    expect(failures).toHaveLength(30)
    store.go()
    await expect.poll(() => gateway.admin.content.counts()).toEqual({ written: 20, dropped: 30, waiting: 0 })
    expect(new Set(store.appended.map(({ id }) => id)).size).toBe(20)
    for (const { id } of store.appended) expect(ids).toContain(id)
  })

  test('is given only what there is room for in memory', async () => {
    const store = stoppedStore()
    const { url, gateway } = await worldWith({ content: { store, queueBytes: 20_000 } })
    const text = randomBytes(3_000).toString('hex')
    for (let sent = 0; sent < 10; sent++)
      await (await askChat(url, { messages: [{ role: 'user', content: text }] })).text()
    const { waiting, dropped } = gateway.admin.content.counts()
    expect(waiting + dropped).toBe(10)
    expect(waiting).toBeLessThan(7)
    expect(dropped).toBeGreaterThan(3)
    store.go()
    await expect.poll(() => gateway.admin.content.counts().waiting).toBe(0)
    // What was given back can be used again.
    for (let sent = 0; sent < 4; sent++) {
      await (await askChat(url, { messages: [{ role: 'user', content: text }] })).text()
      await expect.poll(() => gateway.admin.content.counts().waiting).toBe(0)
    }
    expect(gateway.admin.content.counts()).toEqual({ written: 10 - dropped + 4, dropped, waiting: 0 })
  })

  test('gets what it has refused once more', async () => {
    let refused = 0
    const { store, ...world } = await worldWith()
    const append = store.append.bind(store)
    Object.assign(store, {
      append(records: never) {
        if (refused++ < 2) throw new Error('not now')
        return append(records)
      },
    })
    const found = await world.kept(await world.post(path, chat))
    expect(textsIn(found.answer.answer?.choices)).toEqual(['Hello'])
    expect(world.gateway.admin.content.counts()).toEqual({ written: 1, dropped: 0, waiting: 0 })
  })

  test('is not waited for at the end, and what is left is counted', async () => {
    const store = stoppedStore()
    const { url, gateway } = await worldWith({ content: { store } })
    for (let sent = 0; sent < 3; sent++) await (await askChat(url)).text()
    await gateway.close({ graceMs: 0 })
    expect(gateway.admin.content.counts()).toEqual({ written: 0, dropped: 3, waiting: 0 })
    store.go()
    await once(process, 'never', { signal: AbortSignal.timeout(50) }).catch(() => undefined)
    expect(gateway.admin.content.counts()).toEqual({ written: 0, dropped: 3, waiting: 0 })
  })
})

test('a request or an answer that is too large is dropped, and counted', async () => {
  const { post, settled, gateway, failures } = await worldWith({ content: { maxBytes: 10_000 } })
  const content = 'A word. '.repeat(2_000)
  expect((await post(path, { model: 'm', messages: [{ role: 'user', content }] })).status).toBe(200)
  await settled()
  expect(gateway.admin.content.counts()).toEqual({ written: 0, dropped: 1, waiting: 0 })
  expect(failures).toMatchObject([{ cause: { message: expect.stringContaining('content.maxBytes') } }])
})

test('closing writes what waits', async () => {
  const { url, gateway, store } = await worldWith()
  for (let sent = 0; sent < 5; sent++) await (await askChat(url)).text()
  await gateway.close({ graceMs: 0 })
  expect(gateway.admin.content.counts()).toEqual({ written: 5, dropped: 0, waiting: 0 })
  expect((await store.list({ account: 'acme' })).items).toHaveLength(5)
})
