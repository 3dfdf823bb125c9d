/** What a wire format is: every direction of one wire in one folder. */
import type { Conversation, Fields, FormatName } from '../conversation/conversation.ts'
import type { Answer, Part } from '../conversation/parts.ts'
import type { Stage } from './stages/stage.ts'

export interface Format<Traits> {
  readonly name: FormatName
  /** The names of what every wire has, in errors: of several, the first one that the request has. */
  readonly fieldNames: FieldNames
  /** Fields of chats that are in no conversation and that requests of this wire say all the same. Default: none. */
  readonly chatFields?: ReadonlySet<string>
  /** Throws 400 with the place. */
  readRequest(body: Fields): Conversation
  /** What the client of a request gets of the model's reasoning. Default: all. */
  shownReasoning?(conversation: Conversation): Asked['reasoning']
  /** What turns calls of functions into calls of the client's tools, for each answer. Default: they are the client's. */
  clientCalls?(conversation: Conversation): Stage | undefined
  /** What this wire cannot say as it is. Default: the conversation is written as it is. */
  prepare?(conversation: Conversation, to: Target<Traits>): Prepared
  writeRequest(conversation: Conversation, to: Target<Traits>): Fields
  /** The stop sequences in a written request, which the vendor enforces; the gateway enforces the others. */
  stopsIn(request: Fields): readonly string[]
  readAnswer(body: Fields, from: Source): Answer
  writeAnswer(answer: Answer, asked: Asked): Fields
  eventReader(from: Source): EventReader
  eventWriter(asked: Asked): EventWriter
}

/** The forms in which vendors are asked. `generate`: the provider answers conversations themselves. */
export type AskedFormat = FormatName | 'interactions' | 'generate'

/** What of a format is needed to ask a vendor. */
export interface Asking<Traits> extends Pick<
  Format<Traits>,
  'fieldNames' | 'chatFields' | 'prepare' | 'writeRequest' | 'stopsIn' | 'readAnswer' | 'eventReader'
> {
  readonly name: AskedFormat
}

/** The settings of a conversation that wires have fields for. */
export const namedSettings = [
  'reasoning',
  'user',
  'tier',
  'max',
  'temperature',
  'topP',
  'topK',
  'stops',
  'seed',
  'choices',
  'frequencyPenalty',
  'presencePenalty',
  'logprobs',
  'verbosity',
  'modalities',
] as const

/** What a request says, whichever wire it came by. */
export type ConversationField =
  | 'turns'
  | 'tools'
  | 'toolChoice'
  | 'parallel'
  | 'output'
  | (typeof namedSettings)[number]

/** The paths of fields, such as `output_config.format`. */
export type FieldNames = { readonly [Field in ConversationField]?: readonly string[] }

/** A conversation in the form that a wire can say, and what turns the answer back. */
export interface Prepared {
  readonly conversation: Conversation
  /** Made anew for each answer. */
  readonly stages: () => readonly Stage[]
}

/** `makers`: those of the stages that are needed, in their order. */
export function preparedWith(conversation: Conversation, makers: readonly ((() => Stage) | undefined)[]): Prepared {
  const needed = makers.filter((make) => make !== undefined)
  return { conversation, stages: () => needed.map((make) => make()) }
}

/** Whom a request is written for: the vendor, its model and its API version, as far as they matter to this format. */
export interface Target<Traits> {
  readonly model: string
  /** Gets back only its own state. */
  readonly maker: string
  readonly traits: Traits
  /** For formats that require a limit. */
  readonly max?: number | undefined
  /** What the client gets of the model's reasoning. */
  readonly shown?: Asked['reasoning'] | undefined
  /** The client's name of a field, for errors. Default: that of this format. */
  nameOf?(field: ConversationField): string
  /** What could not be said. `place`: the client's field. */
  readonly omit: (place: string, why: string) => void
}

/** Whose answer is read. */
export interface Source {
  readonly maker: string
  /** Which stop sequences the vendor was asked to enforce. */
  readonly stops?: readonly string[]
  /** The error for an `error` event, which ends the stream. */
  readonly failure: (error: unknown) => Error
}

/** Whose answer is written: what the client asked for that concerns the form of the answer. */
export interface Asked {
  readonly id: string
  readonly created: number
  /** The public name. */
  readonly model: string
  readonly usage?: boolean
  readonly reasoning?: 'shown' | 'hidden' | 'none' | undefined
  /** An estimate, for formats whose first event has it. */
  readonly promptTokens?: number
  /** Whether the client takes the last block of a streamed answer for all of it. */
  readonly readsLastBlock?: boolean | undefined
  /** The fields of the request that the answer repeats, for formats that have such. */
  readonly repeated?: Fields | undefined
}

export interface EventReader {
  /** True after the last event. */
  readonly done: boolean
  read(event: Fields, out: Part[], name?: string): void
  /** The connection has ended. Throws if the answer is not complete. */
  end(out: Part[]): void
}

/** An event of a stream, as JSON. Where events of a format have names, they are their `type`. */
export type OutEvent = Fields

/** Adds an event whose `type` is its name. */
export function send(type: string, fields: Fields, out: OutEvent[]): void {
  out.push({ type, ...fields })
}

export interface EventWriter {
  write(part: Part, out: OutEvent[]): void
  end(out: OutEvent[]): void
}
