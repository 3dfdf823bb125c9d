/**
 * A small model of our own: no key, no network, and the same answer to the same question. It is what `npm start` serves
 * and what tests and readers can rely on; `answer.ts` holds its rules.
 */
import type { Call, ChatPiece, ImageAnswer, Provider, TranscriptAnswer } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { ImageEditRequest, ImageRequest } from '../../wire/images.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'
import type { ModelObject } from '../../wire/model.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { checkKnown, amount, delay, text } from '../../validation/known-options.ts'
import { forceParse } from '../turns.ts'
import { chat } from './chat.ts'
import { editImages } from './edits.ts'
import { embed } from './embed.ts'
import { generateImages } from './images.ts'
import { moderate } from './moderate.ts'
import { transcribe } from './transcribe.ts'
import { demoVideo } from './video.ts'

/** Options of `demo`. */
export interface DemoOptions {
  /** Milliseconds between two tokens of a stream; whole answers come at once. Default 10. */
  readonly paceMs?: number
  /** Seconds that a video takes to make. Default 4. */
  readonly videoSeconds?: number
  /** The name in receipts. Default `demo`. */
  readonly name?: string
}

/** The demo provider: all its methods are there. */
export interface DemoProvider extends Provider {
  chat(call: Call<ChatRequest>): AsyncIterable<ChatPiece>
  embed(call: Call<EmbeddingRequest>): Promise<EmbeddingList>
  /** By words alone. */
  moderate(call: Call<ModerationRequest>): Promise<ModerationList>
  /** PNGs, as base64; a client that asks for addresses gets them as `data:` URLs. */
  generateImages(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer>
  /** Takes PNGs of 8 bits a sample. */
  editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer>
  /** Takes WAVs. */
  transcribe(call: Call<TranscriptionRequest>): Promise<TranscriptAnswer>
}

/** Its models by name, for a `'demo/*'` entry. Any other name is answered as well. */
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

/** Models without a vendor, for tests and first steps: deterministic, free of charge, and offline. Any model name works. */
export function demo(options: DemoOptions = {}): DemoProvider {
  checkKnown('demo', options, { paceMs: delay, videoSeconds: amount, name: text })
  const { paceMs = 10, videoSeconds = 4, name = 'demo' } = options
  return {
    name,
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
