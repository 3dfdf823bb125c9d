import {
  count,
  elsewhere,
  flag,
  object,
  oneOf,
  text,
  textByName,
  texts,
  type Known,
} from '../../records/known-options.ts'
import type { PromptCache } from '../cache-marks.ts'
import type { ChatTraits } from '../chat-traits.ts'
import type { ApiKey } from '../credentials/key.ts'
import { vendorRules, type SimpleVendorOptions } from '../simple-vendor.ts'

/**
 * A vendor that `openai` knows.
 * - `azure` needs a `baseURL` such as `https://<resource>.openai.azure.com/openai/v1`; its models are deployment names.
 * - `moonshot` is the international service; in China use the `baseURL` `https://api.moonshot.cn/v1`.
 * - `qwen` is the service in Singapore; other regions and workspaces have other base URLs.
 * - `zhipu` is the service in China; elsewhere use the `baseURL` `https://api.z.ai/api/paas/v4`.
 * - `llamacpp`, `lmstudio`, `ollama` and `vllm` are servers on `localhost`, at their default ports.
 */
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

/** Options of `openai`. The first of options, preset and default that sets a value wins. */
export interface OpenAIOptions extends SimpleVendorOptions {
  /** A vendor whose base URL and deviations from OpenAI's API are built in. Default: none. */
  readonly preset?: PresetName
  /**
   * Sent as `Authorization: Bearer`: a key, a function that returns it, or several of them. Omit it for a vendor without keys,
   * or if `headers` carries the key.
   */
  readonly apiKey?: ApiKey | undefined
  /** The header that carries the bare key, such as `api-key`. Default: `Authorization` with `Bearer`. */
  readonly keyHeader?: string
  /** Default: the preset's; without a preset `https://api.openai.com/v1`. */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default: the preset's name, or `openai`. */
  readonly name?: string
  /** Sent as `OpenAI-Organization`. Default: not sent. */
  readonly organization?: string
  /** Sent as `OpenAI-Project`. Default: not sent. */
  readonly project?: string
  /** The vendor's model names, keyed by the names used here. Names that are not listed are passed on unchanged. */
  readonly modelNames?: Readonly<Record<string, string>>
  /**
   * The vendor's field for the limit of output tokens; the other one is renamed to it. Default: the field that the client
   * sent.
   */
  readonly tokenLimit?: 'max_tokens' | 'max_completion_tokens' | undefined
  /**
   * Set it to false for vendors that reject `stream_options`. Their streams are then billed by estimate, unless they send
   * usage without it. Default true.
   */
  readonly usageInStreams?: boolean
  /** Fields that the vendor calls by another name, such as `{ seed: 'random_seed' }`. Default: none. */
  readonly rename?: Readonly<Record<string, string>>
  /**
   * Fields to remove because the vendor rejects them and they do not change the response, such as `['user', 'store']`. A
   * `service_tier` of `flex`, `priority` or `scale` is kept. Default: none.
   */
  readonly dropParams?: readonly string[]
  /**
   * The non-standard fields (`reasoning_content`, `reasoning_details`, `extra_content` …) that the vendor accepts in
   * earlier assistant messages; the others are removed. Default: messages are passed on unchanged.
   */
  readonly pastFields?: readonly string[]
  /** Set it to false for vendors that reject the `name` of a message, which is only a hint. Default true. */
  readonly messageNames?: boolean
  /**
   * Set it to true for vendors that reject a conversation with tool calls if messages of the assistant lack their
   * `reasoning_content`: what the client kept in another field takes its place, or else a space. Default false.
   */
  readonly wantsReasoning?: boolean
  /** Set it to false for vendors that reject the role `developer`: its messages become those of the system. Default true. */
  readonly developerRole?: boolean
  /** Set it to true for vendors that reject ids of calls other than nine letters or digits, as Mistral does. Default false. */
  readonly shortCallIds?: boolean
  /**
   * What the vendor's chats accept beyond the usual, for requests that the gateway translates into chats, such as messages.
   * Default: the preset's; without a preset nothing.
   */
  readonly chatTraits?: ChatTraits
  /**
   * How the vendor's chats take the key that keeps the prompts of a conversation in one cache: `prompt_cache_key` in the body,
   * or the header `x-grok-conv-id`. It is the client's own, or else a hash of the session that the client names. Default: the
   * preset's; without a preset none is added.
   */
  readonly promptCacheKey?: 'prompt_cache_key' | 'x-grok-conv-id'
  /**
   * The vendor's models that cache what `cache_control` marks. Default: the preset's (Claude at OpenRouter, Qwen's at Alibaba);
   * without a preset none.
   */
  readonly markedModels?: RegExp
  /**
   * Whether the gateway marks what these models cache; see `promptCache` of `anthropic`. Default: `auto` for models whose price
   * has `cached` and `cacheWrite`, else `none`.
   */
  readonly promptCache?: PromptCache
  /** Maximum number of inputs in one embeddings request; longer lists are split. Default: no limit. */
  readonly embeddingBatch?: number
  /** Set it to false for vendors that reject `encoding_format`: the gateway then encodes the numbers itself. Default true. */
  readonly embeddingFormat?: boolean
  /**
   * Whether to use the vendor's responses endpoint. If false, the gateway translates responses to chats. Default: true
   * for OpenAI itself, false for any other base URL.
   */
  readonly responses?: boolean
  /**
   * The endpoints of batches at a vendor that has OpenAI's `/files` and `/batches`, such as `['/v1/chat/completions']`; see
   * `FileBatchProvider`. Default: the preset's (OpenAI, Azure, Groq); without a preset none.
   */
  readonly batches?: readonly string[]
  /**
   * Whether to use the vendor's `/messages`, Anthropic's Messages API, for a server that has it beside OpenAI's (vLLM, LM
   * Studio, llama.cpp, Ollama, OpenRouter). If false, the gateway translates messages to chats. Default false.
   */
  readonly messages?: boolean
}

export const known: Known<OpenAIOptions> = {
  ...vendorRules,
  preset: elsewhere,
  keyHeader: text,
  organization: text,
  project: text,
  modelNames: textByName,
  tokenLimit: oneOf('max_tokens', 'max_completion_tokens'),
  usageInStreams: flag,
  rename: textByName,
  dropParams: texts,
  pastFields: texts,
  messageNames: flag,
  wantsReasoning: flag,
  developerRole: flag,
  shortCallIds: flag,
  chatTraits: object,
  markedModels: object,
  promptCache: oneOf('auto', 'none'),
  promptCacheKey: oneOf('prompt_cache_key', 'x-grok-conv-id'),
  embeddingBatch: count,
  embeddingFormat: flag,
  responses: flag,
  messages: flag,
  batches: texts,
}
