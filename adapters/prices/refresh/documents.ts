/** Reads documents of prices: that of genai-prices, and that of models.dev, into the form of the package. */
import type { ModelInfo, ModelPrice, Provider, TieredPrices } from '@pydantic/genai-prices'
import { fieldsOf, isRecord, itemsOf, numberOf, stringOf, type Fields } from '../../../src/wire/json.ts'

/** A table, by the vendor's id. */
export type Vendors = ReadonlyMap<string, Provider>

export interface PriceDocument {
  /** What it is a document of. */
  readonly name: 'genai-prices' | 'models.dev'
  readonly vendors: Vendors
}

/**
 * Throws a `TypeError` for anything else. `present`: the vendor's entry now, which a document of models.dev completes: it has
 * tokens alone, neither the fees of tools nor other names of models.
 */
export function readDocument(text: string, present: (id: string) => Provider | undefined): PriceDocument {
  const value: unknown = JSON.parse(text)
  if (Array.isArray(value)) return { name: 'genai-prices', vendors: new Map(value.map(vendorIn)) }
  if (!isRecord(value)) throw new TypeError('it is neither the list of genai-prices nor the object of models.dev')
  const vendors = Object.entries(value).map(([key, each]): [string, Provider] => {
    const id = Object.hasOwn(otherNames, key) ? (otherNames[key] as string) : key
    return [id, completed(id, each, present(id))]
  })
  return { name: 'models.dev', vendors: new Map(vendors) }
}

/** Source: `Provider` of genai-prices. */
function vendorIn(value: unknown): [string, Provider] {
  const { id, models } = fieldsOf(value)
  if (typeof id !== 'string' || !Array.isArray(models)) throw new TypeError('a vendor has no "id" or no "models"')
  for (const each of models) {
    const { id: model, match, prices } = fieldsOf(each)
    const isWhole = typeof model === 'string' && isRecord(match) && (isRecord(prices) || Array.isArray(prices))
    if (!isWhole) throw new TypeError(`a model of "${id}" has no "id", "match" or "prices"`)
  }
  return [id, value as Provider]
}

/** Vendors whose ids differ. */
const otherNames: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  'fireworks-ai': 'fireworks',
  togetherai: 'together',
  xai: 'x-ai',
}

/** The names of rates in a `cost` of models.dev, in US dollars per million tokens. */
const rateNames: Readonly<Record<string, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  reasoning: 'output_reasoning_mtok',
  input_audio: 'input_audio_mtok',
  output_audio: 'output_audio_mtok',
}

/** A vendor of models.dev over what is known of it. */
function completed(id: string, value: unknown, present: Provider | undefined): Provider {
  const { models, name } = fieldsOf(value)
  if (!isRecord(models)) throw new TypeError(`the vendor "${id}" has no "models"`)
  const given = new Map<string, ModelInfo>()
  for (const [model, each] of Object.entries(models)) {
    if (!isRecord(each)) throw new TypeError(`the model "${model}" of "${id}" is not an object`)
    const { cost, limit, status } = each
    // Models that are not charged by tokens have none.
    if (cost === undefined) continue
    const window = numberOf(fieldsOf(limit)['context'])
    given.set(model, {
      id: model,
      match: { equals: model },
      prices: ratesIn(cost, `${id}/${model}`),
      ...(window !== undefined && window > 0 && { context_window: window }),
      ...(status === 'deprecated' && { deprecated: true }),
    })
  }
  const known = (present?.models ?? []).map((info) => {
    const { prices, ...facts } = given.get(info.id) ?? {}
    given.delete(info.id)
    // Prices by the time of day, which models.dev does not have.
    if (prices === undefined || Array.isArray(info.prices)) return info
    return { ...info, ...facts, match: info.match, prices: Object.assign({}, info.prices, prices) }
  })
  const base = present ?? { id, name: stringOf(name) ?? id, api_pattern: '' }
  return { ...base, models: [...known, ...given.values()] }
}

function ratesIn(cost: unknown, model: string): ModelPrice {
  const { input, output } = fieldsOf(cost)
  if (typeof input !== 'number' || typeof output !== 'number') {
    throw new TypeError(`the cost of "${model}" has no "input" or no "output"`)
  }
  const longer = tiersIn(fieldsOf(cost))
  const prices: Record<string, number | TieredPrices> = {}
  for (const [name, key] of Object.entries(rateNames)) {
    const base = fieldsOf(cost)[name]
    if (base === undefined) continue
    if (typeof base !== 'number') throw new TypeError(`"${name}" of "${model}" is not a number`)
    const tiers = longer.flatMap(({ start, rates }) => {
      const price = numberOf(rates[name])
      return price === undefined ? [] : [{ start, price }]
    })
    prices[key] = tiers.length === 0 ? base : { base, tiers }
  }
  return prices
}

/** The rates of longer prompts: `tiers`, or in older documents one above 200,000 tokens. */
function tiersIn({ tiers, context_over_200k: longer }: Fields): { readonly start: number; readonly rates: Fields }[] {
  if (tiers === undefined) return isRecord(longer) ? [{ start: 200_000, rates: longer }] : []
  return itemsOf(tiers).map((each) => {
    const rates = fieldsOf(each)
    const { type, size } = fieldsOf(rates['tier'])
    if (type !== 'context' || typeof size !== 'number') throw new TypeError('a tier is not by the size of the context')
    return { start: size, rates }
  })
}
