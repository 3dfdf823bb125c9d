/**
 * Usages of vendors with what they cost by price lists that name where each was read. A sum has the form `quantity*price + …`, with
 * prices in dollars per million units, so that it is in millionths of a dollar. Recordings are in the shared data.
 */
import type { PriceOptions } from '../../src/money/prices/price-options.ts'

export type Wire =
  | 'chat'
  | 'completion'
  | 'responses'
  | 'messages'
  | 'gemini'
  | 'images'
  | 'transcription'
  | 'embeddings'

export interface Published {
  /** The vendor's id in the price table, and the name of the model there. */
  readonly model: `${string}/${string}`
  readonly wire: Wire
  /** A recording, or the part of a response that reports usage. */
  readonly usage: string | Readonly<Record<string, unknown>>
  /** Other fields of the response. */
  readonly rest?: Readonly<Record<string, unknown>>
  /**
   * Where the vendor documents such usages. Read were the pages about fast mode, images, audio, usage of OpenRouter (which
   * does not mention `server_tool_use`) and the cache of Alibaba. Default: it was recorded.
   */
  readonly from?: string
  readonly sum: string
  /** Default: the list price of the model. */
  readonly price?: PriceOptions
}

export interface PriceList {
  /** Where the prices were read: pages, files of repositories, or a package, whose fees of tools hold for all. Absent: nowhere. */
  readonly source?: string | readonly string[]
  /** Prices that the source does not state; `*` means all. */
  readonly unconfirmed?: readonly string[]
  readonly price: PriceOptions
}

const packageData = 'npm:@pydantic/genai-prices@0.1.8'
const sources: Readonly<Record<string, string | readonly string[]>> = {
  'anthropic/claude-opus-4-5': 'https://platform.claude.com/docs/en/about-claude/pricing',
  'anthropic/claude-opus-5': 'https://platform.claude.com/docs/en/about-claude/pricing',
  'anthropic/claude-fable-5': 'https://platform.claude.com/docs/en/about-claude/pricing',
  'anthropic/claude-fable-5-1': 'https://platform.claude.com/docs/en/about-claude/pricing',
  'anthropic/claude-opus-4-6': [
    'https://platform.claude.com/docs/en/about-claude/pricing',
    'https://platform.claude.com/docs/en/build-with-claude/fast-mode',
  ],
  'anthropic/claude-sonnet-4-5': 'https://platform.claude.com/docs/zh-CN/about-claude/pricing',
  'anthropic/claude-sonnet-4': 'https://platform.claude.com/docs/zh-CN/about-claude/pricing',
  'anthropic/claude-sonnet-4-6': 'https://platform.claude.com/docs/zh-CN/about-claude/pricing',
  'anthropic/claude-haiku-4-5': 'https://platform.claude.com/docs/zh-CN/about-claude/pricing',
  'anthropic/claude-3-haiku-20240307': 'https://platform.claude.com/docs/zh-CN/about-claude/pricing',
  'anthropic/claude-opus-5-5': 'https://platform.claude.com/docs/zh-CN/models/opus-5-5/overview',
  'openai/gpt-4o-2024-08-06': 'https://hex.pm/packages/openai_responses/0.4.1/files/lib/responses/pricing.ex',
  'openai/gpt-4o-audio-preview': 'https://developers.openai.com/api/docs/models/gpt-4o-audio-preview.md',
  'openai/gpt-5': [
    'https://raw.githubusercontent.com/outl1ne/openai-pricing/refs/heads/main/pricing.json',
    'https://openai.com/api-priority-processing/',
  ],
  'openai/gpt-5-nano': 'https://raw.githubusercontent.com/outl1ne/openai-pricing/refs/heads/main/pricing.json',
  'openai/gpt-5.2': 'https://raw.githubusercontent.com/github/docs/main/data/tables/copilot/models-and-pricing.yml',
  'openai/gpt-5.3-codex':
    'https://raw.githubusercontent.com/github/docs/main/data/tables/copilot/models-and-pricing.yml',
  'openai/gpt-5.4': ['https://www.morphllm.com/openai-api-pricing', 'https://wavespeed.ai/zh-CN/llm/openai/gpt-5.4'],
  'openai/gpt-5.5': 'https://www.morphllm.com/openai-api-pricing',
  'openai/gpt-5.6-sol': 'https://developers.openai.com/pt-BR/api/docs/models/gpt-5.6-sol',
  'openai/o3-mini': 'https://raw.githubusercontent.com/simonw/llm-prices/main/data/openai.json',
  'openai/gpt-3.5-turbo-instruct': 'https://gist.github.com/sj82516/862bed5e43648beef473a0635111c65f',
  'openai/gpt-image-1': 'https://developers.openai.com/ja-JP/api/docs/models/gpt-image-1',
  'openai/dall-e-3': 'https://github.com/kevinhermawan/Canvas/blob/main/model-info.json',
  'openai/gpt-4o-transcribe': 'https://developers.openai.com/api/docs/models/gpt-4o-transcribe.md',
  'openai/whisper-1': 'https://developers.openai.com/pt-BR/api/docs/models/whisper-1',
  'google/gemini-2.5-pro': [
    'https://deploybase.ai/articles/gemini-api-pricing-2026',
    'https://docs.llmgateway.io/features/service-tiers',
    'https://ai.google.dev/gemini-api/docs/optimization',
  ],
  'deepseek/deepseek-v4-flash': 'https://api-docs.deepseek.com/quick_start/pricing/',
  'deepseek/deepseek-reasoner': 'https://api-docs.deepseek.com/quick_start/pricing-details-usd',
  'x-ai/grok-3-mini': 'https://www.openrouter.ai/x-ai/grok-3-mini',
  'openrouter/moonshotai/kimi-k2': 'https://github.com/wubin1989/opencode/pull/34',
  'groq/llama-3.3-70b-versatile': 'https://smithery.ai/skills/jeremylongshore/groq-cost-tuning',
  'mistral/mistral-medium-latest': 'https://github.com/braintrustdata/braintrust-proxy/issues/802',
  'mistral/mistral-small-latest':
    'https://skills.sh/jeremylongshore/claude-code-plugins-plus-skills/mistral-cost-tuning',
  'alibaba/qwen3-max': [
    'https://vercel.com/ai-gateway/models/qwen3-max.md',
    'https://raw.githubusercontent.com/api-evangelist/qwen/refs/heads/main/plans/qwen-plans-pricing.yml',
    'https://www.alibabacloud.com/help/en/model-studio/context-cache',
  ],
  'openai/text-embedding-3-large':
    'https://glama.ai/mcp/servers/@wn01011/llm-token-tracker/blob/559509dd5609ed749c4d579236cd74d87b6d5457/src/pricing.ts',
  'perplexity/sonar': 'https://docs.perplexity.ai/docs/legacy/sonar/models/sonar',
}

/** What no source states, by model. */
const unconfirmed: Readonly<Record<string, readonly string[]>> = {
  'anthropic/claude-sonnet-4-5': ['longPrompts'],
  'anthropic/claude-opus-4-6': ['serviceTiers.us'],
  'openai/gpt-5': ['serviceTiers.flex'],
  'openai/gpt-4o-audio-preview': ['cached'],
  'openai/gpt-5.4': ['longPrompts.cached'],
  'openai/gpt-5.6-sol': ['cacheWrite'],
  'openai/o3': ['tools.code_interpreter'],
  'openai/gpt-image-1.5': ['*'],
  'google/gemini-3-pro-preview': ['tools.web_search'],
  'x-ai/grok-3-mini': ['cached'],
  'openrouter/anthropic/claude-sonnet-4': ['tools.web_search'],
  'groq/whisper-large-v3': ['*'],
  'mistral/mistral-medium-latest': ['cached'],
  'alibaba/qwen3-max': ['longPrompts.output', 'longPrompts.32000'],
}

/** Price lists as of autumn 2026, or the last one of a model that is no longer sold. DeepSeek: outside of peak hours. */
export const lists: Readonly<Record<string, PriceList>> = sourced({
  'anthropic/claude-sonnet-4-5': claude('3', '3.75', '6', '0.3', '15', {
    longPrompts: [{ above: 200_000, input: '6', cacheWrite: '7.5', cacheWrite1h: '12', cached: '0.6', output: '22.5' }],
  }),
  'anthropic/claude-sonnet-4': claude('3', '3.75', '6', '0.3', '15'),
  'anthropic/claude-sonnet-4-6': claude('3', '3.75', '6', '0.3', '15'),
  'anthropic/claude-opus-4-5': claude('5', '6.25', '10', '0.5', '25'),
  'anthropic/claude-opus-4-6': claude('5', '6.25', '10', '0.5', '25', {
    serviceTiers: {
      batch: '0.5',
      fast: { input: '30', output: '150', cached: '3', cacheWrite: '37.5', cacheWrite1h: '60' },
      us: '1.1',
    },
  }),
  'anthropic/claude-opus-5': claude('5', '6.25', '10', '0.5', '25'),
  'anthropic/claude-opus-5-5': claude('4', '5', '8', '0.2', '20'),
  'anthropic/claude-fable-5': claude('10', '12.5', '20', '1', '50'),
  'anthropic/claude-fable-5-1': claude('10', '12.5', '20', '0.25', '50'),
  'anthropic/claude-haiku-4-5': claude('1', '1.25', '2', '0.1', '5'),
  'anthropic/claude-3-haiku-20240307': claude('0.25', '0.3', '0.5', '0.03', '1.25'),
  'openai/gpt-4o-2024-08-06': openai('2.5', '1.25', '10'),
  'openai/gpt-4o-audio-preview': openai('2.5', '2.5', '10', { inputAudio: '40', outputAudio: '80' }),
  'openai/gpt-5': openai('1.25', '0.125', '10', {
    serviceTiers: { flex: '0.5', batch: '0.5', priority: { input: '2.5', cached: '0.25', output: '20' } },
  }),
  'openai/gpt-5-nano': openai('0.05', '0.005', '0.4'),
  'openai/gpt-5.2': openai('1.75', '0.175', '14'),
  'openai/gpt-5.3-codex': openai('1.75', '0.175', '14'),
  'openai/gpt-5.4': openai('2.5', '0.25', '15', {
    longPrompts: [{ above: 272_000, input: '5', cached: '0.5', output: '22.5' }],
  }),
  'openai/gpt-5.5': openai('5', '0.5', '30'),
  'openai/gpt-5.6-sol': openai('4', '0.4', '20', { cacheWrite: '5' }),
  'openai/o3': openai('2', '0.5', '8', {
    tools: { web_search: '0.01', file_search: '0.0025', code_interpreter: '0.03' },
  }),
  'openai/o3-mini': openai('1.1', '0.55', '4.4'),
  'openai/gpt-3.5-turbo-instruct': { input: '1.5', output: '2' },
  'openai/text-embedding-3-large': { input: '0.13' },
  'openai/gpt-image-1': { input: '5', cached: '1.25', output: '40', inputImage: '10', cachedImage: '2.5' },
  'openai/gpt-image-1.5': {
    input: '5',
    cached: '1.25',
    output: '10',
    inputImage: '8',
    cachedImage: '2',
    outputImage: '32',
  },
  'openai/dall-e-3': {
    image: { '1024x1024 standard': '0.04', '1024x1024 hd': '0.08', '1024x1792 standard': '0.08', '*': '0.12' },
  },
  'openai/gpt-4o-transcribe': { input: '2.5', output: '10', inputAudio: '2.5' },
  'openai/whisper-1': { hour: '0.36' },
  'google/gemini-2.5-flash': gemini('0.3', '0.03', '2.5', { inputAudio: '1', cachedAudio: '0.1' }),
  'google/gemini-2.5-pro': gemini('1.25', '0.125', '10', {
    longPrompts: [{ above: 200_000, input: '2.5', cached: '0.25', output: '15' }],
    serviceTiers: { flex: '0.5', priority: '1.8' },
  }),
  'google/gemini-2.5-flash-image': { input: '0.3', output: '2.5', outputImage: '30' },
  'google/gemini-3-flash-preview': gemini('0.5', '0.05', '3', { inputAudio: '1', cachedAudio: '0.1' }),
  'google/gemini-3-pro-preview': gemini('2', '0.2', '12', {
    longPrompts: [{ above: 200_000, input: '4', cached: '0.4', output: '18' }],
    tools: { web_search: '0.014' },
  }),
  'google/gemini-3.1-pro-preview': gemini('2', '0.2', '12'),
  'google/gemini-2.0-flash': gemini('0.1', '0.025', '0.4'),
  'deepseek/deepseek-v4-flash': { input: '0.15', cached: '0.003', output: '0.6' },
  'deepseek/deepseek-reasoner': { input: '0.55', cached: '0.14', output: '2.19' },
  'moonshotai/kimi-k2.6': { input: '0.95', cached: '0.16', output: '4' },
  'x-ai/grok-3-mini': { input: '0.3', cached: '0.075', output: '0.5' },
  'openrouter/moonshotai/kimi-k2': { input: '0.57', output: '2.3' },
  'openrouter/anthropic/claude-sonnet-4': {
    input: '3',
    cached: '0.3',
    cacheWrite: '3.75',
    output: '15',
    tools: { web_search: '0.01' },
  },
  'groq/llama-3.3-70b-versatile': { input: '0.59', output: '0.79' },
  'groq/whisper-large-v3': { hour: '0.111', minimumSeconds: 10 },
  'mistral/mistral-medium-latest': { input: '1.5', cached: '0.15', output: '7.5' },
  'mistral/mistral-small-latest': { input: '0.1', output: '0.3' },
  'perplexity/sonar': { input: '1', output: '1', request: '0.005' },
  'alibaba/qwen3-max': {
    input: '1.2',
    output: '6',
    cached: '0.24',
    longPrompts: [
      { above: 32_000, input: '2.4', output: '12', cached: '0.48' },
      { above: 128_000, input: '3', output: '15', cached: '0.6' },
    ],
  },
})

function sourced(prices: Readonly<Record<string, PriceOptions>>): Record<string, PriceList> {
  return Object.fromEntries(
    Object.entries(prices).map(([model, price]) => {
      const missing = unconfirmed[model]
      if (missing?.includes('*')) return [model, { unconfirmed: missing, price }]
      return [model, { source: sources[model] ?? packageData, ...(missing && { unconfirmed: missing }), price }]
    }),
  )
}

function claude(
  input: string,
  write5m: string,
  write1h: string,
  read: string,
  output: string,
  more: PriceOptions = {},
): PriceOptions {
  const price = {
    input,
    cacheWrite: write5m,
    cacheWrite1h: write1h,
    cached: read,
    output,
    tools: { web_search: '0.01' },
  }
  return { ...price, ...more }
}

function openai(input: string, cached: string, output: string, more: PriceOptions = {}): PriceOptions {
  const tools = { web_search: '0.01', file_search: '0.0025' }
  return { input, cached, output, tools, ...more }
}

function gemini(input: string, cached: string, output: string, more: PriceOptions = {}): PriceOptions {
  return { input, cached, output, ...more }
}

const caching = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching'
const searching = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool'
const tiering = 'https://platform.claude.com/docs/en/api/service-tiers'
const chatReference = 'https://developers.openai.com/api/docs/api-reference/chat/object'
const responsesReference = 'https://developers.openai.com/api/docs/api-reference/responses/object'
const imagesReference =
  'https://v03.api.js.langchain.com/interfaces/_langchain_openai.OpenAIClient.Images.ImagesResponse.Usage-1.html'
const audioReference = 'https://www.rubydoc.info/gems/openai/OpenAI/Models/Audio/Transcription/Usage/Tokens'
const geminiReference = 'https://ai.google.dev/api/generate-content#UsageMetadata'
const deepseekReference = 'https://api-docs.deepseek.com/guides/kv_cache'
const openrouterReference = 'https://openrouter.ai/docs/use-cases/usage-accounting'
const qwenReference = 'https://www.alibabacloud.com/help/en/model-studio/context-cache'

const text = (tokenCount: number) => ({ modality: 'TEXT', tokenCount })
const audio = (tokenCount: number) => ({ modality: 'AUDIO', tokenCount })

export const published: readonly Published[] = [
  // Anthropic, recorded.
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    usage: 'anthropic/cache-write-and-read.json',
    sum: '3*3 + 418*3.75 + 1111*0.3 + 33*15',
  },
  {
    model: 'anthropic/claude-sonnet-4-6',
    wire: 'messages',
    usage: 'anthropic/compaction-stream.sse',
    sum: '100*3 + 55096*0.3 + 83*15 + 181*3 + 8*15',
  },
  {
    model: 'anthropic/claude-3-haiku-20240307',
    wire: 'messages',
    usage: 'anthropic/duplicate-message-start-stream.sse',
    sum: '17*0.25 + 227*1.25',
  },
  {
    model: 'anthropic/claude-opus-4-5',
    wire: 'messages',
    usage: 'anthropic/message-delta-input-tokens-stream.sse',
    sum: '61*5 + 2*25',
  },
  {
    model: 'anthropic/claude-haiku-4-5',
    wire: 'messages',
    usage: 'anthropic/parallel-tool-results.json',
    sum: '771*1 + 77*5',
  },
  {
    model: 'anthropic/claude-haiku-4-5',
    wire: 'messages',
    usage: 'anthropic/parallel-tools-with-text.json',
    sum: '423*1 + 202*5',
  },
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    usage: 'anthropic/pause-turn.json',
    sum: '401468*6 + 792*22.5 + 10*10000',
  },
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    usage: 'anthropic/redacted-thinking.json',
    sum: '92*3 + 196*15',
  },
  { model: 'anthropic/claude-fable-5', wire: 'messages', usage: 'anthropic/refusal.json', sum: '18*10 + 5*50' },
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    usage: 'anthropic/server-tool-code-execution.json',
    sum: '4612*3 + 80*15',
  },
  {
    model: 'anthropic/claude-sonnet-4-6',
    wire: 'messages',
    usage: 'anthropic/server-tool-then-client-tool-stream.sse',
    sum: '1591*3 + 175*15',
  },
  {
    model: 'anthropic/claude-sonnet-4-6',
    wire: 'messages',
    usage: 'anthropic/server-tool-then-client-tool.json',
    sum: '1594*3 + 132*15',
  },
  { model: 'anthropic/claude-sonnet-4-5', wire: 'messages', usage: 'anthropic/stop-sequence.json', sum: '32*3 + 5*15' },
  { model: 'anthropic/claude-sonnet-4-5', wire: 'messages', usage: 'anthropic/text-stream.sse', sum: '20*3 + 5*15' },
  {
    model: 'anthropic/claude-sonnet-4',
    wire: 'messages',
    usage: 'anthropic/thinking-stream.sse',
    sum: '43*3 + 282*15',
  },
  {
    model: 'anthropic/claude-opus-5',
    wire: 'messages',
    usage: 'anthropic/thinking-tokens.json',
    sum: '51*5 + 1699*25',
  },
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    usage: 'anthropic/tool-no-args-stream.sse',
    sum: '565*3 + 48*15',
  },
  {
    model: 'anthropic/claude-sonnet-4',
    wire: 'messages',
    usage: 'anthropic/web-search-citations.json',
    sum: '8984*3 + 520*15 + 1*10000',
  },
  // Anthropic, from its documents.
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    from: caching,
    usage: {
      input_tokens: 2048,
      cache_read_input_tokens: 1800,
      cache_creation_input_tokens: 248,
      output_tokens: 503,
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
    },
    sum: '2048*3 + 1800*0.3 + 148*3.75 + 100*6 + 503*15',
  },
  {
    model: 'anthropic/claude-opus-5-5',
    wire: 'messages',
    from: caching,
    usage: {
      input_tokens: 50,
      cache_read_input_tokens: 100_000,
      cache_creation_input_tokens: 188_086,
      output_tokens: 393,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 188_086 },
    },
    sum: '50*4 + 100000*0.2 + 188086*8 + 393*20',
  },
  {
    model: 'anthropic/claude-fable-5-1',
    wire: 'messages',
    from: caching,
    usage: { input_tokens: 21, cache_read_input_tokens: 188_087, cache_creation_input_tokens: 0, output_tokens: 393 },
    sum: '21*10 + 188087*0.25 + 393*50',
  },
  {
    model: 'anthropic/claude-sonnet-4-5',
    wire: 'messages',
    from: caching,
    usage: {
      input_tokens: 1,
      cache_read_input_tokens: 190_000,
      cache_creation_input_tokens: 10_000,
      output_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 10_000, ephemeral_1h_input_tokens: 0 },
    },
    sum: '1*6 + 190000*0.6 + 10000*7.5 + 1*22.5',
  },
  {
    model: 'anthropic/claude-opus-5',
    wire: 'messages',
    from: searching,
    usage: {
      input_tokens: 105,
      output_tokens: 6039,
      cache_read_input_tokens: 7123,
      cache_creation_input_tokens: 7345,
      server_tool_use: { web_search_requests: 1 },
    },
    sum: '105*5 + 6039*25 + 7123*0.5 + 7345*6.25 + 1*10000',
  },
  {
    model: 'anthropic/claude-opus-4-6',
    wire: 'messages',
    from: tiering,
    usage: {
      input_tokens: 410,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 585,
      service_tier: 'batch',
    },
    sum: '410*2.5 + 585*12.5',
  },
  {
    model: 'anthropic/claude-opus-4-6',
    wire: 'messages',
    from: 'https://platform.claude.com/docs/en/build-with-claude/fast-mode',
    usage: {
      input_tokens: 523,
      output_tokens: 1842,
      cache_read_input_tokens: 1000,
      speed: 'fast',
      service_tier: 'standard',
    },
    sum: '523*30 + 1842*150 + 1000*3',
  },
  {
    model: 'anthropic/claude-opus-4-6',
    wire: 'messages',
    from: 'https://platform.claude.com/docs/en/build-with-claude/data-residency',
    usage: { input_tokens: 25, output_tokens: 150, inference_geo: 'us' },
    sum: '25*5.5 + 150*27.5',
  },
  // OpenAI, recorded.
  { model: 'openai/gpt-5.6-sol', wire: 'chat', usage: 'openai/chat-cache-write.json', sum: '8*4 + 4012*5 + 4*20' },
  { model: 'openai/gpt-4o-2024-08-06', wire: 'chat', usage: 'openai/chat-parallel-tools.json', sum: '71*2.5 + 46*10' },
  { model: 'openai/o3-mini', wire: 'chat', usage: 'openai/chat-reasoning-tokens.json', sum: '13*1.1 + 85*4.4' },
  {
    model: 'openai/gpt-4o-2024-08-06',
    wire: 'chat',
    usage: 'openai/chat-stream-tools-parallel.sse',
    sum: '364*2.5 + 40*10',
  },
  { model: 'openai/gpt-5-nano', wire: 'chat', usage: 'azure/chat-stream-model-router.sse', sum: '15*0.05 + 78*0.4' },
  {
    model: 'openai/gpt-3.5-turbo-instruct',
    wire: 'completion',
    usage: 'openai/completion-stream.sse',
    sum: '14*1.5 + 16*2',
  },
  { model: 'openai/text-embedding-3-large', wire: 'embeddings', usage: 'openai/embedding-float.json', sum: '1*0.13' },
  {
    model: 'openai/gpt-5.2',
    wire: 'responses',
    usage: 'openai/responses-annotations.json',
    sum: '8530*1.75 + 98*14 + 1*10000',
  },
  {
    model: 'openai/gpt-5.3-codex',
    wire: 'responses',
    usage: 'openai/responses-id-rotation-stream.sse',
    sum: '19*1.75 + 105*14',
  },
  {
    model: 'openai/gpt-5.5',
    wire: 'responses',
    usage: 'openai/responses-reasoning-encrypted.json',
    sum: '63*5 + 72*30',
  },
  { model: 'openai/gpt-5.5', wire: 'responses', usage: 'openai/responses-stream-tool.sse', sum: '58*5 + 23*30' },
  { model: 'openai/whisper-1', wire: 'transcription', usage: 'openai/transcription-verbose.json', sum: '37*100' },
  // OpenAI, from its documents.
  {
    model: 'openai/gpt-5',
    wire: 'chat',
    from: chatReference,
    usage: {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    rest: { service_tier: 'default' },
    sum: '86*1.25 + 1920*0.125 + 300*10',
  },
  {
    model: 'openai/gpt-5',
    wire: 'chat',
    from: 'https://developers.openai.com/api/docs/guides/flex-processing',
    usage: {
      prompt_tokens: 2006,
      completion_tokens: 301,
      total_tokens: 2307,
      prompt_tokens_details: { cached_tokens: 1920 },
    },
    rest: { service_tier: 'flex' },
    sum: '86*0.625 + 1920*0.0625 + 301*5',
  },
  {
    model: 'openai/gpt-5',
    wire: 'responses',
    from: 'https://developers.openai.com/api/docs/guides/priority-processing',
    usage: {
      input_tokens: 87,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 1035,
      output_tokens_details: { reasoning_tokens: 832 },
      total_tokens: 1122,
    },
    rest: { service_tier: 'priority' },
    sum: '67*2.5 + 20*0.25 + 1035*20',
  },
  {
    model: 'openai/gpt-4o-audio-preview',
    wire: 'chat',
    from: chatReference,
    usage: {
      prompt_tokens: 108,
      completion_tokens: 151,
      total_tokens: 259,
      prompt_tokens_details: { audio_tokens: 90, text_tokens: 18, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 120, text_tokens: 31, reasoning_tokens: 0 },
    },
    sum: '18*2.5 + 90*40 + 31*10 + 120*80',
  },
  {
    model: 'openai/gpt-5.4',
    wire: 'responses',
    from: responsesReference,
    usage: {
      input_tokens: 272_001,
      input_tokens_details: { cached_tokens: 200_000 },
      output_tokens: 1_000,
      output_tokens_details: { reasoning_tokens: 500 },
      total_tokens: 273_001,
    },
    sum: '72001*5 + 200000*0.5 + 1000*22.5',
  },
  {
    model: 'openai/gpt-5.4',
    wire: 'responses',
    from: responsesReference,
    usage: {
      input_tokens: 272_000,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1_000,
      output_tokens_details: { reasoning_tokens: 500 },
      total_tokens: 273_000,
    },
    sum: '272000*2.5 + 1000*15',
  },
  {
    model: 'openai/o3',
    wire: 'responses',
    from: 'https://developers.openai.com/api/docs/guides/tools-code-interpreter',
    usage: {
      input_tokens: 328,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 52,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 380,
    },
    rest: {
      output: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
        {
          type: 'web_search_call',
          id: 'ws_2',
          status: 'completed',
          action: { type: 'open_page', url: 'https://example.com' },
        },
        { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['b'], results: null },
        {
          type: 'code_interpreter_call',
          id: 'ci_1',
          status: 'completed',
          container_id: 'cntr_1',
          code: '1',
          outputs: null,
        },
        {
          type: 'code_interpreter_call',
          id: 'ci_2',
          status: 'completed',
          container_id: 'cntr_1',
          code: '2',
          outputs: null,
        },
      ],
    },
    sum: '328*2 + 52*8 + 1*10000 + 1*2500 + 1*30000',
  },
  {
    model: 'openai/gpt-image-1',
    wire: 'images',
    from: imagesReference,
    usage: {
      total_tokens: 100,
      input_tokens: 50,
      output_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    },
    sum: '10*5 + 40*10 + 50*40',
  },
  {
    model: 'openai/gpt-image-1.5',
    wire: 'images',
    from: imagesReference,
    usage: {
      total_tokens: 4_210,
      input_tokens: 50,
      output_tokens: 4_160,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    },
    sum: '10*5 + 40*8 + 4160*32',
  },
  {
    model: 'openai/gpt-image-1.5',
    wire: 'images',
    from: imagesReference,
    usage: {
      total_tokens: 1_372,
      input_tokens: 300,
      output_tokens: 1_072,
      input_tokens_details: { text_tokens: 44, image_tokens: 256 },
      output_tokens_details: { text_tokens: 16, image_tokens: 1_056 },
    },
    sum: '44*5 + 256*8 + 16*10 + 1056*32',
  },
  {
    model: 'openai/dall-e-3',
    wire: 'images',
    from: imagesReference,
    usage: {},
    rest: { size: '1024x1024', quality: 'hd' },
    sum: '1*80000',
  },
  {
    model: 'openai/gpt-4o-transcribe',
    wire: 'transcription',
    from: audioReference,
    usage: {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 4, audio_tokens: 10 },
      output_tokens: 101,
      total_tokens: 115,
    },
    sum: '4*2.5 + 10*2.5 + 101*10',
  },
  // Google, recorded.
  { model: 'google/gemini-2.5-flash', wire: 'gemini', usage: 'gemini/cached.json', sum: '8*0.3 + 3512*0.03 + 44*2.5' },
  {
    model: 'google/gemini-3-flash-preview',
    wire: 'gemini',
    usage: 'gemini/code-execution-stream.sse',
    sum: '507*0.5 + 276*3',
  },
  { model: 'google/gemini-2.5-flash-image', wire: 'gemini', usage: 'gemini/image-output.json', sum: '9*0.3 + 1290*30' },
  { model: 'google/gemini-2.5-flash', wire: 'gemini', usage: 'gemini/logprobs.json', sum: '6*0.3 + 24*2.5' },
  {
    model: 'google/gemini-3-flash-preview',
    wire: 'gemini',
    usage: 'gemini/parallel-tools-no-args.json',
    sum: '83*0.5 + 220*3',
  },
  {
    model: 'google/gemini-3.1-pro-preview',
    wire: 'gemini',
    usage: 'gemini/partial-args-stream.sse',
    sum: '26*2 + 155*12',
  },
  {
    model: 'google/gemini-3-pro-preview',
    wire: 'gemini',
    usage: 'gemini/signature-in-empty-text-stream.sse',
    sum: '9*2 + 325*12',
  },
  { model: 'google/gemini-2.0-flash', wire: 'gemini', usage: 'gemini/text-stream.sse', sum: '13*0.1 + 8*0.4' },
  { model: 'google/gemini-3-pro-preview', wire: 'gemini', usage: 'gemini/thought-parts.json', sum: '29*2 + 1737*12' },
  {
    model: 'google/gemini-3-flash-preview',
    wire: 'gemini',
    usage: 'gemini/tool-result-turn.json',
    sum: '161*0.5 + 72*3',
  },
  {
    model: 'google/gemini-3-pro-preview',
    wire: 'gemini',
    usage: 'gemini/tool-stream-signature.sse',
    sum: '29*2 + 212*12',
  },
  {
    model: 'google/gemini-2.5-flash',
    wire: 'gemini',
    usage: 'gemini/tool-use-prompt-tokens.json',
    sum: '2427*0.3 + 88*2.5',
  },
  // Google, from its documents.
  {
    model: 'google/gemini-2.5-flash',
    wire: 'gemini',
    from: geminiReference,
    usage: {
      promptTokenCount: 1_500,
      cachedContentTokenCount: 1_000,
      candidatesTokenCount: 20,
      totalTokenCount: 1_520,
      promptTokensDetails: [text(300), audio(1_200)],
      cacheTokensDetails: [text(100), audio(900)],
    },
    sum: '200*0.3 + 100*0.03 + 300*1 + 900*0.1 + 20*2.5',
  },
  {
    model: 'google/gemini-2.5-pro',
    wire: 'gemini',
    from: geminiReference,
    usage: {
      promptTokenCount: 200_001,
      cachedContentTokenCount: 100_000,
      candidatesTokenCount: 300,
      thoughtsTokenCount: 700,
      totalTokenCount: 201_001,
      promptTokensDetails: [text(200_001)],
    },
    sum: '100001*2.5 + 100000*0.25 + 1000*15',
  },
  {
    model: 'google/gemini-2.5-pro',
    wire: 'gemini',
    from: 'https://ai.google.dev/gemini-api/docs/flex-inference',
    usage: {
      promptTokenCount: 1_001,
      candidatesTokenCount: 301,
      totalTokenCount: 1_302,
      promptTokensDetails: [text(1_001)],
      serviceTier: 'flex',
    },
    sum: '1001*0.625 + 301*5',
  },
  {
    model: 'google/gemini-2.5-pro',
    wire: 'gemini',
    from: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo',
    usage: {
      promptTokenCount: 11,
      candidatesTokenCount: 7,
      totalTokenCount: 18,
      promptTokensDetails: [text(11)],
      trafficType: 'ON_DEMAND_PRIORITY',
    },
    sum: '11*2.25 + 7*18',
  },
  {
    model: 'google/gemini-3-pro-preview',
    wire: 'gemini',
    from: 'https://ai.google.dev/gemini-api/docs/google-search',
    usage: { promptTokenCount: 12, candidatesTokenCount: 80, totalTokenCount: 92, promptTokensDetails: [text(12)] },
    rest: { groundingMetadata: { webSearchQueries: ['UEFA Euro 2024 winner', 'who won euro 2024'] } },
    sum: '12*2 + 80*12 + 2*14000',
  },
  // Others, recorded. xAI and OpenRouter report the cost themselves: 1,176,500 and 1,330,500 ticks of 10^-10 dollars, and
  // 0.00007159 and 0.00005952 dollars.
  { model: 'x-ai/grok-3-mini', wire: 'chat', usage: 'xai/text.json', sum: '1*117.65' },
  { model: 'x-ai/grok-3-mini', wire: 'chat', usage: 'xai/tool-stream.sse', sum: '1*133.05' },
  { model: 'openrouter/moonshotai/kimi-k2', wire: 'chat', usage: 'openrouter/kimi-tool-stream-a.sse', sum: '1*71.59' },
  { model: 'openrouter/moonshotai/kimi-k2', wire: 'chat', usage: 'openrouter/kimi-tool-stream-c.sse', sum: '1*59.52' },
  {
    model: 'deepseek/deepseek-reasoner',
    wire: 'chat',
    usage: 'deepseek/tool-stream.sse',
    sum: '19*0.55 + 320*0.14 + 83*2.19',
  },
  { model: 'moonshotai/kimi-k2.6', wire: 'chat', usage: 'moonshot/reasoning.json', sum: '10*0.95 + 10*0.16 + 30*4' },
  {
    model: 'groq/llama-3.3-70b-versatile',
    wire: 'chat',
    usage: 'groq/tool-no-args-stream.sse',
    sum: '210*0.59 + 15*0.79',
  },
  {
    model: 'mistral/mistral-medium-latest',
    wire: 'chat',
    usage: 'mistral/num-cached-tokens.json',
    sum: '32*1.5 + 32*0.15 + 6*7.5',
  },
  { model: 'mistral/mistral-small-latest', wire: 'chat', usage: 'mistral/tool-stream.sse', sum: '124*0.1 + 22*0.3' },
  {
    model: 'perplexity/sonar',
    wire: 'chat',
    usage: 'perplexity/stream-usage-each-chunk.sse',
    sum: '11*1 + 434*1 + 1*5000',
  },
  { model: 'alibaba/qwen3-max', wire: 'chat', usage: 'alibaba/tool-stream.sse', sum: '295*1.2 + 22*6' },
  // Others, from their documents.
  {
    model: 'deepseek/deepseek-v4-flash',
    wire: 'chat',
    from: deepseekReference,
    usage: {
      prompt_tokens: 1_024,
      completion_tokens: 33,
      total_tokens: 1_057,
      prompt_cache_hit_tokens: 960,
      prompt_cache_miss_tokens: 64,
    },
    sum: '64*0.15 + 960*0.003 + 33*0.6',
  },
  {
    model: 'openrouter/anthropic/claude-sonnet-4',
    wire: 'chat',
    from: openrouterReference,
    usage: {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 100, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      server_tool_use: { web_search_requests: 2 },
    },
    sum: '94*3 + 100*3.75 + 2*15 + 2*10000',
  },
  {
    model: 'alibaba/qwen3-max',
    wire: 'chat',
    from: qwenReference,
    usage: {
      prompt_tokens: 128_001,
      completion_tokens: 10,
      total_tokens: 128_011,
      prompt_tokens_details: { cached_tokens: 100_000 },
    },
    sum: '28001*3 + 100000*0.6 + 10*15',
  },
  {
    model: 'groq/whisper-large-v3',
    wire: 'transcription',
    from: 'https://console.groq.com/docs/speech-to-text',
    usage: { type: 'duration', seconds: 3 },
    sum: '10*30.833333333333333333',
  },
]
