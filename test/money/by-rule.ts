/**
 * Usages in every combination of caches, reasoning, tools, tiers, modalities and lengths that a vendor reports, with what they cost
 * by the vendor's published rule. The rules are arithmetic on the price lists, whose sources `published.ts` names; they know nothing
 * of the gateway's prices.
 */
import type { Published } from './published.ts'
import { call, combinations, priceOf, ratesFor, some, sumOf } from './rule-parts.ts'

const claudes = [
  'sonnet-4-5',
  'sonnet-4',
  'sonnet-4-6',
  'opus-4-5',
  'opus-4-6',
  'opus-5',
  'opus-5-5',
  'fable-5',
  'fable-5-1',
  'haiku-4-5',
]

/** Input, what is read from a cache and what is written to it are counted apart; a search costs a cent. */
function* anthropic(): Generator<Published> {
  const tiers = (name: string) => (name === 'opus-4-6' ? (['standard', 'batch', 'fast', 'us'] as const) : ['standard'])
  for (const name of claudes) {
    const model = `anthropic/claude-${name}` as const
    const list = priceOf(model)
    const cache = ['none', 'read', 'five minutes', 'one hour', 'all'] as const
    const long = name === 'sonnet-4-5' ? [false, true] : [false]
    for (const each of combinations({ cache, searches: [0, 2], tier: tiers(name), long })) {
      if (each.searches > 0 && each.tier !== 'standard') continue
      const [input, output] = [some(each.long ? 6 : 4) + (each.long ? 200_000 : 0), some(3)]
      const has = (kind: string) => (each.cache === kind || each.cache === 'all' ? some(4) : 0)
      const [read, short, hour] = [has('read'), has('five minutes'), has('one hour')]
      const own = list.serviceTiers?.[each.tier]
      const rates = { ...ratesFor(list, input + read + short + hour), ...(typeof own === 'object' && own) }
      const factor = typeof own === 'string' ? Number(own) : 1
      yield {
        model,
        wire: 'messages',
        usage: {
          input_tokens: input,
          output_tokens: output,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: short + hour,
          cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour },
          ...(each.searches > 0 && { server_tool_use: { web_search_requests: each.searches } }),
          ...(each.tier === 'fast' && { speed: 'fast' }),
          ...(each.tier === 'us' && { inference_geo: 'us' }),
          ...(each.tier === 'batch' && { service_tier: 'batch' }),
        },
        from: `cache: ${each.cache}, searches: ${each.searches}, tier: ${each.tier}, long: ${each.long}`,
        sum: sumOf([
          [input, rates.input, factor],
          [read, rates.cached, factor],
          [short, rates.cacheWrite, factor],
          [hour, rates.cacheWrite1h, factor],
          [output, rates.output, factor],
          [each.searches, call(list.tools?.['web_search'])],
        ]),
      }
    }
  }
}

const gpts = [
  'gpt-5',
  'gpt-5-nano',
  'gpt-5.2',
  'gpt-5.3-codex',
  'gpt-5.4',
  'gpt-5.5',
  'gpt-5.6-sol',
  'o3-mini',
  'gpt-4o-2024-08-06',
]

/** Cached tokens are a part of the input, and reasoning is a part of the output. Searches are charged by the call. */
function* openai(): Generator<Published> {
  for (const name of gpts) {
    const list = priceOf(`openai/${name}`)
    const tier = name === 'gpt-5' ? (['default', 'flex', 'priority'] as const) : (['default'] as const)
    const long = name === 'gpt-5.4' ? [false, true] : [false]
    const axes = {
      wire: ['chat', 'responses'],
      cache: [false, true],
      reasoning: [false, true],
      tools: [0, 2],
      tier,
      long,
    } as const
    for (const each of combinations(axes)) {
      if (each.tools > 0 && (each.wire === 'chat' || each.tier !== 'default')) continue
      const [prompt, output] = [some(5) + (each.long ? 272_000 : 0), some(4)]
      const cached = each.cache ? some(4) : 0
      const details = { cached_tokens: cached }
      const made = { reasoning_tokens: each.reasoning ? some(3) : 0 }
      const names = each.wire === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens']
      const own = list.serviceTiers?.[each.tier]
      const rates = { ...ratesFor(list, prompt), ...(typeof own === 'object' && own) }
      const factor = typeof own === 'string' ? Number(own) : 1
      const search = (index: number) => [
        { type: 'web_search_call', id: `ws_${index}`, status: 'completed', action: { type: 'search', query: 'a' } },
        { type: 'file_search_call', id: `fs_${index}`, status: 'completed', queries: ['b'], results: null },
      ]
      yield {
        model: `openai/${name}`,
        wire: each.wire,
        usage: {
          [names[0] as string]: prompt,
          [`${names[0]}_details`]: details,
          [names[1] as string]: output,
          [`${names[1]}_details`]: made,
          total_tokens: prompt + output,
        },
        rest: {
          service_tier: each.tier,
          ...(each.tools > 0 && { output: Array.from({ length: each.tools }, (_, index) => search(index)).flat() }),
        },
        from: `${each.wire}, cache: ${each.cache}, reasoning: ${each.reasoning}, tools: ${each.tools}, tier: ${each.tier}, long: ${each.long}`,
        sum: sumOf([
          [prompt - cached, rates.input, factor],
          [cached, rates.cached, factor],
          [output, rates.output, factor],
          [each.tools, call(list.tools?.['web_search'])],
          [each.tools, call(list.tools?.['file_search'])],
        ]),
      }
    }
  }
}

/** Speech has rates of its own, in the input and in the output. */
function* spoken(): Generator<Published> {
  const model = 'openai/gpt-4o-audio-preview'
  const rates = priceOf(model)
  for (const { heard, said, size } of combinations({ heard: [false, true], said: [false, true], size: [2, 4] })) {
    const [text, audio] = [some(size), heard ? some(size) : 0]
    const [words, speech] = [some(size), said ? some(size) : 0]
    yield {
      model,
      wire: 'chat',
      usage: {
        prompt_tokens: text + audio,
        completion_tokens: words + speech,
        total_tokens: text + audio + words + speech,
        prompt_tokens_details: { audio_tokens: audio, text_tokens: text, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: speech, text_tokens: words, reasoning_tokens: 0 },
      },
      from: `heard: ${heard}, said: ${said}, size: ${size}`,
      sum: sumOf([
        [text, rates.input],
        [audio, rates.inputAudio],
        [words, rates.output],
        [speech, rates.outputAudio],
      ]),
    }
  }
}

const geminis = ['2.5-flash', '2.5-pro', '3-flash-preview', '3-pro-preview', '3.1-pro-preview', '2.0-flash']

/** Cached tokens are a part of the prompt, thoughts are beside the candidates; audio is a part of both prompt and cache. */
function* google(): Generator<Published> {
  for (const name of geminis) {
    const list = priceOf(`google/gemini-${name}`)
    const tier = name === '2.5-pro' ? (['standard', 'flex', 'priority'] as const) : (['standard'] as const)
    const long = list.longPrompts === undefined ? [false] : [false, true]
    const audio = list.inputAudio === undefined ? [false] : [false, true]
    for (const each of combinations({ cache: [false, true], thoughts: [false, true], audio, tier, long })) {
      if (each.long && each.tier !== 'standard') continue
      const [words, sound] = [some(4) + (each.long ? 200_000 : 0), each.audio ? some(3) : 0]
      const [cached, cachedSound] = [each.cache ? some(3) : 0, each.cache && each.audio ? 50 : 0]
      const [said, thought] = [some(3), each.thoughts ? some(3) : 0]
      const prompt = words + sound
      const rates = ratesFor(list, prompt)
      const factor = each.tier === 'standard' ? 1 : Number(list.serviceTiers?.[each.tier])
      const by = (text: number, other: number) => [
        { modality: 'TEXT', tokenCount: text },
        ...(other > 0 ? [{ modality: 'AUDIO', tokenCount: other }] : []),
      ]
      yield {
        model: `google/gemini-${name}`,
        wire: 'gemini',
        usage: {
          promptTokenCount: prompt,
          candidatesTokenCount: said,
          totalTokenCount: prompt + said + thought,
          promptTokensDetails: by(words, sound),
          ...(thought > 0 && { thoughtsTokenCount: thought }),
          ...(cached > 0 && {
            cachedContentTokenCount: cached + cachedSound,
            cacheTokensDetails: by(cached, cachedSound),
          }),
          ...(each.tier === 'flex' && { serviceTier: 'flex' }),
          ...(each.tier === 'priority' && { trafficType: 'ON_DEMAND_PRIORITY' }),
        },
        from: `cache: ${each.cache}, thoughts: ${each.thoughts}, audio: ${each.audio}, tier: ${each.tier}, long: ${each.long}`,
        sum: sumOf([
          [words - cached, rates.input, factor],
          [sound - cachedSound, rates.inputAudio, factor],
          [cached, rates.cached, factor],
          [cachedSound, rates.cachedAudio, factor],
          [said + thought, rates.output, factor],
        ]),
      }
    }
  }
}

/** How vendors with OpenAI's API name cached tokens. */
const cacheNames: Readonly<Record<string, (cached: number, prompt: number) => object>> = {
  'deepseek/deepseek-v4-flash': (hit, prompt) => ({
    prompt_cache_hit_tokens: hit,
    prompt_cache_miss_tokens: prompt - hit,
  }),
  'deepseek/deepseek-reasoner': (hit, prompt) => ({
    prompt_cache_hit_tokens: hit,
    prompt_cache_miss_tokens: prompt - hit,
  }),
  'moonshotai/kimi-k2.6': (cached) => ({ cached_tokens: cached }),
  'x-ai/grok-3-mini': (cached) => ({ prompt_tokens_details: { cached_tokens: cached } }),
  'openrouter/anthropic/claude-sonnet-4': (cached) => ({ prompt_tokens_details: { cached_tokens: cached } }),
  'mistral/mistral-medium-latest': (cached) => ({ num_cached_tokens: cached }),
  'alibaba/qwen3-max': (cached) => ({ prompt_tokens_details: { cached_tokens: cached } }),
}

const withoutCache = [
  'openrouter/moonshotai/kimi-k2',
  'groq/llama-3.3-70b-versatile',
  'mistral/mistral-small-latest',
  'perplexity/sonar',
]

/** xAI counts reasoning beside the completion, in the total alone; all others within it. Perplexity has a fee for each request. */
function* compatible(): Generator<Published> {
  for (const model of [...Object.keys(cacheNames), ...withoutCache]) {
    const list = priceOf(model)
    const cache = model in cacheNames ? (['none', 'some', 'all'] as const) : (['none'] as const)
    const length = model.startsWith('alibaba') ? [0, 32_000, 128_000] : [0]
    for (const each of combinations({ cache, reasoning: [false, true], size: [2, 4, 5], length })) {
      const prompt = each.length === 0 ? some(each.size === 5 ? 4 : each.size) : each.length + some(each.size)
      const output = some(each.size)
      const cached = each.cache === 'none' ? 0 : each.cache === 'all' ? prompt : Math.floor(prompt / 3)
      const reasoning = each.reasoning ? Math.max(1, Math.floor(output / 2)) : 0
      const isBeside = model.startsWith('x-ai')
      const rates = ratesFor(list, prompt)
      yield {
        model: model as Published['model'],
        wire: 'chat',
        usage: {
          prompt_tokens: prompt,
          completion_tokens: output,
          total_tokens: prompt + output + (isBeside ? reasoning : 0),
          ...(each.reasoning && { completion_tokens_details: { reasoning_tokens: reasoning } }),
          ...cacheNames[model]?.(cached, prompt),
        },
        from: `cache: ${each.cache}, reasoning: ${each.reasoning}, size: ${each.size}, length: ${each.length}`,
        sum: sumOf([
          [prompt - cached, rates.input],
          [cached, rates.cached],
          [output + (isBeside ? reasoning : 0), rates.output],
          [list.request === undefined ? 0 : 1, call(list.request)],
        ]),
      }
    }
  }
}

export const byRule: readonly Published[] = [...anthropic(), ...openai(), ...spoken(), ...google(), ...compatible()]
