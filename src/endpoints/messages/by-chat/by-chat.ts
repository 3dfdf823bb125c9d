/** Messages for providers that only support chat. */
import { ContentFrames, type Call, type Provider } from '../../../providers/contract.ts'
import { forceParse, yieldIfLarge } from '../../../providers/yielding.ts'
import { textInChunks } from '../../../money/prices/estimate.ts'
import type { Tally } from '../../../money/tally.ts'
import type { ChatChunk, ChatRequest, ResponseFormat } from '../../../wire/chat.ts'
import { estimateTokens } from '../../../wire/counts.ts'
import type { MessageEvent, MessageRequest } from '../../../wire/messages.ts'
import { usageOf } from '../../../wire/usage.ts'
import { callChat, type OpenChat } from '../../chat/call-chat.ts'
import type { FullChunk } from '../../chat/stream-state.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { readVendor } from '../../read-vendor.ts'
import { chunksIn, tell, type ChunkState } from '../../chunk-stream.ts'
import { makerOf } from '../../envelope.ts'
import { replaceLarge } from '../../order.ts'
import { openEvents, type OpenMessage } from '../open-message.ts'
import { read } from '../reading/reading.ts'
import { withFallbacks, effortFallback, limitFallback, type FieldFallbacks } from '../field-fallbacks.ts'
import { releaseRequest, TranslatedEvents, type Translator } from '../translated-events.ts'
import { readerOf, type ChunkReader } from './chunks.ts'
import { withMessageFieldNames } from './field-names.ts'
import { chatRequestOf, withSchemaInWords } from './request.ts'
import { verbatimMessages } from './verbatim.ts'
import { messageOfCompletion } from './completion-message.ts'

/** Calls the provider's chat; tells `context.meter` the usage. */
export async function messageByChat(
  provider: Provider,
  call: Call<MessageRequest>,
  context: AnswerContext,
): Promise<OpenMessage> {
  if (call.large === true) await forceParse(call)
  const verbatim = call.large === true ? undefined : verbatimMessages(call.request, context.order)
  const reading = read(call, verbatim !== undefined)
  for (const type of reading.tools.omitted) context.meter.omit?.(type)
  const { chatTraits = {} } = provider
  const maker = makerOf(provider)
  const made = chatRequestOf(context.order.model, reading, chatTraits, maker, verbatim?.value)
  let sent: ChatRequest = made
  const ask = (request: ChatRequest) => {
    const replaced = replaceLarge(call, withSchemaInWords(request, reading.settings.schema), verbatim)
    sent = replaced.request
    return callChat(provider, replaced, context, call.stream || 'as answered')
  }
  const open = (answer: OpenChat): OpenMessage | Promise<OpenMessage> => {
    const form = { reading, stops: enforced(sent), maker }
    if (answer.kind === 'whole')
      return { kind: 'whole', message: messageOfCompletion(answer.whole, form, context), isMade: true }
    const { state, pieces } = answer.stream
    releaseRequest(provider, sent, verbatim)
    const { meter, order } = context
    const translator = new ChatTranslator(state, readerOf(form, context), meter, order.promptTokens)
    return openEvents(new TranslatedEvents(pieces, translator), call, true, context)
  }
  const fail = (thrown: unknown) => {
    throw withMessageFieldNames(thrown, call.request)
  }
  await yieldIfLarge(call)
  return withFallbacks(provider, call.model, made, fallbacks, ask).then(open, fail)
}

/** The fields that agents send to every model, and that change little of an answer. */
export const fallbacks: FieldFallbacks = {
  reasoning_effort: effortFallback,
  max_tokens: limitFallback,
  temperature: () => undefined,
  top_p: () => undefined,
  top_k: () => undefined,
  parallel_tool_calls: () => undefined,
  user: () => undefined,
  // The gateway enforces them.
  stop: () => undefined,
  response_format: (format) =>
    (format as ResponseFormat).type === 'json_schema' ? { type: 'json_object' } : undefined,
}

function enforced({ stop }: ChatRequest): readonly string[] {
  return Array.isArray(stop) ? (stop as string[]) : []
}

class ChatTranslator implements Translator<ChatChunk | ContentFrames> {
  readonly #state: ChunkState<ChatChunk, FullChunk>
  readonly #reader: ChunkReader
  readonly #meter: Tally
  readonly #promptTokens: number
  #begun = false

  constructor(state: ChunkState<ChatChunk, FullChunk>, reader: ChunkReader, meter: Tally, promptTokens: number) {
    this.#state = state
    this.#reader = reader
    this.#meter = meter
    this.#promptTokens = promptTokens
  }

  accept(piece: ChatChunk | ContentFrames, out: MessageEvent[]): void {
    if (!this.#begun) this.#reader.begin(out)
    this.#begun = true
    if (piece instanceof ContentFrames) for (const chunk of chunksIn<ChatChunk>(piece)) this.#chunk(chunk, out)
    else this.#chunk(piece, out)
  }

  end(out: MessageEvent[]): void {
    this.#read(this.#state.complete(), out)
    const { usage } = this.#state
    this.#reader.end(usage ?? usageOf(this.#promptTokens, estimateTokens(this.#meter.textBytes)), out)
  }

  #chunk(chunk: ChatChunk, out: MessageEvent[]): void {
    const chunks = readVendor(
      () => this.#state.accept(chunk),
      () => this.#state.usage,
    )
    this.#meter.textBytes += textInChunks(chunks)
    tell(this.#meter, this.#state)
    this.#read(chunks, out)
  }

  #read(chunks: readonly FullChunk[], out: MessageEvent[]): void {
    for (const { choices = [] } of chunks) for (const choice of choices) this.#reader.accept(choice, out)
  }
}
