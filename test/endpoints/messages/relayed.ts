/** Passes the bytes of a vendor's stream to the client of a message, without the network. */
import type { Provider } from 'modelhatch/providers'
import type { Context } from '../../../src/endpoints/endpoint.ts'
import { messages } from '../../../src/endpoints/messages/messages.ts'
import { GatewayError } from '../../../src/errors.ts'
import { messageErrorFrame } from '../../../src/http/message-error.ts'
import type { Call, ChatPiece } from '../../../src/providers/contract.ts'
import { readFault as readClaudeFault, statusOf as claudeStatus } from '../../../src/providers/messages/fault.ts'
import { gemini as geminiFormat } from '../../../src/formats/gemini/gemini.ts'
import { messages as messagesFormat } from '../../../src/formats/messages/messages.ts'
import { readFault as readGeminiFault, statusOf as geminiStatus } from '../../../src/providers/content/fault.ts'
import { readFrames } from '../../../src/providers/openai/frames.ts'
import { readResponseEvents } from '../../../src/providers/openai/response-events.ts'
import { statusIn, vendorError } from '../../../src/providers/vendor-error.ts'
import type { ChatChunk } from '../../../src/wire/chat.ts'
import type { MessageRequest } from '../../../src/wire/messages.ts'
import type { Usage } from '../../../src/wire/usage.ts'
import { chatChunksOf } from '../../formats/chat-chunks.ts'

type Bytes = AsyncIterable<Buffer>

/** The providers' readers, by the wire of a recording. */
export const readers: Readonly<Record<string, (source: Bytes) => Partial<Provider>>> = {
  'openai.chat': (source) => ({ chat: () => readFrames(source, { failure: openaiFailure, inChunks: true }) }),
  'openai.responses': (source) => ({
    respond: () =>
      readResponseEvents(source, { rename: undefined, parsed: false, inChunks: true, failure: openaiFailure }),
  }),
  'gemini.streamGenerateContent': (source) => ({ chat: () => geminiChunks(source) }),
  'anthropic.messages': (source) => ({ chat: () => claudeChunks(source) }),
}

const openaiFailure = (error: unknown) => vendorError({ status: statusIn(error), error, openModel: false })

function geminiChunks(source: Bytes): AsyncGenerator<ChatPiece> {
  const failure = (error: unknown) =>
    vendorError(readGeminiFault({ status: geminiStatus(error), error, openModel: false }))
  return chatChunksOf(source, geminiFormat.eventReader({ maker: 'google', failure }))
}

function claudeChunks(source: Bytes): AsyncGenerator<ChatPiece> {
  const failure = (error: unknown) =>
    vendorError(readClaudeFault({ status: claudeStatus(error), error, openModel: false }))
  return chatChunksOf(source, messagesFormat.eventReader({ maker: 'anthropic', failure }))
}

export interface Relayed {
  readonly text: string
  readonly usage: Usage | undefined
  readonly textBytes: number
}

const question = {
  model: 'm',
  max_tokens: 1_000,
  stream: true,
  messages: [{ role: 'user' as const, content: 'Hi' }],
  thinking: { type: 'adaptive' },
  tools: [{ name: 'tool', input_schema: {} }],
}

export async function relay(wire: string, pieces: readonly Buffer[], body: object = {}): Promise<Relayed> {
  const make = readers[wire]
  if (make === undefined) throw new Error(`no reader of ${wire}`)
  return passed(make(each(pieces)), body)
}

/** The stream for the chunks of a chat. */
export async function relayChunks(chunks: readonly ChatChunk[], body: object = {}): Promise<string> {
  return (await passed({ chat: () => each(chunks) }, body)).text
}

async function passed(methods: Partial<Provider>, body: object): Promise<Relayed> {
  const request: MessageRequest = { ...question, ...body }
  const field = (name: string) => request[name]
  const meter = { usage: undefined, textBytes: 0 }
  const order = { ...request, request, field, promptTokens: 10 }
  const context = { id: 'req_1', startedAt: 1_000, order, meter } as unknown as Context<MessageRequest>
  const call = { ...order, model: 'theirs', publicModel: 'm', stream: true, json: () => Buffer.from('{}') }
  let text = ''
  try {
    const provider = { name: 'p', ...methods }
    const answer = await messages.ask(provider, call as unknown as Call<MessageRequest>, context)
    for await (const frame of messages.frames?.(answer, context, false) ?? []) {
      text += typeof frame === 'string' ? frame : Buffer.from(frame).toString('utf8')
    }
  } catch (error) {
    text += messageErrorFrame(GatewayError.from(error), 'req_1')
  }
  return { text: withoutGenerated(text), usage: meter.usage, textBytes: meter.textBytes }
}

async function* each<T>(pieces: readonly T[]): AsyncGenerator<T> {
  yield* pieces
}

/** Numbers the ids that the gateway generates, which differ in every response, also inside of signatures. */
function withoutGenerated(text: string): string {
  const ids = new Map<string, string>()
  return text
    .replaceAll(/"mh1\.p\.([\w-]+)"/g, (_, sealed: string) =>
      JSON.stringify(Buffer.from(sealed, 'base64url').toString()),
    )
    .replaceAll(/toolu_[0-9a-f]{24}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `toolu_${ids.size}`)
      return ids.get(id) as string
    })
}
