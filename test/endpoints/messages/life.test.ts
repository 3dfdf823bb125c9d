/** The life of a streamed message: silence, clients that leave or read slowly, and the end of the gateway. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { anthropic } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, onTestFinished, test } from 'vitest'
import { memoryLedger, type GatewayOptions } from '../../../src/index.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

type Response = Parameters<VendorReply>[1]

const frame = (event: { readonly type: string; readonly [field: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const usage = { input_tokens: 100, output_tokens: 1 }
const start = frame({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
})
const word = (text: string) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const end =
  frame({ type: 'content_block_stop', index: 0 }) +
  frame({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 8 },
  }) +
  frame({ type: 'message_stop' })
const opening = start + frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
const ping = frame({ type: 'ping' })

/** A vendor whose stream the test writes. */
async function scene(options: Partial<GatewayOptions> = {}) {
  let arrived = Promise.withResolvers<{ response: Response; left: Promise<void> }>()
  const vendor = await vendorFor(({ signal }, response) => {
    const left = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => left.resolve())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    arrived.resolve({ response, left: left.promise })
  })
  const hosted = await hostedWith({
    models: { m: { provider: anthropic({ baseURL: vendor.baseURL }), price: { input: '1', output: '1' } } },
    retry: { maxAttempts: 1 },
    ...options,
  })
  const client = new AbortController()
  const ask = () =>
    fetch(`${hosted.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      signal: client.signal,
    })
  return {
    ...hosted,
    client,
    ask,
    asked: async () => {
      const current = await arrived.promise
      arrived = Promise.withResolvers()
      return current
    },
  }
}

/** Reads until the text has been received. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: string): Promise<string> {
  let text = ''
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended after ${JSON.stringify(text)}`)
    text += Buffer.from(value).toString()
  }
  return text
}

test('silence is filled with pings, before the first content and after it', async () => {
  const { ask, asked, receipt } = await scene({ timeouts: { keepAliveMs: 20 } })
  const answered = ask()
  const { response } = await asked()
  const reader = ((await answered).body as ReadableStream<Uint8Array>).getReader()
  const before = await readUntil(reader, ping + ping)
  expect(before.replaceAll(ping, '')).toBe('')
  response.write(opening + word('Hello'))
  const after = await readUntil(reader, word('Hello') + ping)
  expect(after.replaceAll(ping, '')).toBe(opening + word('Hello'))
  response.end(end)
  expect((await readUntil(reader, 'message_stop')).replaceAll(ping, '')).toBe(end)
  expect(await receipt()).toMatchObject({ outcome: 'completed', usage: { prompt_tokens: 100, completion_tokens: 8 } })
})

test('a vendor that stays silent for too long ends the stream with an error event', async () => {
  const { ask, asked, receipt } = await scene({ timeouts: { keepAliveMs: 20, idleMs: 60 } })
  const answered = ask()
  const { response } = await asked()
  response.write(opening + word('Hello'))
  const text = await (await answered).text()
  expect(text.replaceAll(ping, '')).toMatch(/^event: message_start[^]*Hello[^]*event: error\ndata: {"type":"error"/)
  expect(text).not.toContain('message_stop')
  expect(await receipt()).toMatchObject({ outcome: 'failed' })
})

test('a vendor that fails before its first content is an HTTP status, and another attempt may follow', async () => {
  const { ask, asked } = await scene({ retry: { maxAttempts: 2, backoffMs: 1 } })
  const answered = ask()
  const first = await asked()
  first.response.end(opening)
  const second = await asked()
  second.response.end(opening + word('again') + end)
  const response = await answered
  expect([response.status, await response.text()]).toEqual([200, opening + word('again') + end])
})

test('a client that leaves stops the vendor, and pays for what it got', async () => {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const { ask, asked, client, receipt } = await scene({
    keys: { 'sk-test': { account: 'acme' } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const answered = ask()
  const { response, left } = await asked()
  response.write(opening + word('a'.repeat(400)))
  const reader = ((await answered).body as ReadableStream<Uint8Array>).getReader()
  await readUntil(reader, 'aaaa')
  client.abort()
  await left
  const { outcome, delivered, charge } = await receipt()
  expect({ outcome, delivered, basis: charge?.basis }).toMatchObject({
    outcome: 'cancelled',
    delivered: { prompt_tokens: 100, completion_tokens: 100 },
    basis: 'delivered',
  })
})

test('a client that reads slowly slows the vendor down', async () => {
  const { url, asked } = await scene()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const body = JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  const head = ['POST /v1/messages HTTP/1.1', 'host: x', 'x-api-key: sk-test', 'content-type: application/json']
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  socket.pause()
  const { response } = await asked()
  response.write(opening)
  const piece = word('x'.repeat(1_000)).repeat(100)
  let written = 0
  while (written < 64_000_000 && response.write(piece)) written += piece.length
  if (response.writableNeedDrain) {
    // The vendor could write on only if the gateway kept everything.
    for (let more = 0; more < 200; more++) response.write(piece)
    const drained = once(response, 'drain').then(() => 'drained')
    const waited = new Promise((resolve) => setTimeout(resolve, 300, 'waiting'))
    expect(await Promise.race([drained, waited])).toBe('waiting')
    socket.resume()
    await drained
  }
  response.end(end)
  let tail = ''
  socket.on('data', (bytes: Buffer) => (tail = (tail + bytes.toString('latin1')).slice(-2_000)))
  await expect.poll(() => tail, { timeout: 10_000 }).toContain('message_stop')
})

test('a gateway that stops ends open messages with an error event', async () => {
  const { ask, asked, gateway, receipt } = await scene()
  const answered = ask()
  const { response } = await asked()
  response.write(opening + word('Hello'))
  const reader = ((await answered).body as ReadableStream<Uint8Array>).getReader()
  await readUntil(reader, 'Hello')
  const closing = gateway.close({ graceMs: 0 })
  expect(await readUntil(reader, 'event: error')).toContain('"type":"overloaded_error"')
  await closing
  expect(await receipt()).toMatchObject({ outcome: 'failed' })
})
