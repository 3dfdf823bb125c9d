import {
  count,
  elsewhere,
  flag,
  oneOf,
  secret,
  text,
  textByName,
  texts,
  type Known,
} from '../../validation/known-options.ts'
import { clientOptions, type ClientOptions } from '../client.ts'

export type PresetName =
  | 'openai'
  | 'azure'
  | 'deepseek'
  | 'groq'
  | 'llamacpp'
  | 'lmstudio'
  | 'mistral'
  | 'moonshot'
  | 'ollama'
  | 'openrouter'
  | 'qwen'
  | 'together'
  | 'vllm'
  | 'xai'
  | 'zhipu'

export interface OpenAIOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>> {
  /** A vendor whose address and ways are known. Whatever else is given here goes before them. */
  readonly preset?: PresetName
  /** Sent as `Authorization: Bearer`. Leave it out for a vendor that takes none, or takes it in `headers`. */
  readonly apiKey?: string | undefined
  /** The header for the key alone, such as `api-key`. Default: `Authorization: Bearer`. */
  readonly keyHeader?: string
  /** Default: that of the preset, without one `https://api.openai.com/v1`. */
  readonly baseURL?: string | undefined
  /** The name in receipts. Default: that of the preset, or `openai`. */
  readonly name?: string
  /** Sent as `OpenAI-Organization`. */
  readonly organization?: string
  /** Sent as `OpenAI-Project`. */
  readonly project?: string
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The vendor's names for models, by the name they are called here. Others are passed on as they are. */
  readonly modelNames?: Readonly<Record<string, string>>
  /**
   * The field in which the vendor takes the limit of output tokens; whichever the client used is renamed. Default: as
   * the client sent it.
   */
  readonly tokenLimit?: 'max_tokens' | 'max_completion_tokens'
  /** Set to false for vendors that refuse `stream_options`. Unless they count unasked, their streams are then billed by estimate. Default true. */
  readonly usageInStreams?: boolean
  /** Fields that have another name there, such as `{ seed: 'random_seed' }`. */
  readonly rename?: Readonly<Record<string, string>>
  /** Fields that the vendor refuses and that ask for nothing in the answer, such as `['user', 'store']`. */
  readonly dropParams?: readonly string[]
  /**
   * The fields beside OpenAI's own (`reasoning_content`, `reasoning_details`, `extra_content` …) that the vendor takes
   * in assistant messages of the past; the others are taken out. Default: messages are passed on as they are.
   */
  readonly pastFields?: readonly string[]
  /** Set to false for vendors that refuse the `name` of a message, which is only a hint. Default true. */
  readonly messageNames?: boolean
  /**
   * Set to true for vendors that refuse calls of the past without the `reasoning_content` they came with: an empty one
   * is sent where the client has not kept it. Default false.
   */
  readonly wantsReasoning?: boolean
  /** The most inputs the vendor takes in one request for embeddings. Longer lists are split. Default: no limit. */
  readonly embeddingBatch?: number
  /** Set to false for vendors that refuse `encoding_format`. The gateway converts their numbers. Default true. */
  readonly embeddingFormat?: boolean
  /**
   * Whether the vendor has a responses endpoint worth using; without it the gateway makes responses of chats. Default:
   * true for OpenAI itself, false for any other base URL.
   */
  readonly responses?: boolean
}

export const known: Known<OpenAIOptions> = {
  preset: elsewhere,
  apiKey: secret,
  keyHeader: text,
  baseURL: elsewhere,
  name: text,
  organization: text,
  project: text,
  headers: textByName,
  modelNames: textByName,
  tokenLimit: oneOf('max_tokens', 'max_completion_tokens'),
  usageInStreams: flag,
  rename: textByName,
  dropParams: texts,
  pastFields: texts,
  messageNames: flag,
  wantsReasoning: flag,
  embeddingBatch: count,
  embeddingFormat: flag,
  responses: flag,
  ...clientOptions,
}
