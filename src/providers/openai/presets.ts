/**
 * The vendors with an OpenAI-compatible API, and how each deviates from OpenAI's. Sources: the vendors' API references.
 * From user reports: the fields that Mistral and Groq reject in earlier messages, and that DeepSeek and Moonshot accept a
 * space as `reasoning_content`, but DeepSeek no empty text.
 */
import type { CostsOf } from '../costs/contract.ts'
import { openaiCosts, type KnownVendor } from '../costs/lists.ts'
import type { OpenAIOptions, PresetName } from './options.ts'

/** Fields that do not change the response. */
const hints = ['user', 'safety_identifier', 'store', 'metadata', 'service_tier', 'prompt_cache_key']

/** The vendors whose cost-changing fields are known. The others have no special fields. */
const costs: Readonly<Partial<Record<PresetName, KnownVendor>>> = {
  openai: 'openai',
  azure: 'azure',
  groq: 'groq',
  llamacpp: 'local',
  lmstudio: 'local',
  ollama: 'local',
  openrouter: 'openrouter',
  qwen: 'qwen',
  together: 'together',
  vllm: 'local',
  xai: 'xai',
}

/** A vendor without a preset is unknown, so the cost-changing fields of all vendors are rejected. */
export function costsOf({ preset, baseURL, messages = false }: OpenAIOptions, hasResponses: boolean): CostsOf {
  if (preset === undefined) return openaiCosts(baseURL === undefined ? 'openai' : 'everything', hasResponses, messages)
  return openaiCosts(costs[preset] ?? 'hosted', hasResponses, messages)
}

/** The endpoints that batches of OpenAI and Azure have, as far as the gateway serves them. */
const batched = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/completions']

export const presets: Readonly<Record<PresetName, OpenAIOptions>> = {
  openai: {
    baseURL: 'https://api.openai.com/v1',
    pastFields: [],
    promptCacheKey: 'prompt_cache_key',
    chatTraits: { systemAnywhere: true, stores: true },
    batches: batched,
  },
  azure: {
    keyHeader: 'api-key',
    // Models with reasoning reject the other one.
    tokenLimit: 'max_completion_tokens',
    pastFields: [],
    promptCacheKey: 'prompt_cache_key',
    chatTraits: { systemAnywhere: true },
    batches: batched,
  },
  deepseek: {
    baseURL: 'https://api.deepseek.com',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    wantsReasoning: true,
    developerRole: false,
    chatTraits: { systemAnywhere: true, maxStops: 16 },
  },
  groq: {
    baseURL: 'https://api.groq.com/openai/v1',
    pastFields: [],
    messageNames: false,
    batches: ['/v1/chat/completions'],
  },
  llamacpp: { baseURL: 'http://localhost:8080/v1', chatTraits: { topK: true, maxStops: 16 } },
  lmstudio: { baseURL: 'http://localhost:1234/v1', tokenLimit: 'max_tokens', chatTraits: { topK: true } },
  mistral: {
    baseURL: 'https://api.mistral.ai/v1',
    tokenLimit: 'max_tokens',
    // It sends usage without being asked.
    usageInStreams: false,
    pastFields: [],
    developerRole: false,
    shortCallIds: true,
    rename: { seed: 'random_seed' },
    dropParams: hints,
    chatTraits: { userAfterResults: false, prefill: 'prefix' },
  },
  moonshot: {
    baseURL: 'https://api.moonshot.ai/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    wantsReasoning: true,
    chatTraits: { systemAnywhere: true, prefill: 'partial' },
  },
  ollama: { baseURL: 'http://localhost:11434/v1', tokenLimit: 'max_tokens' },
  openrouter: {
    baseURL: 'https://openrouter.ai/api/v1',
    pastFields: ['reasoning', 'reasoning_content', 'reasoning_details'],
    markedModels: /claude/,
    chatTraits: { cacheControl: true, topK: true },
  },
  qwen: {
    baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    markedModels: /^qwen.*-(?:max|plus|flash)/,
    embeddingBatch: 10,
    chatTraits: { cacheControl: true, topK: true, prefill: 'partial' },
  },
  together: {
    baseURL: 'https://api.together.ai/v1',
    tokenLimit: 'max_tokens',
    pastFields: [],
    chatTraits: { topK: true },
  },
  vllm: { baseURL: 'http://localhost:8000/v1', chatTraits: { topK: true, maxStops: 16 } },
  xai: {
    baseURL: 'https://api.x.ai/v1',
    pastFields: [],
    // Its chats ignore the field.
    promptCacheKey: 'x-grok-conv-id',
    chatTraits: { systemAnywhere: true },
  },
  zhipu: {
    baseURL: 'https://open.bigmodel.cn/api/paas/v4',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
  },
}

/** Fills in the preset's values. Throws a `TypeError` for an unknown preset, or one that needs a `baseURL`. */
export function withPreset(options: OpenAIOptions): OpenAIOptions {
  const name = options.preset ?? (options.baseURL === undefined ? 'openai' : undefined)
  if (name === undefined) return options
  if (!Object.hasOwn(presets, name)) {
    throw new TypeError(`openai: unknown preset "${name}". Valid presets: ${Object.keys(presets).join(', ')}.`)
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const settings: OpenAIOptions = { name, ...presets[name], ...given }
  if (settings.baseURL === undefined) throw new TypeError(`openai: the preset "${name}" requires the option "baseURL".`)
  return settings
}
