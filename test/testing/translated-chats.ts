/** Chats of a provider that speaks Messages or Gemini's format, for tests that change the chunks of chats. */
import { Verbatim, type Call, type ChatPiece, type Provider } from 'modelhatch/providers'
import type { Part } from '../../src/conversation/parts.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import type { Asking } from '../../src/formats/format.ts'
import type { OutEvent, Source, Target } from '../../src/formats/format.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import { contentFaults } from '../../src/providers/content/fault.ts'
import { messageFaults } from '../../src/providers/messages/fault.ts'
import { answeredError } from '../../src/providers/vendor-error.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'
import type { Fields } from '../../src/wire/json.ts'

/** The provider's answer to a chat. */
export async function translatedChat(
  provider: Pick<Provider, 'message' | 'messageTraits' | 'generateContent' | 'contentTraits'>,
  call: Call<ChatRequest>,
): Promise<AsyncIterable<ChatPiece>> {
  const isGoogle = provider.generateContent !== undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- each format has its own traits
  const format: Asking<any> = isGoogle ? gemini : messages
  const maker = isGoogle ? 'gemini' : 'anthropic'
  const traits = (isGoogle ? provider.contentTraits : provider.messageTraits)?.(call.model) ?? {}
  const target: Target<unknown> = { model: call.publicModel, maker, traits, omit: () => {} }
  const conversation = chat.readRequest(call.request)
  const prepared = format.prepare?.(conversation, target)
  const request = format.writeRequest(prepared?.conversation ?? conversation, target)
  const asked = {
    ...call,
    request: request as never,
    field: (name: string) => request[name],
    json: (changes: Fields) => Buffer.from(JSON.stringify({ ...request, ...changes })),
    inChunks: true,
  } as Call<never>
  const answer: unknown = await (isGoogle ? provider.generateContent?.(asked) : provider.message?.(asked))
  const { openModel } = call
  const failure = (error: unknown) =>
    answeredError(error, { openModel, field: () => undefined }, isGoogle ? contentFaults : messageFaults)
  return chunksOf(answer, format, { maker, failure }, call)
}

async function* chunksOf(
  answer: unknown,
  // oxlint-disable-next-line typescript/no-explicit-any -- each format has its own traits
  format: Asking<any>,
  source: Source,
  call: Call<ChatRequest>,
): AsyncGenerator<ChatPiece> {
  const writer = chat.eventWriter({ id: 'chatcmpl-1', created: 1, model: call.publicModel, usage: true })
  const reader = format.eventReader(source)
  const parts: Part[] = []
  const out: OutEvent[] = []
  const written = function* () {
    for (const part of parts.splice(0)) {
      writer.write(part, out)
      if (part.kind === 'usage' && part.usage !== undefined) yield { usage: part.usage } as ChatPiece
    }
    for (const event of out.splice(0)) yield event as unknown as ChatPiece
  }
  if (Symbol.asyncIterator in Object(answer)) {
    for await (const event of answer as AsyncIterable<Fields>) {
      reader.read(event, parts)
      yield* written()
    }
    reader.end(parts)
  } else {
    const whole = answer instanceof Verbatim ? (answer.value as Fields) : (answer as Fields)
    parts.push(...partsOf(format.readAnswer(whole, source)))
  }
  yield* written()
  writer.end(out)
  yield* written()
}
