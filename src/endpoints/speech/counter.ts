/** What a speech is charged by: the characters of its text, and the tokens of its audio, reported or measured. */
import type { Meter } from '../../admission/meter.ts'
import type { SizedRequest } from '../../admission/prompt.ts'
import type { SpeechPiece } from '../../providers/contract.ts'
import type { SpeechFormat } from '../../wire/speech.ts'
import { spokenUsage, usageOf, type Usage } from '../../wire/usage.ts'
import { Recording } from '../transcriptions/recording.ts'
import { leastSeconds } from '../transcriptions/formats.ts'

/** Of the models of Google; those of OpenAI have 21. */
const audioTokensPerSecond = 25

/** Of `pcm`: 24,000 samples of 16 bits. */
const pcmBytesPerSecond = 48_000

export function isAudio(piece: SpeechPiece): piece is Uint8Array {
  return piece instanceof Uint8Array
}

/** Characters as vendors count them: code points. */
export function charactersOf(text: unknown): number {
  let count = 0
  for (const _ of String(text)) count++
  return count
}

/** The tokens to hold: the audio of a slow speaker. */
export function mostAudioTokens({ field }: SizedRequest): number {
  const speed = field('speed')
  const slower = typeof speed === 'number' ? Math.min(speed, 1) : 1
  return Math.ceil((leastSeconds(Buffer.byteLength(String(field('input')))) * 2 * audioTokensPerSecond) / slower)
}

interface Asked {
  readonly input: string
  readonly format: SpeechFormat
  /** Estimated. */
  readonly promptTokens: number
}

/** Counts the audio of one attempt as it passes. */
export class SpeechCounter {
  /** As the provider says. */
  mediaType: string | undefined
  readonly #meter: Meter
  readonly #asked: Asked
  readonly #recording = new Recording()
  #bytes = 0
  #characters: number | undefined

  constructor(meter: Meter, asked: Asked) {
    this.#meter = meter
    this.#asked = asked
  }

  /** Whether a piece is audio. Notes what is said before it. */
  sees(piece: SpeechPiece): boolean {
    if (isAudio(piece)) return true
    this.mediaType = piece.mediaType ?? this.mediaType
    return false
  }

  /** The first audio has arrived: from here on the request is charged, however it ends. */
  begin(): void {
    const meter = this.#meter
    meter.textBytes = 1
    meter.ending = () => {
      meter.estimate = this.estimate()
      meter.units = { characters: this.#characters ?? charactersOf(this.#asked.input), seconds: this.#seconds() }
    }
  }

  take(piece: SpeechPiece): void {
    if (isAudio(piece)) {
      this.#bytes += piece.length
      this.#recording.take(piece)
    } else {
      this.#meter.usage = piece.usage ?? this.#meter.usage
      this.#characters = piece.characters ?? this.#characters
    }
  }

  /** The tokens of the audio so far, by its length. */
  estimate(): Usage {
    const tokens = Math.ceil(this.#seconds() * audioTokensPerSecond)
    return spokenUsage(usageOf(this.#asked.promptTokens, tokens))
  }

  #seconds(): number {
    const rate = Number(/;\s*rate=(\d+)/.exec(this.mediaType ?? '')?.[1] ?? 24_000)
    const isRaw = this.#asked.format === 'pcm' || this.mediaType?.startsWith('audio/pcm') === true
    if (isRaw) return this.#bytes / (pcmBytesPerSecond * (rate / 24_000))
    this.#recording.end()
    return this.#recording.seconds
  }
}
