import type { Usage } from '../wire/usage.ts'
import { checkKnown, elsewhere, type Known } from '../validation/known-options.ts'
import { mostMicros, parseDecimal } from './money.ts'
import type { Units } from './receipt.ts'

/** The price of a model, in decimal strings of the gateway's currency, such as `'2.5'`. Absent parts cost nothing. */
export interface PriceOptions {
  /** Per million input tokens. */
  readonly input?: string
  /** Per million output tokens. */
  readonly output?: string
  /** Per million input tokens read from a cache. Default: as `input`. */
  readonly cached?: string
  /** Per million input tokens written to a cache. Default: as `input`. */
  readonly cacheWrite?: string
  /** Per million output tokens spent on reasoning. Default: as `output`. */
  readonly reasoning?: string
  /** Per request. */
  readonly request?: string
  /** Per image; as `Tiers` if it depends on size or quality. */
  readonly image?: string | Tiers
  /** Per second of video or audio, charged by the millisecond; as `Tiers` if it depends on size or quality. */
  readonly second?: string | Tiers
}

/**
 * Prices by size and quality. The most specific key applies: `'1024x1024 hd'`, then `'1024x1024'`, then `'hd'`, then
 * `'*'`. Without `'*'`, the highest price applies to all others.
 */
export type Tiers = Readonly<Record<string, string>>

const known: Known<PriceOptions> = {
  input: elsewhere,
  output: elsewhere,
  cached: elsewhere,
  cacheWrite: elsewhere,
  reasoning: elsewhere,
  request: elsewhere,
  image: elsewhere,
  second: elsewhere,
}

/** Decimal places of a price, and of a price multiplier. */
const priceDigits = 12
const multiplierDigits = 6
const million = 1_000_000n
/** The price multiplier 1. */
export const multiplierOne: bigint = million

/** A group's factor on all prices, such as `'0.8'`. */
export function parsePriceMultiplier(text: string): bigint {
  const multiplier = parseDecimal(text, multiplierDigits)
  if (multiplier < 0n) throw new TypeError(`a price multiplier cannot be negative, but "${text}" is`)
  return multiplier
}

interface TokenRates {
  readonly input: bigint
  readonly output: bigint
  readonly cached: bigint
  readonly cacheWrite: bigint
  readonly reasoning: bigint
}

/** The kind of output of an endpoint, which decides the parts of a price that apply. */
export type Product = 'text' | 'vectors' | 'images' | 'transcripts' | 'videos'

type Part = keyof PriceOptions

/** For each product, the parts of a price of which at least one must be set, so that it is not free by mistake. */
const chargedBy: Readonly<Record<Product, readonly Part[]>> = {
  text: ['output'],
  vectors: ['input'],
  images: ['image', 'output'],
  transcripts: ['second', 'input'],
  videos: ['second'],
}

/** A parsed price. All arithmetic is exact. */
export class Price {
  /** Whether every part is zero. */
  readonly isZero: boolean
  readonly #given: ReadonlySet<string>
  readonly #tokens: TokenRates
  readonly #request: bigint
  readonly #image: Tariff
  readonly #second: Tariff

  /** Throws a `TypeError` that names the invalid field. */
  constructor(options: PriceOptions) {
    checkKnown('price', options, known)
    this.#given = new Set(Object.keys(options).filter((name) => options[name as Part] !== undefined))
    const rate = (name: 'input' | 'output' | 'cached' | 'cacheWrite' | 'reasoning' | 'request') =>
      options[name] === undefined ? undefined : parseRate(options[name], name)
    const input = rate('input') ?? 0n
    const output = rate('output') ?? 0n
    const [cached = input, cacheWrite = input, reasoning = output] = [
      rate('cached'),
      rate('cacheWrite'),
      rate('reasoning'),
    ]
    this.#tokens = { input, output, cached, cacheWrite, reasoning }
    this.#request = rate('request') ?? 0n
    this.#image = new Tariff(options.image, 'image')
    this.#second = new Tariff(options.second, 'second')
    const rates = [...Object.values(this.#tokens), this.#request, this.#image.dearest, this.#second.dearest]
    this.isZero = rates.every((rate) => rate === 0n)
  }

  /**
   * The part that must be added so that the price charges for a product, such as `output`; undefined if it already
   * charges, or if every part is explicitly '0'. A price per request suffices, except for text with a price for input.
   */
  missing(product: Product): string | undefined {
    if (this.isZero || chargedBy[product].some((part) => this.#given.has(part))) return undefined
    if (this.#request > 0n && !(product === 'text' && this.#given.has('input'))) return undefined
    return chargedBy[product][0]
  }

  /** The cost of a request in micro-units, rounded up once at the end, so that rounding never makes a request free. */
  cost(usage: Usage | undefined, units: Units | undefined, multiplier: bigint = multiplierOne): bigint {
    return this.#total(usage === undefined ? 0n : this.#tokenCost(usage), units, multiplier)
  }

  /** Upper bound of the cost, whatever part of the tokens is cached or spent on reasoning. */
  bound(
    promptTokens: number,
    outputTokens: number,
    units: Units | undefined,
    multiplier: bigint = multiplierOne,
  ): bigint {
    const { input, output, cached, cacheWrite, reasoning } = this.#tokens
    const tokens = count(promptTokens) * most(input, cached, cacheWrite) + count(outputTokens) * most(output, reasoning)
    return this.#total(tokens, units, multiplier)
  }

  /** Cached and reasoning tokens are included in input and output, and charged once. */
  #tokenCost(usage: Usage): bigint {
    const { input, output, cached, cacheWrite, reasoning } = this.#tokens
    const prompt = count(usage.prompt_tokens)
    const completion = count(usage.completion_tokens)
    const read = least(count(usage.prompt_tokens_details?.cached_tokens), prompt)
    const written = least(count(usage.prompt_tokens_details?.cache_write_tokens), prompt - read)
    const thought = least(count(usage.completion_tokens_details?.reasoning_tokens), completion)
    return (
      (prompt - read - written) * input +
      read * cached +
      written * cacheWrite +
      (completion - thought) * output +
      thought * reasoning
    )
  }

  #total(tokens: bigint, units: Units | undefined, multiplier: bigint): bigint {
    // Token prices are per million tokens, and a unit has a million micro-units: the factors cancel out.
    let total = tokens + this.#request * million
    if (units?.images !== undefined) total += count(units.images) * this.#image.rate(units) * million
    if (units?.seconds !== undefined) total += count(units.seconds * 1000) * this.#second.rate(units) * 1000n
    const divisor = 10n ** BigInt(priceDigits) * multiplierOne
    return least((total * multiplier + divisor - 1n) / divisor, mostMicros)
  }
}

/** A single price, or prices by size and quality. */
class Tariff {
  readonly #tiers: ReadonlyMap<string, bigint>
  readonly #other: bigint

  constructor(options: string | Tiers | undefined, name: string) {
    if (options !== undefined && typeof options !== 'string' && !isTiers(options)) {
      throw new TypeError(
        `price.${name} must be a decimal number in a string, or an object of such strings by size and quality`,
      )
    }
    const entries = Object.entries(typeof options === 'string' ? { '*': options } : (options ?? {}))
    this.#tiers = new Map(entries.map(([tier, text]) => [tier, parseRate(text, `${name}["${tier}"]`)]))
    this.#other = this.#tiers.get('*') ?? this.dearest
  }

  get dearest(): bigint {
    return most(0n, ...this.#tiers.values())
  }

  rate({ size = '', quality = '' }: Units): bigint {
    const tiers = this.#tiers
    return tiers.get(`${size} ${quality}`) ?? tiers.get(size) ?? tiers.get(quality) ?? this.#other
  }
}

function isTiers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function parseRate(text: string, name: string): bigint {
  try {
    const rate = parseDecimal(text, priceDigits)
    if (rate >= 0n) return rate
  } catch (error) {
    throw new TypeError(`price.${name}: ${(error as Error).message}`, { cause: error })
  }
  throw new TypeError(`price.${name}: a price cannot be negative, but "${text}" is`)
}

/** A vendor's count as a bigint: 0 if it is not a positive number, rounded up otherwise. */
function count(value: unknown): bigint {
  if (typeof value !== 'number' || !(value > 0)) return 0n
  return BigInt(Math.ceil(Math.min(value, Number.MAX_SAFE_INTEGER)))
}

function most(first: bigint, ...others: bigint[]): bigint {
  return others.reduce((left, right) => (left > right ? left : right), first)
}

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
