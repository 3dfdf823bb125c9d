/** The scenarios, one per column of the table. Sizes and fields are those of a real OpenAI client and vendor. */
import { message, messageBody, messageFrames } from './message-traffic.ts'

export interface Scenario {
  readonly name: string
  /** The unit of the result: `request`, or `chunk` for frames of content. */
  readonly unit: 'request' | 'chunk'
  /** Frames of content in a streamed response; 0 for a non-streaming one. */
  readonly chunks: number
  /** Milliseconds between two frames; 0 sends all at once. */
  readonly paceMs: number
  /** Concurrent requests. */
  readonly concurrency: number
  /** The path of the request. Default: a chat. */
  readonly path?: string
  /** The request for a model of this name. */
  readonly body: (model: string) => string
  /** The response of a model of this name. Default: a completion. */
  readonly answer?: (model: string) => string
  /** The frames of the streamed response. Default: those of a chat. */
  readonly frames?: (model: string, chunks: number) => string[]
  /** Measured only if it is named in `--only`, because not every server has its endpoint. */
  readonly onlyIfNamed?: boolean
}

const question = 'Explain in a few sentences why the sky is blue and the sunset is red. '

const json: Scenario = {
  name: 'json',
  unit: 'request',
  chunks: 0,
  paceMs: 0,
  concurrency: 16,
  body: (model) => ask(model, question.repeat(11)),
}
const sse50 = stream({ name: 'sse50', chunks: 50, paceMs: 0, concurrency: 8 })

export const scenarios: readonly Scenario[] = [
  json,
  sse50,
  stream({ name: 'sse500', chunks: 500, paceMs: 0, concurrency: 4 }),
  stream({ name: 'paced', chunks: 50, paceMs: 20, concurrency: 100 }),
  large('messages', (model) => ({ model, messages: talk(400, question.repeat(6)), temperature: 0.7 })),
  {
    name: 'vectors',
    unit: 'request',
    chunks: 0,
    paceMs: 0,
    concurrency: 8,
    path: '/v1/embeddings',
    body: (model) =>
      JSON.stringify({ model, input: Array.from({ length: 16 }, () => question), encoding_format: 'float' }),
    answer: (model) => vectors(model, 16, 1536),
  },
  large('image', (model) => ({ model, messages: [{ role: 'user', content: picture(200 * 1024) }] })),
  asMessages(json, 'native'),
  asMessages(sse50, 'native50'),
  asMessages(json, 'translated'),
  asMessages(sse50, 'translated50'),
]

/** The same through Anthropic's Messages, at a vendor that has them (`native…`) or that only chats (`translated…`). */
function asMessages(chat: Scenario, name: string): Scenario {
  const isNative = name.startsWith('native')
  return {
    ...chat,
    name,
    path: '/v1/messages',
    body: (model) => messageBody(chat, model),
    ...(isNative && { answer: message, frames: messageFrames }),
    onlyIfNamed: true,
  }
}

export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name)
  if (found === undefined) throw new Error(`unknown scenario "${name}"`)
  return found
}

function ask(model: string, text: string, more: object = {}): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: text },
  ]
  return JSON.stringify({ model, messages, temperature: 0.7, max_completion_tokens: 1024, ...more })
}

function askForStream(model: string): string {
  return ask(model, question, { stream: true })
}

function stream(shape: Omit<Scenario, 'unit' | 'body'>): Scenario {
  return { ...shape, unit: 'chunk', body: askForStream }
}

function large(name: string, request: (model: string) => object): Scenario {
  const body = (model: string) => JSON.stringify(request(model))
  return { name, unit: 'request', chunks: 0, paceMs: 0, concurrency: 8, body }
}

/** A request of about `bytes` for a stream that stays open; `held` gets a word a second, `silent` only the first. */
export function heldBody(model: 'held' | 'silent', bytes: number): string {
  return JSON.stringify({ model, stream: true, messages: talk(Math.ceil(bytes / 525), question.repeat(7)) })
}

function talk(messages: number, text: string): object[] {
  return Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }))
}

function picture(bytes: number): object[] {
  const url = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(bytes / 24)}`
  return [
    { type: 'text', text: question },
    { type: 'image_url', image_url: { url } },
  ]
}

const identity = { created: 1_783_000_000, service_tier: 'default', system_fingerprint: 'fp_a1b2c3d4e5' }
const usage = { prompt_tokens: 180, completion_tokens: 150, total_tokens: 330 }

/** A non-streaming response of about 1 KB, over several lines as OpenAI sends it. */
export function completion(model: string): string {
  const message = {
    role: 'assistant',
    content: 'Sunlight is scattered by the air. '.repeat(16),
    refusal: null,
    annotations: [],
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return JSON.stringify({ id: chatId, object: 'chat.completion', model, choices, usage, ...identity }, undefined, 2)
}

/** A list of embeddings, formatted as OpenAI sends it. */
function vectors(model: string, count: number, dimensions: number): string {
  const numbers = Array.from({ length: dimensions }, (_, index) => Number((Math.sin(index + 1) / 40).toPrecision(8)))
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: numbers }))
  const counted = { prompt_tokens: 256, total_tokens: 256 }
  return JSON.stringify({ object: 'list', data, model, usage: counted }, undefined, 2)
}

/** The frames of a streamed response: the role, `chunks` words, the finish reason, the usage, `[DONE]`. */
export function frames(model: string, chunks: number): string[] {
  const words = Array.from({ length: chunks }, () => frame(model, { content: ' scatter' }, null))
  const last = { id: chatId, object: 'chat.completion.chunk', ...identity, model, choices: [], usage }
  return [
    frame(model, { role: 'assistant', content: '', refusal: null }, null),
    ...words,
    frame(model, {}, 'stop'),
    `data: ${JSON.stringify(last)}\n\n`,
    'data: [DONE]\n\n',
  ]
}

const chatId = 'chatcmpl-CkzXq7b2dQ0yXw3vT5mR8nLpA1sFj'

function frame(model: string, delta: object, finish: string | null): string {
  const { created, service_tier, system_fingerprint } = identity
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  const head = { id: chatId, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint }
  return `data: ${JSON.stringify({ ...head, choices, usage: null })}\n\n`
}
