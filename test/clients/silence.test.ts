/**
 * Streams with long silences, read by the parsers of real clients. Keep-alive frames must be neither an error nor an
 * end for any of them.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import { createParser } from 'eventsource-parser'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { finish, openai, text, type Provider } from 'modelhatch/providers'
import { scriptedVendor, type ScriptedVendor } from 'modelhatch/testing'
import { faults } from '../openapi.ts'
import { hasShared } from '../shared.ts'
import { wav } from '../sound.ts'
import { streamFaults, type Chunk } from './stream-rules.ts'

/** Called for each write of the server to the stream in progress. */
const writes = new EventEmitter()

/** Resolves after the given number of further frames, which are the keep-alive frames of a silent stream. */
async function silence(frames = 2): Promise<void> {
  for (let seen = 0; seen < frames; seen++) await once(writes, 'write')
}

/** Is silent before its first word, and again in the middle. */
const thinker: Provider = {
  name: 'thinker',
  async *generate() {
    await silence()
    yield text('one ')
    await silence()
    yield text('two')
    yield finish('stop')
  },
  async *generateImages() {
    await silence()
    yield { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 }
    await silence()
    yield { type: 'image_generation.completed', b64_json: 'AAAA' }
  },
  async *transcribe() {
    await silence()
    yield { type: 'transcript.text.delta', delta: 'one ' }
    await silence()
    yield { type: 'transcript.text.delta', delta: 'two' }
    yield { type: 'transcript.text.done', text: 'one two' }
  },
}

const chunk = (content: string, reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-vendor',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'native',
    choices: [{ index: 0, delta: reason === null ? { content } : {}, finish_reason: reason }],
  })}\n\n`

const responseEvent = (type: string, number: number, more: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...more })}\n\n`

const vendorResponse = {
  id: 'resp_vendor',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'native',
  status: 'in_progress',
  output: [],
}
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
const part = (said: string) => ({ type: 'output_text', text: said, annotations: [] })

let vendor: ScriptedVendor
let baseURL: string
let close: () => Promise<void>

beforeAll(async () => {
  vendor = await scriptedVendor(async ({ url }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (url.endsWith('/chat/completions')) {
      await silence()
      response.write(chunk('one '))
      await silence()
      response.write(chunk('t') + chunk('wo'))
      response.end(`${chunk('', 'stop')}data: [DONE]\n\n`)
      return
    }
    await silence()
    response.write(
      responseEvent('response.created', 0, { response: vendorResponse }) +
        responseEvent('response.in_progress', 1, { response: vendorResponse }) +
        responseEvent('response.output_item.added', 2, { output_index: 0, item: { ...item, content: [] } }) +
        responseEvent('response.content_part.added', 3, { ...at, part: part('') }) +
        responseEvent('response.output_text.delta', 4, { ...at, delta: 'one ', logprobs: [] }),
    )
    await silence()
    const output = [{ ...item, content: [part('one two')] }]
    response.end(
      responseEvent('response.output_text.delta', 5, { ...at, delta: 'two', logprobs: [] }) +
        responseEvent('response.output_text.done', 6, { ...at, text: 'one two', logprobs: [] }) +
        responseEvent('response.content_part.done', 7, { ...at, part: part('one two') }) +
        responseEvent('response.output_item.done', 8, { output_index: 0, item: output[0] }) +
        responseEvent('response.completed', 9, { response: { ...vendorResponse, status: 'completed', output } }),
    )
  })
  const native = openai({ baseURL: vendor.baseURL, responses: true })
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { thinker, native },
    timeouts: { keepAliveMs: 20 },
  })
  const handle = mount(gateway)
  const server = createServer((request, response) => {
    const write = response.write.bind(response) as (piece: string) => boolean
    response.write = (piece: string) => {
      writes.emit('write')
      return write(piece)
    }
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  close = async () => {
    server.close().closeAllConnections()
    await gateway.close({ graceMs: 0 })
    await vendor.close()
  }
})
afterAll(() => close?.())

const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** The raw text of a stream. */
async function raw(path: string, body: object): Promise<string> {
  const answer = await fetch(`${baseURL}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, stream: true }),
  })
  return answer.text()
}

const asked: [string, string, object][] = [
  ['chat', '/chat/completions', { messages }],
  ['completions', '/completions', { prompt: 'Hi' }],
  ['responses', '/responses', { input: 'Hi' }],
]

/** openai-go up to 3.50: emits an event at each empty line, with or without data. */
function goEvents(wire: string, skipsEmpty: boolean): unknown[] {
  const events: unknown[] = []
  let data = ''
  for (const line of wire.split('\n')) {
    if (line === '') {
      if (data === '' && skipsEmpty) continue
      if (data.startsWith('[DONE]')) return events
      events.push(JSON.parse(data))
      data = ''
    } else if (line.startsWith('data:')) data += `${line.slice(5).replace(/^ /, '')}\n`
  }
  throw new Error('the stream has no end')
}

/** A common naive parser: splits at empty lines, and drops what does not start with data. */
function naive(wire: string, prefix: RegExp): unknown[] {
  const frames = wire.split('\n\n').filter((frame) => frame !== '')
  const lost = frames.filter((frame) => !prefix.test(frame))
  if (lost.length > 0) throw new Error(`lost: ${lost.join()}`)
  const datas = frames.map((frame) => frame.slice(frame.indexOf('data: ') + 'data: '.length))
  expect(datas.at(-1)).toBe('[DONE]')
  return datas.slice(0, -1).map((data) => JSON.parse(data) as unknown)
}

function parsed(wire: string): unknown[] {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(wire)
  return events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as unknown)
}

describe.each(['thinker', 'native'])('%s', (model) => {
  test.each(asked)('%s: every parser finds the same events, and no comments', async (_, path, body) => {
    if (model === 'native' && path === '/completions') return
    const wire = await raw(path, { model, ...body })
    expect(wire).not.toMatch(/^:/m)
    const events = parsed(wire)
    expect(events.length).toBeGreaterThanOrEqual(6)
    for (const skipsEmpty of [false, true]) {
      // The scanner in Go requires a line break after the last line.
      expect(goEvents(wire.replace(/\n$/, ''), skipsEmpty)).toEqual(events)
    }
    expect(naive(wire, path === '/responses' ? /^(?:event: [\w.]+\n)?data: / : /^data: /)).toEqual(events)
  })

  test('a chat has one id, and one role at its beginning', async () => {
    const chunks = parsed(await raw('/chat/completions', { model, messages })) as Chunk[]
    expect(streamFaults(chunks, '[DONE]')).toEqual([])
    expect(chunks.filter(({ choices }) => choices[0]?.delta.role !== undefined)).toHaveLength(1)
    if (hasShared) for (const each of chunks) expect(faults('CreateChatCompletionStreamResponse', each)).toEqual([])
  })

  test('a response is created once, and its sequence numbers have no gaps', async () => {
    const events = parsed(await raw('/responses', { model, input: 'Hi' })) as {
      type: string
      sequence_number: number
      response?: { id: string }
    }[]
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'response.created')).toHaveLength(1)
    expect(new Set(events.flatMap(({ response }) => (response === undefined ? [] : [response.id]))).size).toBe(1)
  })

  test('the official client', async () => {
    const client = new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries: 0 })
    const chat = client.chat.completions.stream({ model, messages })
    expect((await chat.finalChatCompletion()).choices[0]?.message).toMatchObject({
      role: 'assistant',
      content: 'one two',
    })
    const response = await client.responses.stream({ model, input: 'Hi' }).finalResponse()
    expect(response.output_text).toBe('one two')
  })

  test('the AI SDK', async () => {
    const provider = createOpenAI({ baseURL, apiKey: 'sk-test' })
    const compatible = createOpenAICompatible({ name: 'own', baseURL, apiKey: 'sk-test' })
    for (const used of [provider.chat(model), provider.responses(model), compatible(model)]) {
      const { text: said, finishReason, response } = streamText({ model: used, prompt: 'Hi', maxRetries: 0 })
      expect([await said, await finishReason]).toEqual(['one two', 'stop'])
      expect((await response).id).toMatch(/^(?:chatcmpl-|resp_)/)
    }
  })
})

test('images and transcriptions with the official client', async () => {
  const client = new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries: 0 })
  const types: string[] = []
  for await (const event of await client.images.generate({ model: 'thinker', prompt: 'x', stream: true })) {
    types.push(event.type)
  }
  expect(types.filter((type) => type !== 'keepalive')).toEqual([
    'image_generation.partial_image',
    'image_generation.completed',
  ])
  let said = ''
  const file = await toFile(wav({ seconds: 1 }), 'sound.wav')
  for await (const event of await client.audio.transcriptions.create({ model: 'thinker', file, stream: true })) {
    if (event.type === 'transcript.text.delta') said += event.delta
  }
  expect(said).toBe('one two')
})
