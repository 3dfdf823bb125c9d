/** Translates an entry of the table to a price of the gateway. */
import type { ConditionalPrice, ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import type { LongPromptPrices, PriceOptions, TokenPrices } from '../../src/money/prices/price-options.ts'

/** The table's names for prices of tokens, per million. */
const tokenKeys: Readonly<Record<string, keyof TokenPrices>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cached',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWrite1h',
  output_reasoning_mtok: 'reasoning',
  input_audio_mtok: 'inputAudio',
  cache_audio_read_mtok: 'cachedAudio',
  input_image_mtok: 'inputImage',
  cache_image_read_mtok: 'cachedImage',
  input_video_mtok: 'inputVideo',
  output_audio_mtok: 'outputAudio',
  output_image_mtok: 'outputImage',
  output_video_mtok: 'outputVideo',
}

/** The table's names for fees of tools, per thousand calls. */
const toolKeys: Readonly<Record<string, string>> = {
  web_searches_kcount: 'web_search',
  storage_searches_kcount: 'file_search',
  social_searches_kcount: 'x_search',
  code_executions_kcount: 'code_execution',
}

/** A number of the table, divided by `per`, as a decimal string in the gateway's currency. */
export type Convert = (value: number, per: number) => string

/** The price in the gateway's form; undefined if it has a part that the gateway cannot charge. */
export function priceIn(given: ModelPrice, convert: Convert): PriceOptions | undefined {
  const entries = Object.entries(given).filter(
    (entry): entry is [string, number | TieredPrices] => entry[1] !== undefined,
  )
  const tokens = entries.filter(([key]) => Object.hasOwn(tokenKeys, key))
  const at = (prompt: number): TokenPrices =>
    Object.fromEntries(tokens.map(([key, value]) => [tokenKeys[key], convert(rateFor(value, prompt), 1)]))
  const starts = new Set(tokens.flatMap(([, value]) => (typeof value === 'number' ? [] : value.tiers.map(startOf))))
  const longPrompts = [...starts].map((above): LongPromptPrices => ({ above, ...at(above + 1) }))
  const tools: Record<string, string> = {}
  let price: PriceOptions = { ...at(0), ...(longPrompts.length > 0 && { longPrompts }) }
  for (const [key, value] of entries) {
    if (Object.hasOwn(tokenKeys, key)) continue
    if (typeof value !== 'number') return undefined
    const tool = Object.hasOwn(toolKeys, key) ? toolKeys[key] : undefined
    if (tool !== undefined) tools[tool] = convert(value, 1_000)
    else if (key === 'requests_kcount') price = { ...price, request: convert(value, 1_000) }
    else if (key === 'input_mchars') price = { ...price, characters: convert(value, 1) }
    else if (key === 'audio_hours' || key === 'input_audio_hours') price = { ...price, hour: convert(value, 1) }
    else return undefined
  }
  const isDoubtful = given['audio_hours'] !== (given['input_audio_hours'] ?? given['audio_hours'])
  if (isDoubtful || Object.keys(price).length + Object.keys(tools).length === 0) return undefined
  return Object.keys(tools).length > 0 ? { ...price, tools } : price
}

/** The rate for a prompt of so many tokens. */
function rateFor(value: number | TieredPrices, prompt: number): number {
  if (typeof value === 'number') return value
  const reached = value.tiers.filter(({ start }) => prompt > start)
  return reached.reduce((last, tier) => (tier.start >= last.start ? tier : last), { start: -1, price: value.base })
    .price
}

function startOf({ start }: { readonly start: number }): number {
  return start
}

/** The position of the price that applies at a time: the last one whose condition is met, otherwise the first. */
export function positionAt(prices: readonly ConditionalPrice[], at: number): number {
  const found = prices.findLastIndex(({ constraint }) => constraint === undefined || isMet(constraint, at))
  return Math.max(0, found)
}

function isMet(constraint: NonNullable<ConditionalPrice['constraint']>, at: number): boolean {
  if (constraint.type === 'start_date') return at >= Date.parse(constraint.start_date)
  const time = ((at % dayMs) + dayMs) % dayMs
  const [start, end] = [timeOf(constraint.start_time), timeOf(constraint.end_time)]
  return end < start ? time >= start || time < end : time >= start && time < end
}

const dayMs = 86_400_000

/** Milliseconds since midnight in UTC of a time such as `16:30:00Z`. */
function timeOf(text: string): number {
  return Date.parse(`1970-01-01T${text}`) % dayMs
}
