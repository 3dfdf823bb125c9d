/** The parts of the AI SDK's models that are used here. The types are structural, so that any version of its packages fits. */

/** The AI SDK's `LanguageModelV4`, `V3` or `V2`. */
export interface AiSdkLanguageModel extends AiSdkModel {
  /** Patterns of the URLs that the vendor fetches itself, by media type. */
  readonly supportedUrls?: unknown
  /** Streams a response. */
  doStream(options: never): PromiseLike<{ readonly stream: AiSdkStream }>
}

/** The AI SDK's `EmbeddingModelV4` or an older version. */
export interface AiSdkEmbeddingModel extends AiSdkModel {
  /** Maximum number of inputs per call. Default: no maximum. */
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined
  /** Embeds texts. */
  doEmbed(options: never): PromiseLike<AiSdkVectors>
}

/** The AI SDK's `ImageModelV4` or an older version. */
export interface AiSdkImageModel extends AiSdkModel {
  /** Maximum number of images per call: a number or a function. Default 1. */
  readonly maxImagesPerCall?: unknown
  /** Generates or edits images. */
  doGenerate(options: never): PromiseLike<AiSdkImages>
}

/** The AI SDK's `TranscriptionModelV4` or an older version. */
export interface AiSdkTranscriptionModel extends AiSdkModel {
  /** Transcribes a file. */
  doGenerate(options: never): PromiseLike<AiSdkTranscript>
}

/** The AI SDK's `SpeechModelV4` or an older version. */
export interface AiSdkSpeechModel extends AiSdkModel {
  /** Speaks a text. */
  doGenerate(options: never): PromiseLike<AiSdkSpeech>
}

/** The AI SDK's `RerankingModelV4` or an older version. */
export interface AiSdkRerankingModel extends AiSdkModel {
  /** Ranks documents. */
  doRerank(options: never): PromiseLike<AiSdkRanking>
}

/** The AI SDK's `VideoModelV4` or `V3`: with `doStart` and `doStatus`, or with `doGenerate` only. */
export interface AiSdkVideoModel extends AiSdkModel {
  /** Identifies the model as a video model; the value is not used. */
  readonly maxVideosPerCall: unknown
  /** Generates a video in one call. */
  readonly doGenerate?: ((options: never) => PromiseLike<AiSdkVideos>) | undefined
  /** Starts a job. */
  readonly doStart?: ((options: never) => PromiseLike<AiSdkVideoJob>) | undefined
  /** Polls a job. */
  readonly doStatus?: ((options: never) => PromiseLike<AiSdkVideoStatus>) | undefined
}

/** A provider of the AI SDK, such as `createAnthropic()`. */
export interface AiSdkProvider {
  /** A language model by id. */
  readonly languageModel: (id: string) => AiSdkLanguageModel
  /** An embedding model by id. */
  readonly embeddingModel?: ((id: string) => AiSdkEmbeddingModel) | undefined
  /** An image model by id. */
  readonly imageModel?: ((id: string) => AiSdkImageModel) | undefined
  /** A transcription model by id. */
  readonly transcriptionModel?: ((id: string) => AiSdkTranscriptionModel) | undefined
  /** A speech model by id. */
  readonly speechModel?: ((id: string) => AiSdkSpeechModel) | undefined
  /** A reranking model by id. */
  readonly rerankingModel?: ((id: string) => AiSdkRerankingModel) | undefined
  /** A video model by id. */
  readonly videoModel?: ((id: string) => AiSdkVideoModel) | undefined
  /** The name of `videoModel` in some packages. */
  readonly video?: ((id: string) => AiSdkVideoModel) | undefined
}

export interface AiSdkModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** Such as `anthropic.messages`. */
  readonly provider: string
  /** The vendor's name for the model. */
  readonly modelId: string
}

/** The part of a `ReadableStream` that is used here. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
    cancel(reason?: unknown): Promise<void>
  }
}

export interface AiSdkVectors {
  readonly embeddings: readonly (readonly number[])[]
  readonly usage?: { readonly tokens: number } | undefined
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkImages {
  readonly images: readonly (string | Uint8Array)[]
  readonly usage?: unknown
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkTranscript {
  readonly text: string
  readonly segments?: readonly AiSdkSpan[] | undefined
  readonly words?: readonly AiSdkSpan[] | undefined
  readonly language?: string | undefined
  readonly durationInSeconds?: number | undefined
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkSpan {
  readonly text: string
  readonly startSecond: number
  readonly endSecond: number
}

export interface AiSdkSpeech {
  readonly audio: string | Uint8Array
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkRanking {
  readonly ranking: readonly { readonly index: number; readonly relevanceScore: number }[]
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkVideos {
  readonly videos: readonly AiSdkVideo[]
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkVideo {
  /** `url`, `base64`, `binary`, or `uploaded` (to the host's own storage). */
  readonly type: string
  readonly url?: string
  readonly data?: string | Uint8Array
  readonly mediaType: string
}

export interface AiSdkVideoJob {
  /** The model's own state of the job, as JSON. */
  readonly operation: unknown
  readonly warnings?: readonly unknown[] | undefined
}

export interface AiSdkVideoStatus {
  readonly status: 'pending' | 'completed' | 'error'
  readonly videos?: readonly AiSdkVideo[]
  readonly error?: string
  readonly warnings?: readonly unknown[] | undefined
}

/** The models of a provider by id, or one model for any id. */
export interface Source {
  readonly name: string
  readonly language?: (id: string) => AiSdkLanguageModel
  readonly embedding?: (id: string) => AiSdkEmbeddingModel
  readonly image?: (id: string) => AiSdkImageModel
  readonly transcription?: (id: string) => AiSdkTranscriptionModel
  readonly reranking?: (id: string) => AiSdkRerankingModel
  readonly speech?: (id: string) => AiSdkSpeechModel
  readonly video?: (id: string) => AiSdkVideoModel
}

/** What `fromAiSdk` accepts: a model of any kind, or a provider. */
export type AiSdkAnyModel =
  | AiSdkLanguageModel
  | AiSdkEmbeddingModel
  | AiSdkImageModel
  | AiSdkTranscriptionModel
  | AiSdkRerankingModel
  | AiSdkSpeechModel
  | AiSdkVideoModel
  | AiSdkProvider

/** Recognises the kind of a model by its members, because models carry no field for it. */
export function sourceOf(given: AiSdkAnyModel): Source {
  if ('languageModel' in given) return providerSource(given)
  const { provider: name } = given
  if ('doStream' in given && 'supportedUrls' in given) return { name, language: () => given }
  if ('doEmbed' in given) return { name, embedding: () => given }
  if ('doRerank' in given) return { name, reranking: () => given }
  if ('maxImagesPerCall' in given) return { name, image: () => given }
  if ('maxVideosPerCall' in given) {
    if (given.doGenerate ?? (given.doStart && given.doStatus)) return { name, video: () => given }
  } else if ('doGenerate' in given) {
    // Both kinds have this member alone; the packages of the SDK name their models of speech `openai.speech` and the like.
    if (/speech|tts/i.test(name)) return { name, speech: () => given as AiSdkSpeechModel }
    return { name, transcription: () => given as AiSdkTranscriptionModel }
  }
  throw new TypeError('fromAiSdk: expected a model or a provider of the AI SDK')
}

function providerSource(given: AiSdkProvider): Source {
  const { embeddingModel: embedding, imageModel: image, transcriptionModel: transcription } = given
  const { rerankingModel: reranking, speechModel: speech, videoModel: video = given.video } = given
  return {
    name: 'ai-sdk',
    language: given.languageModel.bind(given),
    ...(embedding && { embedding: embedding.bind(given) }),
    ...(image && { image: image.bind(given) }),
    ...(transcription && { transcription: transcription.bind(given) }),
    ...(reranking && { reranking: reranking.bind(given) }),
    ...(speech && { speech: speech.bind(given) }),
    ...(video && { video: video.bind(given) }),
  }
}
