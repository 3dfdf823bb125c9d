/**
 * OpenAI's transcription shapes. Unknown fields are kept, so every interface is open. Source: OpenAI's OpenAPI document,
 * CreateTranscriptionRequest, CreateTranscriptionResponse{Json,VerboseJson,DiarizedJson}, TranscriptText…Event.
 */
import type { TokenUsage } from './token-usage.ts'

export type TranscriptFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | 'diarized_json'

/** The fields of the form; the sound itself is the file `file` of `call.form`. */
export interface TranscriptionRequest {
  readonly model: string
  /** Such as `en`. */
  readonly language?: string
  readonly languages?: readonly string[]
  readonly keywords?: readonly string[]
  readonly prompt?: string
  /** Default `json`. */
  readonly response_format?: TranscriptFormat
  /** 0 to 1. */
  readonly temperature?: number
  /** `word`, `segment`. */
  readonly timestamp_granularities?: readonly string[]
  /** `logprobs`. */
  readonly include?: readonly string[]
  readonly stream?: boolean
  readonly [field: string]: unknown
}

/** What was said. A provider gives what it knows; the gateway makes any format of it that it suffices for. */
export interface Transcript {
  readonly text: string
  /** Such as `english`. */
  readonly language?: string
  /** Seconds. */
  readonly duration?: number
  readonly segments?: readonly TranscriptSegment[]
  readonly words?: readonly TranscriptWord[]
  readonly usage?: TranscriptUsage
  readonly [field: string]: unknown
}

export interface TranscriptSegment {
  /** A number; with `speaker`, a string such as `seg_001`. */
  readonly id?: number | string
  /** Seconds from the beginning. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker?: string
  readonly [field: string]: unknown
}

export interface TranscriptWord {
  readonly word: string
  /** Seconds from the beginning. */
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export type TranscriptUsage =
  | ({ readonly type: 'tokens' } & TokenUsage)
  | { readonly type: 'duration'; readonly seconds: number }

/** One event of a transcription stream: `transcript.text.delta`, `transcript.text.segment`, `transcript.text.done`. */
export interface TranscriptEvent {
  readonly type: string
  /** Of a delta: the text that goes on. */
  readonly delta?: string
  /** Of a segment or the end: all of its text. */
  readonly text?: string
  readonly usage?: TranscriptUsage
  readonly [field: string]: unknown
}
