/**
 * What is known of the vendors' fields. Sources: the API references of OpenAI, Azure, Groq, OpenRouter, xAI, Alibaba,
 * Together, Anthropic, Google and ByteDance, and LiteLLM's for fields that a proxy reads.
 */
import type { CostRules, CostsOf, Harmless } from './contract.ts'

type Fields = Readonly<Record<string, Harmless>>

const tier = ['auto', 'default', 'standard', 'standard_only', 'on_demand']

/** Another speed or guarantee at another price. */
const tiers: Fields = { service_tier: tier }

/** Searches are charged one by one. */
const searches: Fields = {
  web_search_options: [],
  search_parameters: (value) => (Object(value) as { mode?: unknown }).mode === 'off',
  enable_search: [false],
  enable_code_interpreter: [false],
}

/** Routers: which model answers, at whose price, with what beside it. */
const routing: Fields = {
  models: [],
  route: [],
  provider: [],
  plugins: [],
  preset: [],
  fallbacks: [],
  image_config: [],
}

/** Proxies that let a request choose its own deployment and key. */
const proxying: Fields = {
  context_window_fallbacks: [],
  content_policy_fallbacks: [],
  api_base: [],
  base_url: [],
  api_key: [],
  custom_llm_provider: [],
  user_config: [],
}

const anthropicFields: Fields = {
  ...tiers,
  speed: ['standard'],
  inference_geo: ['global'],
  mcp_servers: [],
  container: [],
}

/** Images are charged by what is computed, at some vendors. */
const drawing: Fields = {
  steps: [],
  num_inference_steps: [],
  width: [],
  height: [],
  resolution: [],
  num_images: [],
  batch_size: [],
  sample_count: [],
  input_fidelity: ['low'],
}

const oneVideo = [1, '1']

/** A size says the resolution as well: vendors' adapters refuse one that differs from it. */
const filming: Fields = {
  n: oneVideo,
  num_videos: oneVideo,
  number_of_videos: oneVideo,
  sample_count: oneVideo,
  frames: [],
  num_frames: [],
  duration_seconds: [],
  video_length: [],
  resolution: [],
  fps: [],
  frames_per_second: [],
  frame_rate: [],
  quality: ['standard'],
  mode: ['std'],
  generate_audio: [false, 'false'],
  sound: ['off', false],
  draft: [false, 'false'],
  ...tiers,
}

export type KnownVendor =
  | 'openai'
  | 'azure'
  | 'groq'
  | 'openrouter'
  | 'qwen'
  | 'together'
  | 'xai'
  | 'hosted'
  | 'local'
  | 'everything'

/** `hosted`: a vendor without fields of its own. `everything`: a vendor that is not known. */
const known: Readonly<Record<KnownVendor, Fields>> = {
  openai: { ...tiers, web_search_options: [] },
  azure: { ...tiers, web_search_options: [], data_sources: [] },
  groq: { ...tiers, compound_custom: [], search_settings: [] },
  openrouter: { ...tiers, ...searches, ...routing },
  qwen: { ...tiers, ...searches },
  together: { ...tiers, safety_model: [] },
  xai: { ...tiers, ...searches, deferred: [false] },
  hosted: { ...tiers, ...searches },
  local: {},
  everything: {
    ...searches,
    ...routing,
    ...proxying,
    ...anthropicFields,
    data_sources: [],
    compound_custom: [],
    search_settings: [],
    safety_model: [],
    deferred: [false],
  },
}

const responseTools = [
  'function',
  'custom',
  'namespace',
  'local_shell',
  'shell',
  'apply_patch',
  'computer',
  'computer_use',
  'computer_use_preview',
  'tool_search',
]

/** For vendors that get OpenAI's requests as they are. `responses`: those for responses, too. */
export function openaiCosts(vendor: KnownVendor, hasResponses: boolean): CostsOf {
  const fields = known[vendor]
  if (vendor === 'local') return () => localRules
  const chats: CostRules = { fields, clientTools: ['function', 'custom'] }
  const responses: CostRules = {
    fields: { ...fields, max_tool_calls: [] },
    clientTools: responseTools,
    // Coding agents offer it to every model.
    offeredTools: ['web_search'],
  }
  const images: CostRules = { fields: { ...fields, ...drawing } }
  const videos: CostRules = { fields: { ...fields, ...filming } }
  const others: CostRules = { fields }
  const rules = new Map<string, CostRules>([
    ['chat.completions', chats],
    ['completions', chats],
    // Made into chats, they hold no tools of the vendor.
    ...(hasResponses ? (['responses', 'responses.compact'] as const).map((name) => [name, responses] as const) : []),
    ['images.generations', images],
    ['images.edits', images],
    ['videos', videos],
  ])
  return (endpoint) => rules.get(endpoint) ?? others
}

const localRules: CostRules = { fields: {} }

const anthropicRules: CostRules = { fields: anthropicFields }

export const anthropicCosts: CostsOf = () => anthropicRules

/** The fields of `anthropicCosts` that have the same name in a request for Claude: sent where the host lets them pass. */
export const anthropicExtras: readonly string[] = ['speed', 'inference_geo', 'mcp_servers', 'container']

const videoRules: CostRules = { fields: filming }

/** For vendors whose adapter holds a resolution against the size: one that agrees with it is paid for. */
const sizedVideoRules: CostRules = {
  fields: { ...filming, resolution: (_, field) => field('size') !== undefined },
}

const tierRules: CostRules = { fields: tiers }

export const geminiCosts: CostsOf = (endpoint) => (endpoint === 'videos' ? sizedVideoRules : tierRules)

/** Only what is read of a request reaches a model of the AI SDK. */
export const aiSdkCosts: CostsOf = (endpoint) => (endpoint === 'videos' ? sizedVideoRules : undefined)

/** For vendors of videos: `sized` where a resolution is held against the size. */
export function videoCosts(sized: boolean): CostsOf {
  return () => (sized ? sizedVideoRules : videoRules)
}
