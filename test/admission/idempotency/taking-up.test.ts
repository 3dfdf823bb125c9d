/** A client that lost its connection in the middle of a stream gets the rest with `Last-Event-ID`. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { memoryIdempotencyStore } from '../../../src/index.ts'
import { fresh } from '../../../src/testing/kit.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { everyBundle } from '../../every-bundle.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { scene, streamEvents } from '../scene.ts'
import { ask, begin, type RequestOptions } from './keyed.ts'
import { optionsOf } from './sharing.ts'

const idempotency = { resumeMs: 60_000 }
const chat = {
  path: '/chat/completions',
  body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
}
const messages = { path: '/messages', body: { ...chat.body, max_tokens: 100 } }
const responses = { path: '/responses', body: { model: 'm', stream: true, input: 'Hi' } }
const endpoints = [
  ['chat', chat],
  ['messages', messages],
  ['responses', responses],
] as const

/** A vendor that sends three words, and the rest once the test calls `open`. */
function halting() {
  const opened = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const reply: VendorReply = async (_, response) => {
    response.on('close', gone.resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(streamEvents.slice(0, 3).join(''))
    await opened.promise
    response.end(streamEvents.slice(3).join(''))
  }
  return { reply, open: () => opened.resolve(), gone: gone.promise }
}

/** Reads a stream up to the given event, and disconnects. Resolves to what was read. */
async function readTo(url: string, options: RequestOptions, event: number): Promise<string> {
  const leaving = new AbortController()
  const response = await begin(url, { ...options, signal: leaving.signal })
  const text = await eventsOf(response, event)
  leaving.abort()
  return text
}

async function eventsOf(response: Response, event: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    const at = text.search(new RegExp(`(?<=^|\n\n)id: ${event}\n`))
    const end = at === -1 ? -1 : text.indexOf('\n\n', at)
    if (end !== -1) return text.slice(0, end + 2)
  }
  throw new Error(`the stream ended before event ${event}`)
}

/** The number of the last event before the vendor halts. */
const halts = { chat: 3, messages: 4, responses: 6 }

describe.each(endpoints)('%s:', (name, request) => {
  const cuts = Array.from({ length: halts[name] }, (_, index) => index + 1)

  test.each(cuts)('cut after event %i, the stream goes on as it comes', async (event) => {
    const vendor = halting()
    const { url, receipts, receipt } = await scene(vendor.reply, { idempotency })
    const read = await readTo(url, request, event)
    const rest = begin(url, { ...request, after: event })
    vendor.open()
    const response = await rest
    expect(response.headers.get('idempotent-replayed')).toBe('true')
    const joined = read + (await response.text())
    expect(await receipt()).toMatchObject({ outcome: 'completed', usage: { total_tokens: 30 } })
    expect((await ask(url, request)).text).toBe(joined)
    expect(receipts).toHaveLength(1)
  })

  test.each(cuts)('cut after event %i, the stream is complete when the client comes back', async (event) => {
    const vendor = halting()
    const { url, receipts, receipt } = await scene(vendor.reply, { idempotency })
    const read = await readTo(url, request, event)
    vendor.open()
    await receipt()
    const { text } = await ask(url, { ...request, after: event })
    expect((await ask(url, request)).text).toBe(read + text)
    expect((await ask(url, { ...request, after: 0 })).text).toBe(read + text)
    expect(receipts).toHaveLength(1)
  })
})

describe.each(everyBundle())('sharing %s:', (_, there, open) => {
  test.skipIf(!there)('another process sends the rest once the stream has ended; it is paid once', async () => {
    const halted = halting()
    const { baseURL, requests } = await vendorFor(halted.reply)
    const account = fresh('account')
    const { ledger } = await open()
    await ledger.credit({ account, amount: 9_000n, reference: fresh('r') })
    const gateway = async () => hostedWith({ ...optionsOf(await open(), { vendor: baseURL, account }), idempotency })
    const [here, other] = [await gateway(), await gateway()]
    const read = await readTo(here.url, chat, 2)
    const response = await begin(other.url, { ...chat, after: 2 })
    expect(response.status).toBe(200)
    halted.open()
    const rest = (await response.text()).replaceAll(/^: .*\n\n/gm, '')
    expect((await ask(other.url, chat)).text).toBe(read + rest)
    expect(requests).toHaveLength(1)
    await expect.poll(async () => (await ledger.account(account))?.held).toBe(0n)
    expect((await ledger.account(account))?.balance).toBe(8_970n)
  })
})

test('a client that waits for another process is cut off when that one closes', async () => {
  const halted = halting()
  const storage = { idempotency: memoryIdempotencyStore() }
  const [here, other] = [
    await scene(halted.reply, { idempotency, storage }),
    await scene(halted.reply, { idempotency, storage }),
  ]
  await readTo(here.url, chat, 2)
  const response = await begin(other.url, { ...chat, after: 2 })
  const text = response.text()
  await Promise.all([expect(text).rejects.toThrow(), other.gateway.close({ graceMs: 0 })])
})

test('a client that connects again before its first connection is lost takes the stream over', async () => {
  const vendor = halting()
  const { url, receipt } = await scene(vendor.reply, { idempotency })
  const first = await begin(url, chat)
  const rest = await begin(url, { ...chat, after: 1 })
  await expect(first.text()).rejects.toThrow()
  vendor.open()
  expect(await rest.text()).toMatch(/^id: 2\n[^]*data: \[DONE]\n\n$/)
  expect(await receipt()).toMatchObject({ outcome: 'completed' })
})

test('a client can lose the connection several times', async () => {
  const vendor = halting()
  const { url, receipts } = await scene(vendor.reply, { idempotency })
  let text = await readTo(url, chat, 1)
  text += await readTo(url, { ...chat, after: 1 }, 2)
  text += await readTo(url, { ...chat, after: 2 }, 3)
  vendor.open()
  text += (await ask(url, { ...chat, after: 3 })).text
  expect((await ask(url, chat)).text).toBe(text)
  expect(receipts).toHaveLength(1)
})

test('a stream that nobody takes up ends after resumeMs, and is paid as far as it went', async () => {
  const vendor = halting()
  const { url, receipt } = await scene(vendor.reply, { idempotency: { resumeMs: 100 } })
  await readTo(url, chat, 2)
  await vendor.gone
  expect(await receipt()).toMatchObject({ outcome: 'cancelled' })
  const lost = await ask(url, { ...chat, after: 2 })
  expect(lost).toMatchObject({ status: 409, code: 'conflict', shouldRetry: 'false' })
  expect(lost.text).toContain('was lost')
  vendor.open()
  expect((await ask(url, chat)).status).toBe(200)
})

test.each(['8', '99999999', '-1', 'x', '1.5'])('the id %j of no event is a 400', async (after) => {
  const vendor = halting()
  vendor.open()
  const { url } = await scene(vendor.reply, { idempotency })
  expect(await ask(url, chat)).toMatchObject({ status: 200 })
  expect(await ask(url, { ...chat, after: after === '8' ? '9' : after })).toMatchObject({
    status: 400,
    code: 'invalid_request_error',
  })
})

test('another account, key or body gets nothing of the stream', async () => {
  const vendor = halting()
  const { url } = await scene(vendor.reply, {
    idempotency,
    keys: { 'sk-test': { account: 'acme' }, 'sk-other': { account: 'other' } },
  })
  await readTo(url, chat, 2)
  expect(await ask(url, { ...chat, bearer: 'sk-other', after: 2 })).toMatchObject({ status: 409 })
  expect(await ask(url, { ...chat, key: 'other', after: 2 })).toMatchObject({ status: 409 })
  const body = { ...chat.body, temperature: 1 }
  expect(await ask(url, { ...chat, body, after: 2 })).toMatchObject({ status: 409 })
  vendor.open()
  expect((await ask(url, { ...chat, after: 2 })).text).toMatch(/^id: 3\n/)
})

test('a stream beyond maxBytes cannot be taken up', async () => {
  const vendor = halting()
  const { url } = await scene(vendor.reply, { idempotency: { ...idempotency, maxBytes: 100 } })
  await readTo(url, chat, 2)
  vendor.open()
  expect(await ask(url, { ...chat, after: 2 })).toMatchObject({ status: 409, shouldRetry: 'false' })
})

test('without resumeMs, and without a key, events have no ids', async () => {
  const vendor = halting()
  vendor.open()
  const plain = await scene(vendor.reply)
  expect((await ask(plain.url, { ...chat, after: 2 })).text).not.toContain('id: ')
  const resumable = await scene(vendor.reply, { idempotency })
  expect((await ask(resumable.url, { ...chat, key: undefined })).text).not.toContain('\nid: ')
})

test("OpenAI's and Anthropic's clients read events with ids", async () => {
  const vendor = halting()
  vendor.open()
  const { url } = await scene(vendor.reply, { idempotency })
  const headers = (key: string) => ({ headers: { 'Idempotency-Key': key } })
  const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
  let text = ''
  const chunks = await openai.chat.completions.create({ ...chat.body, stream: true } as never, headers('1'))
  for await (const chunk of chunks as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>)
    text += chunk.choices[0]?.delta.content ?? ''
  const anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 })
  const message = await anthropic.messages.stream(messages.body as never, headers('2')).finalText()
  expect([text, message]).toEqual(['onetwothreefourfive', 'onetwothreefourfive'])
})
