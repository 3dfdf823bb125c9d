/**
 * Vendors that speak OpenAI's format, and what each does otherwise: data, no code. Sources: the vendors' API references;
 * the fields that Mistral and Groq refuse in messages of the past, and that DeepSeek and Moonshot are content with an
 * empty thought, were seen in reports of their users.
 */
import type { CostsOf } from '../costs/contract.ts'
import { openaiCosts, type KnownVendor } from '../costs/lists.ts'
import type { OpenAIOptions, PresetName } from './options.ts'

export type Preset = Pick<
  OpenAIOptions,
  | 'baseURL'
  | 'keyHeader'
  | 'tokenLimit'
  | 'usageInStreams'
  | 'pastFields'
  | 'messageNames'
  | 'wantsReasoning'
  | 'rename'
  | 'dropParams'
  | 'embeddingBatch'
>

/** Fields that ask for nothing in the answer. */
const hints = ['user', 'safety_identifier', 'store', 'metadata', 'service_tier', 'prompt_cache_key']

/** Whose fields are known to choose model, price or amount. Vendors that are not named here have none of their own. */
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

/** Without a preset nothing is known of the vendor, and all that is known of any is looked for. */
export function costsOf({ preset, baseURL }: OpenAIOptions, hasResponses: boolean): CostsOf {
  if (preset === undefined) return openaiCosts(baseURL === undefined ? 'openai' : 'everything', hasResponses)
  return openaiCosts(costs[preset] ?? 'hosted', hasResponses)
}

export const presets: Readonly<Record<PresetName, Preset>> = {
  openai: { baseURL: 'https://api.openai.com/v1', pastFields: [] },
  /** `baseURL` is `https://<resource>.openai.azure.com/openai/v1`, the model is the name of the deployment. */
  azure: { keyHeader: 'api-key', pastFields: [] },
  deepseek: {
    baseURL: 'https://api.deepseek.com',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    wantsReasoning: true,
  },
  groq: { baseURL: 'https://api.groq.com/openai/v1', pastFields: [], messageNames: false },
  llamacpp: { baseURL: 'http://localhost:8080/v1' },
  lmstudio: { baseURL: 'http://localhost:1234/v1', tokenLimit: 'max_tokens' },
  mistral: {
    baseURL: 'https://api.mistral.ai/v1',
    tokenLimit: 'max_tokens',
    // It sends usage unasked.
    usageInStreams: false,
    pastFields: [],
    rename: { seed: 'random_seed' },
    dropParams: hints,
  },
  /** Elsewhere than in China; there with the `baseURL` `https://api.moonshot.cn/v1`. */
  moonshot: {
    baseURL: 'https://api.moonshot.ai/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    wantsReasoning: true,
  },
  ollama: { baseURL: 'http://localhost:11434/v1', tokenLimit: 'max_tokens' },
  openrouter: {
    baseURL: 'https://openrouter.ai/api/v1',
    pastFields: ['reasoning', 'reasoning_content', 'reasoning_details'],
  },
  /** Singapore; other regions and workspaces have a `baseURL` of their own. */
  qwen: {
    baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    embeddingBatch: 10,
  },
  together: { baseURL: 'https://api.together.ai/v1', tokenLimit: 'max_tokens', pastFields: [] },
  vllm: { baseURL: 'http://localhost:8000/v1' },
  xai: { baseURL: 'https://api.x.ai/v1', pastFields: [] },
  /** China; elsewhere with the `baseURL` `https://api.z.ai/api/paas/v4`. */
  zhipu: {
    baseURL: 'https://open.bigmodel.cn/api/paas/v4',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
  },
}

/** The options with what is known of the vendor behind them. Throws a `TypeError` where an address is missing. */
export function withPreset(options: OpenAIOptions): OpenAIOptions {
  const name = options.preset ?? (options.baseURL === undefined ? 'openai' : undefined)
  if (name === undefined) return options
  if (!Object.hasOwn(presets, name)) {
    throw new TypeError(`openai: unknown preset "${name}". Valid presets: ${Object.keys(presets).join(', ')}.`)
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const settings: OpenAIOptions = { name, ...presets[name], ...given }
  if (settings.baseURL === undefined) throw new TypeError(`openai: the preset "${name}" needs a "baseURL".`)
  return settings
}
