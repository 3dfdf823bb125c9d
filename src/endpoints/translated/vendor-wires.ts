/** The wire formats in which vendors are asked, and how each is spoken through a provider. */
import { chat } from '../../formats/chat/chat.ts'
import { makerOf } from '../../formats/envelope.ts'
import { gemini } from '../../formats/gemini/gemini.ts'
import type { AskedFormat, Asking } from '../../formats/format.ts'
import { generatedAnswer, generatedBy } from '../../formats/generated/generated.ts'
import { interactions } from '../../formats/interactions/interactions.ts'
import { messages } from '../../formats/messages/messages.ts'
import { thinkingMakerOf } from '../../formats/messages/thinking-maker.ts'
import { responses } from '../../formats/responses/responses.ts'
import { contentFaults, interactionFaults } from '../../providers/content/fault.ts'
import { messageFaults } from '../../providers/messages/fault.ts'
import { Verbatim, type Call, type Provider } from '../../providers/contract.ts'
import { usualFaults, type Faults } from '../../providers/vendor-error.ts'
import type { FormatName } from '../../conversation/conversation.ts'
import type { Fields } from '../../wire/json.ts'
import { answerWithDigits } from '../digits.ts'

/** What a provider returns in any wire format: pieces of a stream, or the whole answer. */
export type VendorAnswer = AsyncIterable<object> | object

export interface VendorWire {
  // oxlint-disable-next-line typescript/no-explicit-any -- each format has its own traits
  readonly format: Asking<any>
  /** Whether the input of a call is an object in it, and not text. */
  readonly inputsAreObjects: boolean
  /** Whether a provider speaks it for a model. */
  speaks(provider: Provider, model: string): boolean
  ask(provider: Provider, call: Call<never>): VendorAnswer | Promise<VendorAnswer>
  /** The method that counts the input tokens of a request; undefined if the provider has none. */
  counter(provider: Provider, model: string): ((call: Call<never>) => Promise<number | undefined>) | undefined
  /** What its models accept beyond the usual. */
  traits(provider: Provider, call: Call<unknown>): unknown
  /** Who can read the state of its answers. */
  maker(provider: Provider, call: Call<unknown>): string
  /** How errors inside an answer are written. */
  readonly faults: Faults
}

const chatWire: VendorWire = {
  format: chat,
  inputsAreObjects: false,
  speaks: (provider) => provider.chat !== undefined,
  ask: (provider, call) => answerOf(provider.chat?.(call)),
  counter: (provider) => provider.countChat?.bind(provider),
  traits: (provider) => provider.chatTraits ?? {},
  maker: makerOf,
  faults: usualFaults,
}

const messagesWire: VendorWire = {
  format: messages,
  inputsAreObjects: true,
  speaks: (provider) => provider.message !== undefined,
  ask: (provider, call) => answerOf(provider.message?.(call)),
  counter: (provider) => provider.countMessage?.bind(provider),
  traits: (provider, { model }) => provider.messageTraits?.(model) ?? {},
  maker: (_, { model }) => thinkingMakerOf(model),
  faults: messageFaults,
}

const geminiWire: VendorWire = {
  format: gemini,
  inputsAreObjects: true,
  speaks: (provider, model) => provider.generateContent !== undefined && !interactsOnly(provider, model),
  ask: (provider, call) => answerOf(provider.generateContent?.(call)),
  counter: (provider, model) => (interactsOnly(provider, model) ? undefined : provider.countContent?.bind(provider)),
  traits: (provider, { model }) => provider.contentTraits?.(model) ?? {},
  maker: makerOf,
  faults: contentFaults,
}

const interactionsWire: VendorWire = {
  ...geminiWire,
  format: interactions,
  speaks: interactsOnly,
  ask: (provider, call) => answerOf(provider.interact?.(call)),
  counter: () => undefined,
  faults: interactionFaults,
}

/** Whether a vendor with generateContent has a model only in the Interactions API. */
export function interactsOnly(provider: Provider, model: string): boolean {
  return provider.interact !== undefined && provider.contentTraits?.(model).interactions === true
}

const responsesWire: VendorWire = {
  format: responses,
  inputsAreObjects: false,
  speaks: (provider) => provider.respond !== undefined,
  ask: (provider, call) => answerOf(provider.respond?.(call)),
  counter: (provider) => provider.countResponse?.bind(provider),
  // The gateway keeps the conversation, and OpenAI accepts no lower limit.
  traits: () => ({ stateless: true, leastTokens: 16 }),
  maker: makerOf,
  faults: usualFaults,
}

export const wires: Readonly<Record<Exclude<AskedFormat, 'generate'>, VendorWire>> = {
  chat: chatWire,
  messages: messagesWire,
  gemini: geminiWire,
  interactions: interactionsWire,
  responses: responsesWire,
}

/** For a client of each format, the other formats in the order of what they preserve. */
const preferences: Readonly<Record<FormatName, readonly (keyof typeof wires)[]>> = {
  chat: ['messages', 'gemini', 'interactions', 'responses'],
  // A responses endpoint returns the reasoning that the model needs again; chats may not.
  messages: ['responses', 'gemini', 'interactions', 'chat'],
  responses: ['chat', 'messages', 'gemini', 'interactions'],
  gemini: ['interactions', 'responses', 'messages', 'chat'],
}

/**
 * How to ask a provider that does not speak the client's wire format; undefined if it answers no conversations. `itself`:
 * whether to ask one that does, too.
 */
export function wireFor(
  client: FormatName,
  provider: Provider,
  model: string,
  itself: boolean = false,
): VendorWire | undefined {
  const own = itself ? wires[client] : undefined
  if (own?.speaks(provider, model) === true) return own
  const wire = firstWire(client, (each) => each.speaks(provider, model))
  return wire ?? (provider.generate === undefined ? undefined : generated(provider.name))
}

/** The wire format in which a provider counts that does not in the client's; undefined if it counts in none. */
export function countingWireFor(client: FormatName, provider: Provider, model: string): VendorWire | undefined {
  return firstWire(client, (wire) => wire.counter(provider, model) !== undefined)
}

function firstWire(client: FormatName, accepts: (wire: VendorWire) => boolean): VendorWire | undefined {
  for (const name of preferences[client]) {
    const wire = wires[name]
    if (accepts(wire)) return wire
  }
  return undefined
}

function generated(provider: string): VendorWire {
  return {
    format: generatedBy(provider),
    inputsAreObjects: false,
    speaks: (by) => by.generate !== undefined,
    ask: (by, call) => generatedAnswer<VendorAnswer>(by.generate?.(call) as VendorAnswer, provider),
    counter: () => undefined,
    traits: ({ dropParams }) => ({ dropParams }),
    maker: makerOf,
    faults: usualFaults,
  }
}

/** The events in a piece of a stream: that piece itself, or those in its frames. */
export function eventsIn(piece: unknown): readonly Fields[] {
  if (typeof piece !== 'object' || piece === null || !('frames' in piece)) return [piece as Fields]
  const { frames } = piece as { readonly frames: string | Uint8Array }
  const text = typeof frames === 'string' ? frames : Buffer.from(frames).toString('utf8')
  return Array.from(text.matchAll(/^data: ?(.*)$/gm), ([, data = '']) => JSON.parse(data) as Fields)
}

/** The body of a whole answer, with large integers as the vendor wrote them if calls have their input as an object. */
export function bodyOf(answer: object, { inputsAreObjects }: Pick<VendorWire, 'inputsAreObjects'>): Fields {
  if (inputsAreObjects) return answerWithDigits(answer) as Fields
  return (answer instanceof Verbatim ? answer.value : answer) as Fields
}

function answerOf(answer: VendorAnswer | Promise<VendorAnswer> | undefined): VendorAnswer | Promise<VendorAnswer> {
  if (answer === undefined) throw new TypeError('the provider returned no answer')
  return answer
}
