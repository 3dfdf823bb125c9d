/** OpenAI's speech shapes. Source: OpenAI's OpenAPI document, CreateSpeechRequest, SpeechAudio…Event. */
import type { Usage } from './usage.ts'

/** The formats of audio, with their media types. */
export const speechTypes = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const

/** A format of audio. `pcm`: 16 bits, little-endian, one channel, 24,000 samples a second. */
export type SpeechFormat = keyof typeof speechTypes

/** The body of `POST /v1/audio/speech`. */
export interface SpeechRequest {
  readonly model: string
  /** The text to speak. */
  readonly input: string
  /** The vendor's name of a voice, or the id of one that the host has made there. */
  readonly voice: string | { readonly id: string }
  /** How to speak it. */
  readonly instructions?: string | null
  /** Default: what the vendor makes without it, usually `mp3`. */
  readonly response_format?: SpeechFormat | null
  /** 0.25 to 4. Default 1. */
  readonly speed?: number | null
  /** `sse`: events with base64. Default `audio`: the bytes of the file. */
  readonly stream_format?: 'sse' | 'audio' | null
  readonly [field: string]: unknown
}

/** What a provider knows of the audio that it makes. */
export interface SpeechFacts {
  /** The media type, such as `audio/wav`. Default: that of the requested format. Only before the first audio. */
  readonly mediaType?: string | undefined
  /** The tokens, with those of the audio in `completion_tokens_details`. Without them the gateway estimates by the length of the audio. */
  readonly usage?: Usage | undefined
  /** The characters that the vendor charges for. Default: those of the input. */
  readonly characters?: number | undefined
}
