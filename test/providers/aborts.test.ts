/** The effect on the vendor of clients that disconnect or read slowly. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openai } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'
import { calmly } from '../cpu-time.ts'

const chunk = (content: string, finish: string | null = null) => {
  const choice = { index: 0, delta: { content }, logprobs: null, finish_reason: finish }
  return `data: ${JSON.stringify({ id: 'x', created: 1, model: 'v', choices: [choice] })}\n\n`
}

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client disconnects, and the vendor’s connection closes within 100 ms:', ({ stream }) => {
  const contentType = stream ? 'text/event-stream' : 'application/json'

  test.each<[string, VendorReply]>([
    ['before the response', () => undefined],
    [
      'after the head of the response',
      (_, response) => response.writeHead(200, { 'content-type': contentType }).flushHeaders(),
    ],
    [
      'in the middle of the response',
      (_, response) => {
        response.writeHead(200, { 'content-type': contentType })
        response.write(stream ? chunk('Hello') : '{"choices":[')
      },
    ],
  ])('%s', async (phase, reply) => {
    const took: number[] = []
    for (let time = 1; time <= 5; time++) {
      const gone = Promise.withResolvers<number>()
      const begun = Promise.withResolvers<void>()
      const vendor = await vendorFor(async (request, response) => {
        request.signal.addEventListener('abort', () => gone.resolve(performance.now()))
        await reply(request, response)
        begun.resolve()
      })
      const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
      const leave = new AbortController()
      const pending = askChat(url, { stream }, { signal: leave.signal })
      const done = pending.catch(() => undefined)
      await begun.promise
      if (stream && phase.includes('middle')) await (await pending).body?.getReader().read()
      const left = performance.now()
      leave.abort()
      took.push((await gone.promise) - left)
      await done
      expect(await receipt()).toMatchObject({ outcome: 'cancelled' })
    }
    // The fastest of all runs, because a busy machine only adds time.
    expect(calmly(Math.min(...took), 100)).toBeLessThan(100)
  })
})

test('accounts never get each other’s responses, although three in ten disconnect and connections are shared', async () => {
  const random = seeded(7)
  const connections = new Map<Socket, { used: number; left: boolean }>()
  const vendor = await vendorFor(async (request, response) => {
    const { messages, stream } = request.json as { messages: [{ content: string }]; stream?: boolean }
    const tag = messages[0].content
    const connection = connections.get(response.socket as Socket) ?? { used: 0, left: false }
    connections.set(response.socket as Socket, connection)
    expect(connection.left, 'a connection with an aborted request is not reused').toBe(false)
    connection.used++
    request.signal.addEventListener('abort', () => (connection.left = true))
    if (stream === true) {
      response.setHeader('content-type', 'text/event-stream')
      for (let piece = 0; piece < 8 && !request.signal.aborted; piece++) {
        response.write(chunk(`${tag} `))
        await new Promise(setImmediate)
      }
      response.end(`${chunk('', 'stop')}data: [DONE]\n\n`)
    } else {
      await new Promise(setImmediate)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { content: tag }, finish_reason: 'stop' }] }))
    }
  })
  const { url, receipts } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL, connections: 8 }) } })
  let finished = 0

  /** One account sends requests, and sometimes disconnects at a random byte. */
  async function account(number: number): Promise<void> {
    for (let call = 0; call < 12; call++) {
      const tag = `tag-${number}-${call}-${Math.floor(random() * 1e9)}`
      const stream = random() < 0.7
      const leaveAt = random() < 0.3 ? Math.floor(random() * 600) : Number.POSITIVE_INFINITY
      const leave = new AbortController()
      const messages = [{ role: 'user', content: tag }]
      let text = ''
      try {
        const pending = askChat(url, { messages, stream }, { signal: leave.signal })
        if (leaveAt < 50) setImmediate(() => leave.abort())
        for await (const piece of (await pending).body as ReadableStream<Uint8Array>) {
          text += Buffer.from(piece).toString('utf8')
          if (text.length > leaveAt) leave.abort()
        }
      } catch (error) {
        expect((error as Error).name).toBe('AbortError')
      }
      const tags = new Set(text.match(/tag-\d+-\d+-\d+/g) ?? [])
      tags.delete(tag)
      expect([...tags], `responses of others that account ${number} got`).toEqual([])
      if (!leave.signal.aborted) expect(text).toContain(tag)
      finished++
    }
  }

  await Promise.all(Array.from({ length: 30 }, (_, number) => account(number)))
  expect(finished).toBe(360)
  expect(connections.size).toBeGreaterThan(8)
  expect([...connections.values()].some(({ used }) => used > 1)).toBe(true)
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(receipts.length)
  expect(receipts.some(({ outcome }) => outcome === 'cancelled')).toBe(true)
}, 300_000)

test('the vendor is slowed down to the client’s pace, and no data is lost', async () => {
  const pieces = 2_000
  const sent = createHash('sha256')
  let written = 0
  const vendor = await vendorFor(async (_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    for (let piece = 0; piece < pieces; piece++) {
      const text = `${piece} ${'x'.repeat(10_000)}`
      const bytes = chunk(text)
      sent.update(text)
      written += bytes.length
      if (!response.write(bytes)) await once(response, 'drain')
    }
    response.end(`${chunk('', 'stop')}data: [DONE]\n\n`)
  })
  const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
  const response = await slowly(url)
  // The client does not read, so the vendor stops when all buffers are full.
  for (let before = -1; before !== written;) {
    before = written
    await pause(50)
  }
  expect(written).toBeGreaterThan(0)
  expect(written).toBeLessThan(16 * 1024 * 1024)
  const got = createHash('sha256')
  let text = ''
  for await (const piece of response) text += String(piece)
  const frames = text.split('\n\n').slice(0, -1)
  expect(frames.pop()).toBe('data: [DONE]')
  for (const frame of frames) got.update((JSON.parse(frame.slice(6)) as Chunk).choices[0].delta.content ?? '')
  expect(got.digest('hex')).toBe(sent.digest('hex'))
  expect(await receipt()).toMatchObject({ outcome: 'completed' })
})

interface Chunk {
  readonly choices: [{ readonly delta: { readonly content?: string } }]
}

/** A client that does not read the body until `resume` is called. */
function slowly(url: string): Promise<IncomingMessage> {
  const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true}'
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
    const request = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', agent: false, headers }, resolve)
    request.on('error', reject)
    request.end(body)
  })
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}
