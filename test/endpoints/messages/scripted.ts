/** A gateway with a scripted model that only supports chat, asked for messages. */
import { defineProvider, type Call, type ChatAnswer, type Provider } from 'modelhatch/providers'
import type { GatewayOptions } from 'modelhatch'
import type { ChatChunk, ChatRequest } from '../../../src/wire/chat.ts'
import type { Message } from '../../../src/wire/messages.ts'
import { hostedWith, type Hosted } from '../../hosted.ts'
import { requireOrder, type Streamed } from './event-order.ts'

export interface Scripted extends Hosted {
  /** The requests to the model, oldest first. */
  readonly asked: ChatRequest[]
  readonly create: (body: object) => Promise<Response>
  readonly whole: (body?: object) => Promise<Message>
  readonly stream: (body?: object) => Promise<Streamed>
}

type Script = (call: Call<ChatRequest>) => ChatAnswer | Promise<ChatAnswer>

export async function scripted(
  script: Script | readonly ChatChunk[],
  provided: Partial<Provider> = {},
  options: Partial<GatewayOptions> = {},
): Promise<Scripted> {
  const asked: ChatRequest[] = []
  const chat = typeof script === 'function' ? script : () => streamOf(script)
  const provider: Provider = defineProvider({
    name: 'scripted',
    ...provided,
    chat(call: Call<ChatRequest>) {
      asked.push(call.request)
      return chat(call)
    },
  })
  const hosted = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 }, ...options })
  const create = (body: object) => askMessage(hosted.url, body)
  return {
    ...hosted,
    asked,
    create,
    whole: async (body = {}) => (await (await create(body)).json()) as Message,
    stream: async (body = {}) => requireOrder(await (await create({ ...body, stream: true })).text()),
  }
}

/** Sends a request for a message with the key `sk-test`. */
export function askMessage(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }], ...body }),
  })
}

export async function* streamOf(chunks: readonly ChatChunk[]): AsyncGenerator<ChatChunk> {
  yield* chunks
}
