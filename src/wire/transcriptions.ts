/**
 * OpenAI's transcription shapes. Unknown fields are kept, so every interface is open. Source: OpenAI's OpenAPI
 * document, CreateTranscriptionRequest, CreateTranscriptionResponse{Json,VerboseJson,DiarizedJson},
 * TranscriptText…Event.
 */
import type { TokenUsage } from './usage.ts'

/** The format of a transcription response. */
export type TranscriptFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | 'diarized_json'

/** The text fields of the form of `POST /v1/audio/transcriptions`, of which translations have fewer. The audio is the part `file` of `call.form`. */
export interface TranscriptionRequest {
  readonly model: string
  /** The spoken language as an ISO 639-1 code, such as `en`. */
  readonly language?: string
  /** Expected languages, for models that support several. */
  readonly languages?: readonly string[]
  /** Expected terms, for models that support them. */
  readonly keywords?: readonly string[]
  /** Text that guides the style, or the preceding transcript. */
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

/** A transcript. A provider fills in what it knows; the gateway converts it to every format for which that suffices. */
export interface Transcript {
  readonly text: string
  /** The name of the language, such as `english`. */
  readonly language?: string
  /** Length of the audio in seconds. */
  readonly duration?: number
  readonly segments?: readonly TranscriptSegment[]
  readonly words?: readonly TranscriptWord[]
  readonly usage?: TranscriptUsage
  readonly [field: string]: unknown
}

/** A section of a transcript. */
export interface TranscriptSegment {
  /** A number; with `speaker`, a string such as `seg_001`. */
  readonly id?: number | string
  /** Seconds from the beginning. */
  readonly start: number
  /** Seconds from the beginning. */
  readonly end: number
  readonly text: string
  readonly speaker?: string
  readonly [field: string]: unknown
}

/** A word of a transcript. */
export interface TranscriptWord {
  readonly word: string
  /** Seconds from the beginning. */
  readonly start: number
  /** Seconds from the beginning. */
  readonly end: number
  readonly [field: string]: unknown
}

/** The usage of a transcription: tokens, or seconds of audio. */
export type TranscriptUsage =
  | ({ readonly type: 'tokens' } & TokenUsage)
  | { readonly type: 'duration'; readonly seconds: number }

/** One event of a transcription stream: `transcript.text.delta`, `transcript.text.segment`, `transcript.text.done`. */
export interface TranscriptEvent {
  readonly type: string
  /** The new text, in a `delta` event. */
  readonly delta?: string
  /** The complete text, in a `segment` or `done` event. */
  readonly text?: string
  readonly usage?: TranscriptUsage
  readonly [field: string]: unknown
}
