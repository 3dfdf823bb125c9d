/** The built-in demo provider. Its rules for conversations are in `answer.ts`. */
import type { Conversation } from '../../conversation/conversation.ts'
import type { Call, ImageAnswer, Provider, SpeechPiece, TranscriptAnswer } from '../contract.ts'
import type { GeneratedPart } from '../generated-part.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { ImageEditRequest, ImageRequest, ImageVariationRequest } from '../../wire/images.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'
import type { ModelObject } from '../../wire/model.ts'
import type { RerankAnswer, RerankRequest } from '../../wire/rerank.ts'
import type { SpeechRequest } from '../../wire/speech.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { checkKnown, amount, delay, text } from '../../records/known-options.ts'
import { forceParse } from '../yielding.ts'
import { embed } from './embed.ts'
import { generate } from './generate.ts'
import { editImages, generateImages, varyImage } from './images.ts'
import { moderate } from './moderate.ts'
import { rerank } from './rerank.ts'
import { speak } from './speak.ts'
import { transcribe, translateSpeech } from './transcribe.ts'
import { demoVideo } from './video.ts'
import { decide } from './decide.ts'
import type { DecisionList, DecisionRequest } from '../../wire/decisions.ts'

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
  generate(call: Call<Conversation>): AsyncIterable<GeneratedPart>
  /** Hashes words: texts with common words have similar vectors. */
  embed(call: Call<EmbeddingRequest>): Promise<EmbeddingList>
  /** Searches for a few English words of each category. */
  moderate(call: Call<ModerationRequest>): Promise<ModerationList>
  /** Draws PNGs, returned as base64. If the client requests URLs, the gateway returns data URLs. */
  generateImages(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer>
  /** Draws the prompt in the size of a PNG. */
  editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer>
  /** Draws in the size of a PNG, and differently for each. */
  varyImage(call: Call<ImageVariationRequest>): Promise<ImageAnswer>
  /** Ranks documents by the words that they have in common with the query. */
  rerank(call: Call<RerankRequest>): Promise<RerankAnswer>
  /** Decides by the words that the input has in common with each question. */
  decide(call: Call<DecisionRequest>): Promise<DecisionList>
  /** Plays a tone for each word, as WAV or as samples. */
  speak(call: Call<SpeechRequest>): AsyncIterable<SpeechPiece>
  /** Returns a description of a WAV file as its transcript: there is no speech recognition. */
  transcribe(call: Call<TranscriptionRequest>): Promise<TranscriptAnswer>
  /** Returns the same description, which is in English. */
  translateSpeech(call: Call<TranscriptionRequest>): Promise<TranscriptAnswer>
}

/** The names of the models. Every other name works too. */
export const demoNames = [
  'demo',
  'demo-embedding',
  'demo-moderation',
  'demo-image',
  'demo-rerank',
  'demo-decision',
  'demo-speech',
  'demo-transcription',
  'demo-video-portrait',
  'demo-video-landscape',
] as const

/** For a `'demo/*'` entry. */
const models: readonly ModelObject[] = demoNames.map((id) => ({
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
    generate: (call) => generate(call, call.stream ? paceMs : 0),
    embed: parsing(embed),
    moderate: parsing(moderate),
    generateImages,
    editImages,
    varyImage,
    rerank: parsing(rerank),
    decide: parsing(decide),
    speak: (call) => speak(call, paceMs),
    transcribe: (call) => transcribe(call, paceMs),
    translateSpeech,
    video: demoVideo(videoSeconds, Date.now),
    models: async () => models,
  }
}

function parsing<Request, Answer>(work: (request: Request) => Answer) {
  return async (call: Call<Request>): Promise<Awaited<Answer>> => {
    await forceParse(call)
    return await work(call.request)
  }
}
