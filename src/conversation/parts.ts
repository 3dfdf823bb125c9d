/** An answer: as the turn that it is, with how it ended, or as a stream of parts. */
import type { Usage } from '../wire/usage.ts'
import type { Block, Citation, Fields, FormatName, MediaSource, Own, State, TokenLogprob } from './conversation.ts'

/** A whole answer. */
export interface Answer {
  /** The id of the answer; default: one is made. */
  readonly id?: string
  /** Seconds since the epoch. */
  readonly created?: number
  /** The model that answered. */
  readonly model?: string
  /** The answers, usually one. */
  readonly choices: readonly Choice[]
  /** The tokens of all choices. */
  readonly usage?: Usage
  /** The vendor's own counters. */
  readonly counters?: Fields
  /** Further fields of the answer. */
  readonly own?: Own
}

/** One of the answers to a request. */
export interface Choice {
  /** What the model says. */
  readonly blocks: readonly Block[]
  /** Why it ended. */
  readonly end?: End
  /** Further fields of the choice. */
  readonly own?: Own
}

/** `filter`: the vendor's filter stopped it. `refused`: the model declined. */
export type Reason = 'stop' | 'length' | 'calls' | 'filter' | 'refused' | 'pause' | 'context' | 'compaction'

/** How a choice ended. */
export interface End {
  /** Why the choice ended. */
  readonly reason: Reason
  /** The stop sequence that was found. */
  readonly stop?: string
  /** Further fields of the end. */
  readonly own?: Own
}

/**
 * One piece of an answer. Pieces of a block have its number, which counts through the answer; so calls that a model writes
 * at the same time need no further mark. A reader emits `ended` once it knows that a call is complete, at the latest with
 * the `end` of its choice; other blocks end where the next one begins.
 */
export type Part =
  | StartPart
  | TextPart
  | RefusalPart
  | ReasoningPart
  | CallPart
  | InputPart
  | EndedPart
  | MediaPart
  | CitationPart
  | StatePart
  | OwnPart
  | UsagePart
  | EndPart

/** The first part. */
export interface StartPart {
  /** What the part is. */
  readonly kind: 'start'
  /** The id of the answer; default: one is made. */
  readonly id?: string
  /** Seconds since the epoch. */
  readonly created?: number
  /** The model that answers. */
  readonly model?: string
  /** Whether the model signs its texts, at their end. */
  readonly signsTexts?: boolean
  /** Further fields of the answer. */
  readonly own?: Own
}

interface InBlock {
  /** The number of the choice, from 0. */
  readonly choice: number
  /** The number of the block, from 0 through all choices. */
  readonly block: number
}

/** A piece of a text. `logprobs`: those of its tokens. `own`: on the first piece only, here and below. */
export interface TextPart extends InBlock {
  /** What the part is. */
  readonly kind: 'text'
  /** The piece. */
  readonly text: string
  /** The tokens of the piece. */
  readonly logprobs?: readonly TokenLogprob[]
  /** Further fields of the block. */
  readonly own?: Own
}

/** A piece of the words with which the model declines. */
export interface RefusalPart extends InBlock {
  /** What the part is. */
  readonly kind: 'refusal'
  /** The piece. */
  readonly text: string
  /** The tokens of the piece. */
  readonly logprobs?: readonly TokenLogprob[]
  /** Further fields of the block. */
  readonly own?: Own
}

/** A piece of the model's reasoning. */
export interface ReasoningPart extends InBlock {
  /** What the part is. */
  readonly kind: 'reasoning'
  /** The piece. */
  readonly text: string
  /** `summary`: not the whole text. `sealed`: no text, only state. */
  readonly form?: 'summary' | 'sealed'
  /** Further fields of the block. */
  readonly own?: Own
}

/** The beginning of a call; its input follows. */
export interface CallPart extends InBlock {
  /** What the part is. */
  readonly kind: 'call'
  /** Results refer to it. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** Whether the input is JSON or any text. */
  readonly by: 'function' | 'custom'
  /** What the model wants back with the call. */
  readonly state?: State
  /** Further fields of the block. */
  readonly own?: Own
}

/** A piece of a call's input. */
export interface InputPart extends InBlock {
  /** What the part is. */
  readonly kind: 'input'
  /** The piece. */
  readonly text: string
}

/** A call is complete. */
export interface EndedPart extends InBlock {
  /** What the part is. */
  readonly kind: 'ended'
}

/** A whole image or file. Audio may come in several pieces, each of which can be decoded alone. */
export interface MediaPart extends InBlock {
  /** What the part is. */
  readonly kind: 'media'
  /** The kind of data. */
  readonly type: 'image' | 'audio' | 'file'
  /** The data, or where it is. */
  readonly source: MediaSource
  /** The name of the file. */
  readonly name?: string
  /** The words of an audio. */
  readonly transcript?: string
  /** Further fields of the block. */
  readonly own?: Own
}

/** A citation of the text whose block it names. */
export interface CitationPart extends InBlock {
  /** What the part is. */
  readonly kind: 'citation'
  /** What the text refers to. */
  readonly citation: Citation
}

/** The state of a block; the last one of a block counts. */
export interface StatePart extends InBlock {
  /** What the part is. */
  readonly kind: 'state'
  /** What the model wants back with the block. */
  readonly state: State
}

/** What only one format has: a block; further fields of the choice if the block is -1; of the answer if both are. */
export interface OwnPart extends InBlock {
  /** What the part is. */
  readonly kind: 'own'
  /** The wire format that has it. */
  readonly format: FormatName
  /** The block or the fields as JSON of that format. */
  readonly value: Fields
  /** How others may say the block. */
  readonly instead?: readonly Block[]
}

/** Counts so far: the last ones count. */
export interface UsagePart {
  /** What the part is. */
  readonly kind: 'usage'
  /** The tokens of all choices; undefined: unknown. */
  readonly usage: Usage | undefined
  /** As the vendor counts. */
  readonly counters: Fields
}

/** The end of a choice. */
export interface EndPart {
  /** What the part is. */
  readonly kind: 'end'
  /** The number of the choice, from 0. */
  readonly choice: number
  /** Why it ended. */
  readonly end: End
}
