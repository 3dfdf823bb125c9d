/** Vendors that answer with a given usage, over each of the wire formats. */
import { anthropic, gemini, openai, type Provider } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { sharedBytes } from '../shared.ts'
import type { Published, Wire } from './published.ts'

type Fields = Readonly<Record<string, unknown>>

const head = { id: 'x_1', model: 'm', created: 1 }
const said = [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop' }]
const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
const spoken = { ...message, content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }] }

/** A complete response with a usage, for each wire format. */
const bodies: Readonly<Record<Wire, (usage: Fields, rest: Fields) => Fields>> = {
  chat: (usage, rest) => ({ ...head, object: 'chat.completion', choices: said, usage, ...rest }),
  completion: (usage) => ({ ...head, choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }], usage }),
  responses: (usage, { output = [], ...rest }) => ({
    ...head,
    object: 'response',
    created_at: 1,
    status: 'completed',
    output: [...(output as Fields[]), spoken],
    usage,
    ...rest,
  }),
  messages: (usage) => ({
    ...head,
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage,
  }),
  gemini: (usage, rest) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0, ...rest }],
    usageMetadata: usage,
  }),
  images: (usage, rest) => ({
    created: 1,
    data: [{ b64_json: 'AA==' }],
    ...(Object.keys(usage).length > 0 && { usage }),
    ...rest,
  }),
  transcription: (usage) => ({ text: 'Hi', usage }),
  embeddings: (usage) => ({ object: 'list', data: [{ index: 0, embedding: [1] }], usage }),
}

/** The same response as events, for the formats that are streamed. */
const streams: Readonly<Partial<Record<Wire, (body: Fields) => readonly string[]>>> = {
  chat: ({ usage, ...rest }) => [
    data({ ...rest, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hi' } }] }),
    data({ ...rest, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    data({ ...rest, choices: [], usage }),
    'data: [DONE]\n\n',
  ],
  responses: (response) => [
    typed({ type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } }),
    typed({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi' }),
    typed({ type: 'response.completed', response }),
  ],
  messages: ({ content, stop_reason, usage, ...rest }) => [
    typed({ type: 'message_start', message: { ...rest, content: [], usage } }),
    typed({ type: 'content_block_start', index: 0, content_block: (content as Fields[])[0] }),
    typed({ type: 'content_block_stop', index: 0 }),
    typed({ type: 'message_delta', delta: { stop_reason }, usage }),
    typed({ type: 'message_stop' }),
  ],
  gemini: (body) => [data(body)],
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function typed(event: Fields): string {
  return `event: ${String(event['type'])}\n${data(event)}`
}

/** Answers with a recording, or with a response of the usage, streamed if that is asked for. */
export function answering({ wire, usage, rest = {} }: Published, stream: boolean): VendorReply {
  return (_, response) => {
    if (typeof usage === 'string') {
      response.setHeader('content-type', usage.endsWith('.sse') ? 'text/event-stream' : 'application/json')
      response.end(sharedBytes(`recordings/${usage}`))
      return
    }
    const body = bodies[wire](usage, rest)
    const events = stream ? streams[wire]?.(body) : undefined
    response.setHeader('content-type', events === undefined ? 'application/json' : 'text/event-stream')
    response.end(events?.join('') ?? JSON.stringify(body))
  }
}

export function providerFor({ wire }: Published, baseURL: string): Provider {
  if (wire === 'messages') return anthropic({ baseURL, apiKey: 'k' })
  if (wire === 'gemini') return gemini({ baseURL, apiKey: 'k' })
  return openai({ baseURL, responses: wire === 'responses' })
}

/** Sends a request of the endpoint for a wire format, with the key `sk-test`. */
export function ask(url: string, wire: Wire, stream: boolean, model: string = 'm'): Promise<Response> {
  const headers = { authorization: 'Bearer sk-test' }
  if (wire === 'transcription') {
    const form = new FormData()
    form.append('model', model)
    form.append('file', new Blob([new Uint8Array(64)], { type: 'audio/wav' }), 'a.wav')
    return fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  }
  const [path, fields] = requests[wire]
  const body = JSON.stringify({ model, ...fields, ...(stream && { stream }) })
  return fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
}

const chat = ['chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }] as const

const requests: Readonly<Record<Exclude<Wire, 'transcription'>, readonly [path: string, fields: object]>> = {
  chat,
  messages: chat,
  gemini: chat,
  completion: ['completions', { prompt: 'Hello' }],
  responses: ['responses', { input: 'Hello' }],
  images: ['images/generations', { prompt: 'a sun' }],
  embeddings: ['embeddings', { input: 'Hello' }],
}
