/**
 * The fields of each vendor that change the cost. Sources: the API references of OpenAI, Azure, Groq, OpenRouter, xAI,
 * Alibaba, Together, Anthropic, Google and ByteDance; LiteLLM's documentation for the fields that proxies read.
 */
import type { CostRules, CostsOf, Harmless } from './contract.ts'
import { chatConversation, messageConversation, responseConversation } from './conversation.ts'

type HarmlessFields = Readonly<Record<string, Harmless>>

const tier = ['auto', 'default', 'standard', 'standard_only', 'on_demand']

/** Select another speed or guarantee at another price. */
const tiers: HarmlessFields = { service_tier: tier }

/** Enable searches, which vendors charge one by one. */
const searches: HarmlessFields = {
  web_search_options: [],
  search_parameters: (value) => (Object(value) as { mode?: unknown }).mode === 'off',
  enable_search: [false],
  enable_code_interpreter: [false],
}

/** A voice of the host's account is named by its id. */
const hasPublicVoice: Harmless = (value) => typeof (Object(value) as { voice?: unknown }).voice !== 'object'

/** Select the model, the vendor behind it, or paid plugins at routers such as OpenRouter. */
const routing: HarmlessFields = {
  models: [],
  route: [],
  provider: [],
  plugins: [],
  preset: [],
  fallbacks: [],
  image_config: [],
}

/** OpenRouter's shorthands in the names of models. */
const nameParts: Readonly<Record<string, string>> = {
  ':online': 'plugins',
  ':nitro': 'provider',
  ':exacto': 'provider',
  '@preset/': 'preset',
}

/** Select the deployment and the key at proxies that read them from the request. */
const proxying: HarmlessFields = {
  context_window_fallbacks: [],
  content_policy_fallbacks: [],
  api_base: [],
  base_url: [],
  api_key: [],
  organization: [],
  extra_headers: [],
  custom_llm_provider: [],
  user_config: [],
}

const anthropicFields: HarmlessFields = {
  ...tiers,
  speed: ['standard'],
  inference_geo: ['global'],
  mcp_servers: [],
  container: [],
}

/** For images: some vendors charge by the amount of computation. */
const drawing: HarmlessFields = {
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

/** For videos. `size` is not listed: it is validated and priced by the gateway. */
const filming: HarmlessFields = {
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
  audio: [false, 'false'],
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

/** `hosted`: a vendor without special fields. `everything`: an unknown vendor, which may have any of the fields. */
const known: Readonly<Record<KnownVendor, HarmlessFields>> = {
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

/**
 * For vendors that receive requests in OpenAI's format. `hasResponses`, `hasMessages`: the vendor serves these endpoints
 * too.
 */
export function openaiCosts(vendor: KnownVendor, hasResponses: boolean, hasMessages: boolean): CostsOf {
  const fields = known[vendor]
  if (vendor === 'local') return () => localRules
  const named = 'plugins' in fields ? { nameParts } : {}
  const chats: CostRules = {
    fields: { ...fields, audio: hasPublicVoice },
    conversation: chatConversation,
    clientTools: ['function', 'custom'],
    ...named,
  }
  const responses: CostRules = {
    fields: { ...fields, max_tool_calls: [], access_programs: [], multi_agent: [] },
    conversation: responseConversation,
    ...named,
    clientTools: responseTools,
    // Coding agents offer it to every model.
    offeredTools: ['web_search'],
  }
  const images: CostRules = { fields: { ...fields, ...drawing }, fileFields: ['images', 'image', 'mask'], ...named }
  const videos: CostRules = { fields: { ...fields, ...filming }, fileFields: ['input_reference'], ...named }
  const others: CostRules = { fields, ...named }
  const rules = new Map<string, CostRules>([
    ['chat.completions', chats],
    ['completions', chats],
    // Without it, responses are translated to chats, which never contain tools that run at the vendor.
    ...(['responses', 'responses.compact'] as const).map(
      (name) => [name, hasResponses ? responses : { ...others, isTranslated: true }] as const,
    ),
    ['messages', { ...(hasMessages ? messagesOf(fields) : translatedRules), ...named }],
    ['images.generations', images],
    ['images.edits', images],
    ['images.variations', images],
    ['videos', videos],
  ])
  return (endpoint) => rules.get(endpoint) ?? others
}

function messagesOf(fields: HarmlessFields): CostRules {
  return { ...messageRules, fields: { ...fields, ...messageRules.fields } }
}

const localRules: CostRules = { fields: {} }

const anthropicRules: CostRules = { fields: anthropicFields }

const anthropicTranslatedRules: CostRules = { fields: anthropicFields, isTranslated: true }

/** For a vendor that receives messages as they are. */
const messageRules: CostRules = {
  fields: {
    ...anthropicFields,
    fallbacks: [],
    fallback_credit_token: [],
    billing_policy: [],
    // State in the host's account.
    thread: [],
    // Cloud services read beta features from the body, where the rules for the header do not reach them.
    anthropic_beta: [],
    betas: [],
  },
  // Coding agents send them to every model, and work without them.
  offeredFields: [
    'service_tier',
    'speed',
    'fallbacks',
    'fallback_credit_token',
    'billing_policy',
    'anthropic_beta',
    'betas',
  ],
  conversation: messageConversation,
  clientTools: ['custom', 'bash_', 'text_editor_', 'computer_', 'browser_', 'memory_', 'tool_search_'],
  offeredTools: [''],
  freesChoice: true,
}

/** For messages that are translated: the translation passes on no other fields, and not these. */
const translatedRules: CostRules = {
  fields: { ...tiers, speed: ['standard'] },
  offeredFields: ['service_tier', 'speed'],
}

export const anthropicCosts: CostsOf = (endpoint) => {
  if (endpoint === 'messages') return messageRules
  return endpoint === 'chat.completions' ? anthropicRules : anthropicTranslatedRules
}

/** The fields of `anthropicCosts` that Claude's API has under the same name: passed on if the host allows them. */
export const anthropicExtras: readonly string[] = ['speed', 'inference_geo', 'mcp_servers', 'container']

const videoRules: CostRules = { fields: filming }

/** For providers that reject a `resolution` which contradicts `size`: one that agrees is already in the price. */
const sizedVideoRules: CostRules = {
  fields: { ...filming, resolution: (_, field) => field('size') !== undefined },
}

const tierRules: CostRules = { fields: tiers }

export const geminiCosts: CostsOf = (endpoint) => {
  if (endpoint === 'messages') return translatedRules
  return endpoint === 'videos' ? sizedVideoRules : tierRules
}

/** For models of the AI SDK: they receive only the fields that our adapter reads. */
export const aiSdkCosts: CostsOf = (endpoint) => (endpoint === 'videos' ? sizedVideoRules : localRules)

/** For video vendors. `sized`: the provider rejects a `resolution` that contradicts `size`. */
export function videoCosts(sized: boolean): CostsOf {
  return () => (sized ? sizedVideoRules : videoRules)
}
