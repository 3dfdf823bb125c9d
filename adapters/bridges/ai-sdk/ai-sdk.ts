/** Any model of the AI SDK as a provider: dozens of vendors without code of ours. The SDK itself is the host's to install. */
import { checkKnown, count, flag, object, text, texts } from '../../../src/validation/known-options.ts'
import type { Provider } from '../../../src/providers/contract.ts'
import { aiSdkCosts } from '../../../src/providers/costs/lists.ts'
import { chat, type ChatSettings } from './chat.ts'
import { failureOf, type Asking } from './failure.ts'
import { draw, embed, transcribe } from './media.ts'
import { sourceOf, type AiSdkAnyModel } from './models.ts'
import { withoutRedirects } from './redirects.ts'
import { videosOf } from './video.ts'

export type {
  AiSdkAnyModel,
  AiSdkEmbeddingModel,
  AiSdkImageModel,
  AiSdkLanguageModel,
  AiSdkProvider,
  AiSdkTranscriptionModel,
  AiSdkVideoModel,
} from './models.ts'

export interface AiSdkOptions {
  /**
   * The name in receipts and tasks. Tasks find their provider again by it: do not change it while tasks are open.
   * Default: the model's own, such as `anthropic.messages`; of a provider of the SDK `ai-sdk`.
   */
  readonly name?: string
  /** Handed to the model with every call, such as `{ anthropic: { … } }`. */
  readonly providerOptions?: Readonly<Record<string, unknown>>
  /**
   * Fields that the model may leave unheeded, such as `['seed']`. All others that it warns of, or that the SDK knows
   * nothing of, are refused with 400.
   */
  readonly dropParams?: readonly string[]
  /**
   * Videos whose model has `doGenerate` alone are made and kept in this process: bytes of finished ones at most. The
   * oldest make room. Default 256 MiB.
   */
  readonly videoBytes?: number
  /** Finished videos are fetched from addresses of this network as well, and without TLS. Default false. */
  readonly allowPrivateNetwork?: boolean
}

/**
 * One model, whatever it is called in `models`: `claude: fromAiSdk(anthropic('claude-sonnet-5'))`; or a provider of the
 * SDK, whose models go by their own names: `'google/*': fromAiSdk(createGoogleGenerativeAI())`.
 */
export function fromAiSdk(model: AiSdkAnyModel, options: AiSdkOptions = {}): Provider {
  checkKnown('fromAiSdk', options, {
    name: text,
    providerOptions: object,
    dropParams: texts,
    videoBytes: count,
    allowPrivateNetwork: flag,
  })
  const { name, language, embedding, image, transcription, video } = sourceOf(model)
  const { videoBytes = 256 * 1024 * 1024, allowPrivateNetwork = false } = options
  const settings: ChatSettings = { dropParams: options.dropParams ?? [], providerOptions: options.providerOptions }
  return {
    name: options.name ?? name,
    costs: aiSdkCosts,
    ...(language && { chat: (call) => chat(taken(language, call), call, settings) }),
    ...(embedding && { embed: (call) => embed(taken(embedding, call), call, settings) }),
    ...(image && {
      generateImages: (call) => draw(taken(image, call), call, settings),
      editImages: (call) => draw(taken(image, call), call, settings),
    }),
    ...(transcription && { transcribe: (call) => transcribe(taken(transcription, call), call, settings) }),
    ...(video && videosOf((asking) => taken(video, asking), { ...settings, videoBytes, allowPrivateNetwork })),
  }
}

/** The model of a call; a provider of the SDK may not have it. */
function taken<Model extends object>(from: (id: string) => Model, call: Asking & { readonly model: string }): Model {
  try {
    return withoutRedirects(from(call.model))
  } catch (thrown) {
    throw failureOf(thrown, call)
  }
}
