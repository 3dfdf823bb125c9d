/** An answer: as the turn that it is, with how it ended, or as a stream of parts. */
import type { Usage } from '../wire/usage.ts'
import type {
  Block,
  CallBlock,
  Citation,
  Fields,
  MediaBlock,
  Own,
  OwnBlock,
  ReasoningBlock,
  RefusalBlock,
  State,
  TextBlock,
} from './conversation.ts'

/** A whole answer. */
export interface Answer {
  /** The id of the answer; default: one is made. */
  readonly id?: string | undefined
  /** Seconds since the epoch. */
  readonly created?: number | undefined
  /** The model that answered. */
  readonly model?: string | undefined
  /** The answers, usually one. */
  readonly choices: readonly Choice[]
  /** The tokens of all choices. */
  readonly usage?: Usage | undefined
  /** The vendor's own counters. */
  readonly counters?: Fields | undefined
  /** Further fields of the answer. */
  readonly own?: Own | undefined
}

/** One of the answers to a request. */
export interface Choice {
  /** What the model says. */
  readonly blocks: readonly Block[]
  /** Why it ended. */
  readonly end?: End | undefined
  /** Further fields of the choice. */
  readonly own?: Own | undefined
}

/** `filter`: the vendor's filter stopped it. `refused`: the model declined. */
export type Reason = 'stop' | 'length' | 'calls' | 'filter' | 'refused' | 'pause' | 'context' | 'compaction'

/** How a choice ended. */
export interface End {
  /** Why the choice ended. */
  readonly reason: Reason
  /** The stop sequence that was found. */
  readonly stop?: string | undefined
  /** Further fields of the end. */
  readonly own?: Own | undefined
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
export interface StartPart extends Pick<Answer, 'id' | 'created' | 'model' | 'own'> {
  /** What the part is. */
  readonly kind: 'start'
  /** Whether the model signs its texts, at their end. */
  readonly signsTexts?: boolean | undefined
}

interface InBlock {
  /** The number of the choice, from 0. */
  readonly choice: number
  /** The number of the block, from 0 through all choices. */
  readonly block: number
}

/** A piece of a text. `logprobs`: those of its tokens. `own`: on the first piece only, here and below. */
export type TextPart = InBlock & Pick<TextBlock, 'kind' | 'text' | 'logprobs' | 'own'>

/** A piece of the words with which the model declines. */
export type RefusalPart = InBlock & Pick<RefusalBlock, 'kind' | 'text' | 'logprobs' | 'own'>

/** A piece of the model's reasoning. */
export type ReasoningPart = InBlock & Pick<ReasoningBlock, 'kind' | 'text' | 'form' | 'own'>

/** The beginning of a call; its input follows. */
export type CallPart = InBlock & Pick<CallBlock, 'kind' | 'id' | 'name' | 'by' | 'state' | 'own'>

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
export type MediaPart = InBlock & Pick<MediaBlock, 'kind' | 'type' | 'source' | 'name' | 'transcript' | 'own'>

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
export type OwnPart = InBlock & Pick<OwnBlock, 'kind' | 'format' | 'value' | 'instead'>

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
