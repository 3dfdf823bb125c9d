/**
 * Vendors that speak OpenAI's format, and what each does otherwise: data, no code. Sources: the vendors' API references;
 * the fields that Mistral and Groq refuse in messages of the past, and that DeepSeek is content with an empty thought,
 * were seen in reports of their users.
 */
import type { OpenAIOptions } from './openai.ts'

export type Preset = Pick<
  OpenAIOptions,
  | 'baseUrl'
  | 'keyHeader'
  | 'tokenLimit'
  | 'usageInStreams'
  | 'pastFields'
  | 'messageNames'
  | 'wantsReasoning'
  | 'rename'
  | 'leaveOut'
  | 'embeddingBatch'
>

/** Fields that ask for nothing in the answer. */
const hints = ['user', 'safety_identifier', 'store', 'metadata', 'service_tier', 'prompt_cache_key']

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

export const presets: Readonly<Record<PresetName, Preset>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', pastFields: [] },
  /** `baseUrl` is `https://<resource>.openai.azure.com/openai/v1`, the model is the name of the deployment. */
  azure: { keyHeader: 'api-key', pastFields: [] },
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    wantsReasoning: true,
  },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', pastFields: [], messageNames: false },
  llamacpp: { baseUrl: 'http://localhost:8080/v1' },
  lmstudio: { baseUrl: 'http://localhost:1234/v1', tokenLimit: 'max_tokens' },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    tokenLimit: 'max_tokens',
    // It sends usage unasked.
    usageInStreams: false,
    pastFields: [],
    rename: { seed: 'random_seed' },
    leaveOut: hints,
  },
  /** Elsewhere than in China; there with the `baseUrl` `https://api.moonshot.cn/v1`. */
  moonshot: {
    baseUrl: 'https://api.moonshot.ai/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
  },
  ollama: { baseUrl: 'http://localhost:11434/v1', tokenLimit: 'max_tokens' },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    pastFields: ['reasoning', 'reasoning_content', 'reasoning_details'],
  },
  /** Singapore; other regions and workspaces have a `baseUrl` of their own. */
  qwen: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
    embeddingBatch: 10,
  },
  together: { baseUrl: 'https://api.together.ai/v1', tokenLimit: 'max_tokens', pastFields: [] },
  vllm: { baseUrl: 'http://localhost:8000/v1' },
  xai: { baseUrl: 'https://api.x.ai/v1', pastFields: [] },
  /** China; elsewhere with the `baseUrl` `https://api.z.ai/api/paas/v4`. */
  zhipu: {
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    tokenLimit: 'max_tokens',
    pastFields: ['reasoning_content'],
  },
}

/** The options with what is known of the vendor behind them. Throws a `TypeError` where an address is missing. */
export function withPreset(options: OpenAIOptions): OpenAIOptions {
  const name = options.preset ?? (options.baseUrl === undefined ? 'openai' : undefined)
  if (name === undefined) return options
  if (!Object.hasOwn(presets, name)) {
    throw new TypeError(`openai: there is no preset "${name}". Known are ${Object.keys(presets).join(', ')}.`)
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const settings: OpenAIOptions = { name, ...presets[name], ...given }
  if (settings.baseUrl === undefined) throw new TypeError(`openai: the preset "${name}" needs a "baseUrl".`)
  return settings
}
