/** Chats through a complete gateway in this process, with a scripted provider. */
import { mount } from '../../../adapters/hosts/fetch.ts'
import { createGateway, type Receipt } from '../../../src/index.ts'
import { defineProvider } from '../../../src/providers/index.ts'
import type { ChatChunk, ChatCompletion, Delta } from '../../../src/wire/chat.ts'

/** The provider's pieces, or its whole response. A string among the pieces is the message of an error it throws. */
export type Said = readonly (ChatChunk | string)[] | object

export interface Heard {
  readonly status: number
  /** The raw body. */
  readonly text: string
  readonly receipt: Receipt
}

/** A chunk as clients parse it. */
export interface HeardChunk {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly HeardChoice[]
  readonly usage?: Record<string, unknown> | null
  readonly [field: string]: unknown
}

export interface HeardChoice {
  readonly index: number
  readonly delta: Record<string, unknown>
  readonly finish_reason: string | null
  readonly [field: string]: unknown
}

/** The chunks that a streaming client receives. Fails unless the stream ends normally. */
export async function streamed(said: Said, body: object = {}): Promise<HeardChunk[]> {
  const { text } = await hear(said, { ...body, stream: true })
  const frames = text.split('\n\n').filter((frame) => frame !== '')
  if (frames.pop() !== 'data: [DONE]') throw new Error(`the stream did not end well: ${text.slice(-500)}`)
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as HeardChunk)
}

/** The deltas of one choice, and its finish reason. */
export async function deltas(said: Said, choice = 0): Promise<unknown[]> {
  const chunks = await streamed(said)
  return chunks
    .flatMap(({ choices }) => choices)
    .filter(({ index }) => index === choice)
    .map(({ delta, finish_reason: reason }) => reason ?? delta)
}

/** The response of a non-streaming client. */
export async function whole(said: Said, body: object = {}): Promise<ChatCompletion> {
  const { status, text } = await hear(said, body)
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as ChatCompletion
}

/** Response and receipt of one request. */
export async function hear(said: Said, body: object = {}): Promise<Heard> {
  const delivered = Promise.withResolvers<Receipt>()
  const gateway = createGateway({
    models: { m: defineProvider({ name: 'spoken', chat: () => speak(said) }) },
    keys: { 'sk-test': {} },
    retry: { maxAttempts: 1 },
    clock: () => 1_700_000_000_000,
    hooks: { receipt: (receipt) => delivered.resolve(receipt) },
  })
  const response = await mount(gateway)(
    new Request('http://host/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    }),
  )
  const text = await response.text()
  const receipt = await delivered.promise
  await gateway.close()
  return { status: response.status, text, receipt }
}

function speak(said: Said): AsyncIterable<ChatChunk> | ChatCompletion {
  if (!Array.isArray(said)) return said as ChatCompletion
  return (async function* () {
    for (const piece of said as (ChatChunk | string)[]) {
      if (typeof piece === 'string') throw new Error(piece)
      yield piece
    }
  })()
}

/** A chunk with one choice. */
export function chunk(delta: object, finish: string | null = null, rest: object = {}): ChatChunk {
  return { choices: [{ index: 0, delta: delta as Delta, finish_reason: finish }], ...rest }
}
