/** Chats at vendors that do not speak this format. */
import { chat } from '../../formats/chat/chat.ts'
import { saidFields } from '../../formats/chat/field-names.ts'
import type { Flow } from '../../http/flow.ts'
import type { Tally } from '../../money/tally.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ChatChunk, ChatCompletion, ChatRequest, ChunkChoice } from '../../wire/chat.ts'
import { headFor, type AnswerContext, type OpenAnswer } from '../chunk-answer.ts'
import type { AnswerHead } from '../chunk-facts.ts'
import { afterFirstContent } from '../first-content.ts'
import type { ClientWire } from '../translated/plan.ts'
import { inOtherMode, translated, type Translated } from '../translated/translated.ts'
import { withoutText } from '../translated/without-text.ts'
import { hasContent } from './choice.ts'
import { ChatStreamState, type FullChunk } from './stream-state.ts'

/** A chat response whose first content, or all of it, has arrived. */
export type OpenChat = OpenAnswer<ChatChunk, FullChunk, ChatCompletion>

/** What a vendor of another wire does not miss of the fields that chats and text completions share. */
export const covered: ReadonlySet<string> = new Set([
  ...saidFields,
  'stream_options',
  'prompt_cache_key',
  'functions',
  'function_call',
  'web_search_options',
])

const client: ClientWire = { format: chat, idPrefix: 'chatcmpl-', covered }

/** Calls the provider in a format that it speaks, and resolves once the first content or the whole response has arrived. */
export function translatedChat(provider: Provider, call: Call<ChatRequest>, context: AnswerContext): Promise<OpenChat> {
  return opened(context, (counted) => translated<ChatChunk>(client, provider, call, counted))
}

/** The same for what a provider with this format has answered: whole to a client that streams, or the other way around. */
export function chatInOtherMode(
  answer: object,
  provider: Provider,
  call: Call<ChatRequest>,
  context: AnswerContext,
): Promise<OpenChat> {
  return opened(context, (counted) => inOtherMode<ChatChunk>(client, answer, provider, call, counted))
}

async function opened(
  context: AnswerContext,
  ask: (context: AnswerContext) => Promise<Translated<ChatChunk>>,
): Promise<OpenChat> {
  const tally = withoutText(context.meter, context.meter.watch)
  const answer = await ask({ ...context, meter: tally })
  if (answer.kind === 'whole') {
    context.meter.textBytes = tally.textBytes
    return { kind: 'whole', body: answer.body as unknown as ChatCompletion }
  }
  const head = headFor(client.idPrefix, context)
  const pieces: Flow<ChatChunk> = await afterFirstContent(answer.pieces, hasContent, hasChoices)
  return { kind: 'stream', state: new MadeChunks(head, tally), pieces }
}

function hasChoices({ choices }: ChatChunk): boolean {
  return Boolean(choices?.length)
}

/** Chunks that the gateway has made: they need no normalising. */
class MadeChunks extends ChatStreamState {
  readonly #tally: Tally
  /** Whether the opening frame has the role. */
  #opened = false

  constructor(head: AnswerHead, tally: Tally) {
    super(head, false)
    this.#tally = tally
  }

  /** They were told already. */
  override get finishReasons(): undefined {
    return undefined
  }

  override accept(chunk: ChatChunk): FullChunk[] {
    this.#told()
    if (!this.#opened || chunk.choices?.[0]?.delta?.role === undefined) return [chunk as FullChunk]
    return [{ ...(chunk as FullChunk), choices: chunk.choices.map(withoutRole) }]
  }

  override complete(): FullChunk[] {
    this.#told()
    return []
  }

  override open(): FullChunk {
    this.#opened = true
    return super.open()
  }

  #told(): void {
    this.usage = this.#tally.usage
    this.serviceTier = this.#tally.serviceTier
  }
}

function withoutRole(choice: ChunkChoice): ChunkChoice {
  const { role: _, ...delta } = choice.delta ?? {}
  return choice.index === 0 ? { ...choice, delta } : choice
}
