import { checkKnown, count, flag, object, text, texts } from '../../../src/records/known-options.ts'
import type { Provider } from '../../../src/providers/contract.ts'
import { aiSdkCosts } from '../../../src/providers/costs/lists.ts'
import { failureOf, type CallInfo } from './failure.ts'
import { generate, type ModelSettings } from './generate.ts'
import { embed, generateImages, rerank, speak, transcribe } from './media.ts'
import { sourceOf, type AiSdkAnyModel } from './models.ts'
import { withoutRedirects } from './redirects.ts'
import { videosOf } from './video.ts'

export type {
  AiSdkAnyModel,
  AiSdkEmbeddingModel,
  AiSdkImageModel,
  AiSdkLanguageModel,
  AiSdkProvider,
  AiSdkRerankingModel,
  AiSdkSpeechModel,
  AiSdkTranscriptionModel,
  AiSdkVideoModel,
} from './models.ts'

/** Options of `fromAiSdk`. */
export interface AiSdkOptions {
  /**
   * The provider's name in receipts and tasks. Video tasks find their provider by this name: do not change it while tasks
   * are open. Default: the model's own, such as `anthropic.messages`; for a provider of the SDK, `ai-sdk`.
   */
  readonly name?: string
  /** Passed to the model with every call, such as `{ anthropic: { … } }`. Default: none. */
  readonly providerOptions?: Readonly<Record<string, unknown>>
  /**
   * Request fields that the model may ignore, such as `['seed']`. Requests with any other field that the model or the SDK
   * does not support are rejected with 400. Default: none.
   */
  readonly dropParams?: readonly string[]
  /**
   * Maximum bytes of finished videos kept in memory, for models that only have `doGenerate`. The oldest are dropped first.
   * Default 268,435,456: 256 MiB.
   */
  readonly videoBytes?: number
  /** Whether finished videos may be fetched from private network addresses and without TLS. Default false. */
  readonly allowPrivateNetwork?: boolean
}

/**
 * Makes a provider of a model, or of a whole provider, of the AI SDK, which the host installs itself. Throws a `TypeError`
 * for anything else and for invalid options.
 *
 * @example
 * ```ts
 * const models = {
 *   claude: fromAiSdk(anthropic('claude-sonnet-5')), // one model, by a name of your own
 *   'google/*': fromAiSdk(createGoogleGenerativeAI()), // all models of a provider, by the vendor's names
 * }
 * ```
 */
export function fromAiSdk(model: AiSdkAnyModel, options: AiSdkOptions = {}): Provider {
  checkKnown('fromAiSdk', options, {
    name: text,
    providerOptions: object,
    dropParams: texts,
    videoBytes: count,
    allowPrivateNetwork: flag,
  })
  const { name, language, embedding, image, reranking, speech, transcription, video } = sourceOf(model)
  const { videoBytes = 256 * 1024 * 1024, allowPrivateNetwork = false } = options
  const settings: ModelSettings = { dropParams: options.dropParams ?? [], providerOptions: options.providerOptions }
  const maker = options.name ?? name
  return {
    name: maker,
    costs: aiSdkCosts,
    dropParams: settings.dropParams,
    ...(language && { generate: (call) => generate(modelOf(language, call), call, settings, maker) }),
    ...(embedding && { embed: (call) => embed(modelOf(embedding, call), call, settings) }),
    ...(image && {
      generateImages: (call) => generateImages(modelOf(image, call), call, settings),
      editImages: (call) => generateImages(modelOf(image, call), call, settings),
    }),
    ...(reranking && { rerank: (call) => rerank(modelOf(reranking, call), call, settings) }),
    ...(speech && { speak: (call) => speak(modelOf(speech, call), call, settings) }),
    ...(transcription && { transcribe: (call) => transcribe(modelOf(transcription, call), call, settings) }),
    ...(video && videosOf((info) => modelOf(video, info), { ...settings, videoBytes, allowPrivateNetwork })),
  }
}

/** The model of a call. Throws if the provider of the SDK does not have it. */
function modelOf<Model extends object>(
  from: (id: string) => Model,
  call: CallInfo & { readonly model: string },
): Model {
  try {
    return withoutRedirects(from(call.model))
  } catch (thrown) {
    throw failureOf(thrown, call)
  }
}
