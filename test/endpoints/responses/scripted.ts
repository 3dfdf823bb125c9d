/** A gateway with a scripted model that only supports chat. */
import { defineProvider, type Call, type ChatAnswer, type Provider } from 'modelhatch/providers'
import type { GatewayOptions } from 'modelhatch'
import type { ChatChunk, ChatRequest } from '../../../src/wire/chat.ts'
import type { ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { hostedWith, type Hosted } from '../../hosted.ts'
import { post, type Answered } from '../ask.ts'
import { eventsOf } from './rules.ts'

export interface Scripted extends Hosted {
  /** The requests to the model, oldest first. */
  readonly asked: ChatRequest[]
  readonly create: (body: object, key?: string) => Promise<Answered>
  readonly whole: (body?: object) => Promise<ResponseObject>
  readonly stream: (body?: object) => Promise<ResponseEvent[]>
}

type Script = (call: Call<ChatRequest>) => ChatAnswer | Promise<ChatAnswer>

export async function scripted(
  script: Script | readonly ChatChunk[],
  options: Partial<GatewayOptions> = {},
): Promise<Scripted> {
  const asked: ChatRequest[] = []
  const chat = typeof script === 'function' ? script : () => streamOf(script)
  const provider: Provider = defineProvider({
    name: 'scripted',
    chat(call: Call<ChatRequest>) {
      asked.push(call.request)
      return chat(call)
    },
  })
  const hosted = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 }, ...options })
  const create = (body: object, key?: string) => post(hosted.url, '/responses', { model: 'm', ...body }, key)
  return {
    ...hosted,
    asked,
    create,
    whole: async (body = {}) => (await create({ input: 'Hi', ...body })).json as ResponseObject,
    stream: async (body = {}) => eventsOf((await create({ input: 'Hi', ...body, stream: true })).text),
  }
}

async function* streamOf(chunks: readonly ChatChunk[]): AsyncGenerator<ChatChunk> {
  yield* chunks
}
