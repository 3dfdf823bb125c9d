/** Counts of vendors that are texts: digits are read as numbers, everything else as no usage, which is estimated. */
import { anthropic, gemini, jinaRerank, openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { ModelOptions } from '../../../src/index.ts'
import type { Provider } from '../../../src/providers/contract.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const hello = 'Hello there, how are you?'
const sse = (...events: readonly object[]) =>
  events.map((event) => `event: ${(event as { type?: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const choice = { index: 0, message: { role: 'assistant', content: hello }, finish_reason: 'stop' }
const item = { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: hello }] }
const message = { id: 'x', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' }
const candidate = { content: { parts: [{ text: hello }] }, finishReason: 'STOP' }
const wav = Buffer.alloc(4_844)
wav.write('RIFF', 0)
const form = new FormData()
form.set('model', 'm')
form.set('file', new Blob([new Uint8Array(3_000)], { type: 'audio/mpeg' }), 'a.mp3')

interface Wire {
  readonly provider: (url: { readonly baseURL: string }) => Provider
  readonly path: string
  readonly body: object
  /** The vendor's response whose counts have these forms. */
  readonly reply: (input: unknown, output: unknown) => object | string
  /** The input and the output of a response with 12 and 7. */
  readonly counts?: readonly [number, number]
  readonly model?: Partial<ModelOptions>
}

const openaiAt = ({ baseURL }: { readonly baseURL: string }) => openai({ baseURL, name: 'v', responses: false })
const chatUsage = (prompt_tokens: unknown, completion_tokens: unknown) => ({ prompt_tokens, completion_tokens })
const tokens = (input_tokens: unknown, output_tokens: unknown) => ({ input_tokens, output_tokens })
const googles = (promptTokenCount: unknown, candidatesTokenCount: unknown) => ({
  promptTokenCount,
  candidatesTokenCount,
})

const wires: Readonly<Record<string, Wire>> = {
  chat: {
    provider: openaiAt,
    path: 'chat/completions',
    body: { messages },
    reply: (...counts) => ({ choices: [choice], usage: chatUsage(...counts) }),
  },
  'chat, streamed': {
    provider: openaiAt,
    path: 'chat/completions',
    body: { messages, stream: true },
    reply: (...counts) =>
      `${[
        { choices: [{ index: 0, delta: { content: hello }, finish_reason: 'stop' }] },
        { choices: [], usage: chatUsage(...counts) },
      ]
        .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
        .join('')}data: [DONE]\n\n`,
  },
  'chat, translated': {
    provider: openaiAt,
    path: 'messages',
    body: { messages, max_tokens: 100 },
    reply: (...counts) => ({ choices: [choice], usage: chatUsage(...counts) }),
  },
  completions: {
    provider: openaiAt,
    path: 'completions',
    body: { prompt: 'Hi' },
    reply: (...counts) => ({
      choices: [{ index: 0, text: hello, finish_reason: 'stop' }],
      usage: chatUsage(...counts),
    }),
  },
  responses: {
    provider: ({ baseURL }) => openai({ baseURL, name: 'v', responses: true }),
    path: 'responses',
    body: { input: 'Hi' },
    reply: (...counts) => ({
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [item],
      usage: tokens(...counts),
    }),
  },
  'responses, streamed': {
    provider: ({ baseURL }) => openai({ baseURL, name: 'v', responses: true }),
    path: 'responses',
    body: { input: 'Hi', stream: true },
    reply: (...counts) =>
      sse(
        { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', output: [] } },
        { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: hello },
        {
          type: 'response.completed',
          response: { id: 'r', object: 'response', status: 'completed', output: [item], usage: tokens(...counts) },
        },
      ),
  },
  messages: {
    provider: ({ baseURL }) => anthropic({ baseURL, apiKey: 'k' }),
    path: 'messages',
    body: { messages, max_tokens: 100 },
    reply: (...counts) => ({ ...message, content: [{ type: 'text', text: hello }], usage: tokens(...counts) }),
  },
  'messages, streamed': {
    provider: ({ baseURL }) => anthropic({ baseURL, apiKey: 'k' }),
    path: 'messages',
    body: { messages, max_tokens: 100, stream: true },
    reply: (input, output) =>
      sse(
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: tokens(input, 1) } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: hello } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
        { type: 'message_stop' },
      ),
  },
  gemini: {
    provider: ({ baseURL }) => gemini({ baseURL, apiKey: 'k' }),
    path: 'chat/completions',
    body: { messages },
    reply: (...counts) => ({ candidates: [candidate], usageMetadata: googles(...counts) }),
  },
  'gemini, streamed': {
    provider: ({ baseURL }) => gemini({ baseURL, apiKey: 'k' }),
    path: 'chat/completions',
    body: { messages, stream: true },
    reply: (...counts) => sse({ candidates: [candidate], usageMetadata: googles(...counts) }),
  },
  embeddings: {
    provider: openaiAt,
    path: 'embeddings',
    body: { input: 'Hi' },
    reply: (input) => ({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: input } }),
    counts: [12, 0],
  },
  'embeddings of Google': {
    provider: ({ baseURL }) => gemini({ baseURL, apiKey: 'k' }),
    path: 'embeddings',
    body: { input: 'Hi' },
    reply: (input) => ({ embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: input } }),
    counts: [12, 0],
  },
  images: {
    provider: openaiAt,
    path: 'images/generations',
    body: { prompt: 'A cat' },
    reply: (...counts) => ({ data: [{ b64_json: 'AAAA' }], usage: tokens(...counts) }),
  },
  speech: {
    provider: openaiAt,
    path: 'audio/speech',
    body: { input: 'Hi', voice: 'v' },
    reply: (...counts) =>
      sse(
        { type: 'speech.audio.delta', audio: wav.toString('base64') },
        { type: 'speech.audio.done', usage: tokens(...counts) },
      ),
  },
  transcriptions: {
    provider: openaiAt,
    path: 'audio/transcriptions',
    body: form,
    reply: (...counts) => ({ text: hello, usage: { type: 'tokens', ...tokens(...counts) } }),
  },
  rerank: {
    provider: ({ baseURL }) => jinaRerank({ baseURL, apiKey: 'k' }),
    path: 'rerank',
    body: { query: 'q', documents: ['a'] },
    reply: (input) => ({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: input } }),
    counts: [12, 0],
  },
}

async function counted({ provider, path, body, reply }: Wire, input: unknown, output: unknown) {
  const vendor = await vendorFor((_, response) => {
    const value = reply(input, output)
    response.setHeader('content-type', typeof value === 'string' ? 'text/event-stream' : 'application/json')
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  })
  const { url, receipt } = await hostedWith({ models: { m: { provider: provider(vendor), providerModel: 'v' } } })
  const isForm = body instanceof FormData
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify({ model: 'm', ...body }),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, expect.anything()])
  return receipt()
}

describe.each(Object.entries(wires))('%s', (_, wire) => {
  const [prompt, completion] = wire.counts ?? [12, 7]
  const reported = { usageSource: 'reported', usage: { prompt_tokens: prompt, completion_tokens: completion } }

  test.each([
    [12, 7],
    ['12', '7'],
  ])('counts of the forms %j and %j are read', async (input, output) => {
    expect(await counted(wire, input, output)).toMatchObject(reported)
  })

  test.each(['seven', '', -1, 1.5, '1e3', { tokens: 7 }, true])('what is no count is no usage: %j', async (odd) => {
    const [input, output] = completion === 0 ? [odd, 0] : [12, odd]
    const { usageSource, usage, units } = await counted(wire, input, output)
    expect(usageSource).toBe('estimated')
    if (completion > 0 && units === undefined) expect(usage.completion_tokens).toBeGreaterThan(0)
  })
})

test.each([
  ['messages', { usage: { ...tokens(12, 7), cache_read_input_tokens: 'many' } }],
  ['messages', { usage: { ...tokens(12, 7), cache_creation: { ephemeral_1h_input_tokens: -1 } } }],
  ['gemini', { usageMetadata: { ...googles(12, 7), thoughtsTokenCount: 'many' } }],
  ['gemini', { usageMetadata: { ...googles(12, 7), toolUsePromptTokenCount: 0.5 } }],
])('nor is there usage if a part that is added to it is no count: %s %j', async (name, usage) => {
  const wire = wires[name] as Wire
  const { usageSource } = await counted({ ...wire, reply: () => ({ ...(wire.reply(1, 1) as object), ...usage }) }, 1, 1)
  expect(usageSource).toBe('estimated')
})
