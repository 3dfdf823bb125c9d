/** The built-in demo provider. Its rules for chats are in `answer.ts`. */
import type { Call, ChatPiece, ImageAnswer, Provider, TranscriptAnswer } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { ImageEditRequest, ImageRequest } from '../../wire/images.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'
import type { ModelObject } from '../../wire/model.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { checkKnown, amount, delay, text } from '../../records/known-options.ts'
import { forceParse } from '../yielding.ts'
import { chat } from './chat.ts'
import { editImages } from './edits.ts'
import { embed } from './embed.ts'
import { generateImages } from './images.ts'
import { moderate } from './moderate.ts'
import { transcribe } from './transcribe.ts'
import { demoVideo } from './video.ts'

/** Options of `demo`. */
export interface DemoOptions {
  /** Time between two tokens of a stream, in milliseconds; non-streaming responses have no delay. Default 10. */
  readonly paceMs?: number
  /** Simulated time to generate a video, in seconds. Default 4. */
  readonly videoSeconds?: number
  /** The provider's name in receipts. Default `demo`. */
  readonly name?: string
}

/** The methods of the demo provider. */
export interface DemoProvider extends Provider {
  /** Answers by fixed rules, such as `Reply with exactly: pong`, and calls the tools that the question is about. */
  chat(call: Call<ChatRequest>): AsyncIterable<ChatPiece>
  /** Hashes words: texts with common words have similar vectors. */
  embed(call: Call<EmbeddingRequest>): Promise<EmbeddingList>
  /** Searches for a few English words of each category. */
  moderate(call: Call<ModerationRequest>): Promise<ModerationList>
  /** Draws PNGs, returned as base64. If the client requests URLs, the gateway returns data URLs. */
  generateImages(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer>
  /** Edits PNGs with 8 bits per sample. */
  editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer>
  /** Returns a description of a WAV file as its transcript: there is no speech recognition. */
  transcribe(call: Call<TranscriptionRequest>): Promise<TranscriptAnswer>
}

/** The models, for a `'demo/*'` entry. Every other name works too. */
const models: readonly ModelObject[] = [
  'demo',
  'demo-embedding',
  'demo-moderation',
  'demo-image',
  'demo-transcription',
  'demo-video-portrait',
  'demo-video-landscape',
].map((id) => ({
  id,
  object: 'model',
  created: 1_764_547_200,
  owned_by: 'modelhatch',
}))

/**
 * Creates the demo provider: a deterministic model for tests and first steps, without a key and without a network. Throws
 * a `TypeError` for an unknown or invalid option.
 *
 * @example
 * createGateway({ models: { 'demo/*': demo() } })
 */
export function demo(options: DemoOptions = {}): DemoProvider {
  checkKnown('demo', options, { paceMs: delay, videoSeconds: amount, name: text })
  const { paceMs = 10, videoSeconds = 4, name = 'demo' } = options
  return {
    name,
    chatTraits: { systemAnywhere: true },
    chat: (call) => chat(call, call.stream ? paceMs : 0),
    async embed(call) {
      await forceParse(call)
      return embed(call.request)
    },
    async moderate(call) {
      await forceParse(call)
      return moderate(call.request)
    },
    generateImages,
    editImages,
    transcribe: (call) => transcribe(call, paceMs),
    video: demoVideo(videoSeconds, Date.now),
    models: async () => models,
  }
}
