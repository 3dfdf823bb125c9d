/**
 * What vendors publish and the table lacks. Sources: OpenAI's pages about priority and flex processing and data residency,
 * Anthropic's about pricing, fast mode and data residency, Google's about its inference tiers, xAI's about its models.
 */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { PriceOptions, TokenPrices } from '../../src/money/prices/price-options.ts'
import type { Convert } from './entry.ts'

/** Rates in dollars per million tokens. */
const rates: Readonly<Record<string, ModelPrice>> = {
  'openai/gpt-4o-audio-preview': { input_audio_mtok: 40, output_audio_mtok: 80 },
  'openai/gpt-4o-mini-audio-preview': { input_audio_mtok: 10, output_audio_mtok: 20 },
  'x-ai/grok-4-0709': longGrok(3, 15),
  'x-ai/grok-4-fast-reasoning': longGrok(0.2, 0.5),
  'x-ai/grok-4-fast-non-reasoning': longGrok(0.2, 0.5),
  'x-ai/grok-4-1-fast-reasoning': longGrok(0.2, 0.5),
  'x-ai/grok-4-1-fast-non-reasoning': longGrok(0.2, 0.5),
}

/** Above 128,000 tokens these models cost twice as much, except for what is read from the cache. */
function longGrok(input: number, output: number): ModelPrice {
  return { input_mtok: tiered(input), output_mtok: tiered(output) }
}

function tiered(base: number) {
  return { base, tiers: [{ start: 128_000, price: base * 2 }] }
}

/** The entry with the published rates that it lacks. One that has changed its base rate since is not touched. */
export function withPublishedRates(vendor: string, model: string, entry: ModelPrice): ModelPrice {
  const given = vendor === 'openai' ? aboveBounds(entry) : entry
  const more = rates[`${vendor}/${model}`] ?? {}
  const missing = Object.entries(more).filter(([name, rate]) => {
    const known = given[name]
    return known === undefined || (typeof rate === 'object' && known === rate.base)
  })
  return missing.length === 0 ? given : { ...given, ...Object.fromEntries(missing) }
}

/** OpenAI's long prompts have more than 272,000 tokens; the table has them begin at that number. */
function aboveBounds(entry: ModelPrice): ModelPrice {
  return Object.fromEntries(Object.entries(entry).map(([name, rate]) => [name, aboveBound(rate)]))
}

function aboveBound(rate: ModelPrice[string]): ModelPrice[string] {
  if (typeof rate !== 'object') return rate
  const { base, tiers } = rate
  return { base, tiers: tiers.map((each) => (each.start === 271_999 ? { ...each, start: 272_000 } : each)) }
}

/** Fees of tools in dollars per thousand calls. */
const toolFees: readonly {
  readonly vendor: string
  readonly models: RegExp
  readonly tool: string
  readonly fee: number
}[] = [
  { vendor: 'openai', models: /^(?:o[134]|gpt-[4-9])/, tool: 'code_interpreter', fee: 30 },
  { vendor: 'google', models: /^gemini-3/, tool: 'web_search', fee: 14 },
  // What Claude fetches costs only tokens.
  { vendor: 'anthropic', models: /./, tool: 'web_fetch', fee: 0 },
]

interface Tiers {
  readonly vendor: string
  readonly models: RegExp
  /** A factor, or rates in dollars per million tokens. */
  readonly tiers: Readonly<Record<string, string | Readonly<Partial<Record<keyof TokenPrices, number>>>>>
}

/** All that match apply, the later ones first. */
const serviceTiers: readonly Tiers[] = [
  // Tokens beyond what was bought of `scale` cost as usual.
  { vendor: 'openai', models: /^(?:o[134]|gpt-[4-9]|chatgpt)/, tiers: { scale: '1', batch: '0.5' } },
  { vendor: 'openai', models: /^(?:o3$|o4-mini$|gpt-[5-9])/, tiers: { flex: '0.5' } },
  { vendor: 'openai', models: /^gpt-(?:5|5\.[124]|5\.4-mini|4\.1-nano)$/, tiers: { priority: '2' } },
  { vendor: 'openai', models: /^gpt-(?:5\.6|6)-/, tiers: { fast: '2', priority: '2' } },
  { vendor: 'openai', models: /^gpt-5-mini$/, tiers: { priority: '1.8' } },
  { vendor: 'openai', models: /^(?:gpt-4\.1|gpt-4\.1-mini|o3|gpt-4o-2024-05-13)$/, tiers: { priority: '1.75' } },
  { vendor: 'openai', models: /^gpt-4o$/, tiers: { priority: '1.7' } },
  { vendor: 'openai', models: /^gpt-4o-mini$/, tiers: { priority: ofTokens(0.25, 0.125, 1) } },
  { vendor: 'openai', models: /^o4-mini$/, tiers: { priority: ofTokens(2, 0.5, 8) } },
  // Capacity that was bought is counted at the price of what it replaces.
  { vendor: 'anthropic', models: /./, tiers: { batch: '0.5', priority: '1' } },
  {
    vendor: 'anthropic',
    models: /opus-(?:4-[6-9]|[5-9])|sonnet-(?:4-[6-9]|[5-9])|haiku-[5-9]|fable/,
    tiers: { us: '1.1', 'batch+us': '0.55', 'priority+us': '1.1' },
  },
  { vendor: 'anthropic', models: /opus-4-[67]/, tiers: { fast: '6', 'fast+us': '6.6' } },
  { vendor: 'anthropic', models: /opus-(?:4-8|5)$/, tiers: { fast: '2', 'fast+us': '2.2' } },
  {
    vendor: 'google',
    models: /^gemini-(?:2\.5|3)(?!.*(?:image|tts|live))/,
    tiers: { flex: '0.5', batch: '0.5', priority: '1.8' },
  },
  { vendor: 'groq', models: /./, tiers: { flex: '1', batch: '0.5' } },
]

function ofTokens(input: number, cached: number, output: number): Readonly<Record<string, number>> {
  return { input, cached, output }
}

/** OpenAI's regional hosts, and the models that cost a tenth more there. */
const regions = /^https:\/\/(?!api\.)\w+\.api\.openai\.com$/
const regional = /^gpt-(?:5\.[4-9]|[6-9])/

/** The factor on tokens of a host that processes them in one region. */
export function regionFactor(vendor: string, model: string, origin: string | undefined): string {
  return vendor === 'openai' && origin !== undefined && regions.test(origin) && regional.test(model) ? '1.1' : '1'
}

/**
 * The price with tiers and other rules of its vendor. Groq charges at least ten seconds of audio; the package has that in its
 * code instead of its data. Google, and xAI for input, have one price for text and audio where the table has no other.
 */
export function withRules(price: PriceOptions, vendor: string, model: string, convert: Convert): PriceOptions {
  const made = withMade(price, model)
  const tiered = withTiers(withTools(made, vendor, model, convert), vendor, model, convert)
  const { input, inputAudio, outputImage } = tiered
  if (vendor === 'groq' && tiered.hour !== undefined) return { ...tiered, minimumSeconds: 10 }
  const isOne = vendor === 'google' || vendor === 'x-ai'
  if (!isOne || input === undefined || (inputAudio ?? outputImage) !== undefined) return tiered
  const longPrompts = tiered.longPrompts?.map((each) => ({ ...each, ...(each.input && { inputAudio: each.input }) }))
  return { ...tiered, inputAudio: input, ...(longPrompts && { longPrompts }) }
}

/** All that models of these names write is audio or images. */
function withMade(price: PriceOptions, model: string): PriceOptions {
  const { output } = price
  if (output === undefined) return price
  if (/tts/.test(model)) return { outputAudio: output, ...price }
  return model.startsWith('gpt-image') ? { outputImage: output, ...price } : price
}

function withTools(price: PriceOptions, vendor: string, model: string, convert: Convert): PriceOptions {
  const found = toolFees.filter((each) => each.vendor === vendor && each.models.test(model))
  if (found.length === 0 || price.output === undefined) return price
  const fees = found.map(({ tool, fee }) => [tool, convert(fee, 1_000)])
  return { ...price, tools: { ...Object.fromEntries(fees), ...price.tools } }
}

function withTiers(price: PriceOptions, vendor: string, model: string, convert: Convert): PriceOptions {
  const found = serviceTiers.filter((each) => each.vendor === vendor && each.models.test(model))
  const chargesTokens = (price.input ?? price.output) !== undefined
  if (found.length === 0 || !chargesTokens) return price
  const tiers = Object.assign({}, ...found.map(({ tiers: each }) => each)) as Tiers['tiers']
  const converted = Object.entries(tiers).map(([name, tier]) => [
    name,
    typeof tier === 'string'
      ? tier
      : Object.fromEntries(Object.entries(tier).map(([part, rate]) => [part, convert(rate, 1)])),
  ])
  return { ...price, serviceTiers: Object.fromEntries(converted) as PriceOptions['serviceTiers'] & {} }
}
