/** What a call of a model costs: decimal strings in the options, exact integers from there on. */
import type { Usage } from '../wire/usage.ts'
import { checkKnown, elsewhere, type Known } from '../validation/known-options.ts'
import { mostMicros, parseDecimal } from './money.ts'
import type { Units } from './receipt.ts'

/** The price of a model, in decimal strings of the gateway's currency. What is not named costs nothing. */
export interface PriceOptions {
  /** A million input tokens. */
  readonly input?: string
  /** A million output tokens. */
  readonly output?: string
  /** A million of the input tokens that were read from a cache. Default: as `input`. */
  readonly cached?: string
  /** A million of the input tokens that were written to a cache. Default: as `input`. */
  readonly cacheWrite?: string
  /** A million of the output tokens that were spent on reasoning. Default: as `output`. */
  readonly reasoning?: string
  /** Each call. */
  readonly request?: string
  /** Each image. By size and quality where it depends on them, see `Tiers`. */
  readonly image?: string | Tiers
  /** Each second of video or audio, counted by the millisecond. */
  readonly second?: string | Tiers
}

/**
 * Prices by what was asked for, the most exact name first: `'1024x1024 hd'` (size and quality), `'1024x1024'`, `'hd'`,
 * and `'*'` for all others. Without `'*'` what is not named costs as much as the dearest that is.
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

/** Digits after the point of a price, and of a ratio. */
const priceDigits = 12
const ratioDigits = 6
const million = 1_000_000n
/** The ratio 1. */
export const ratioOne: bigint = million

/** A group's factor on all prices, such as `'0.8'`. */
export function parseRatio(text: string): bigint {
  const ratio = parseDecimal(text, ratioDigits)
  if (ratio < 0n) throw new TypeError(`a ratio cannot be negative, but "${text}" is`)
  return ratio
}

interface TokenRates {
  readonly input: bigint
  readonly output: bigint
  readonly cached: bigint
  readonly cacheWrite: bigint
  readonly reasoning: bigint
}

/** What a call has made, as far as it matters for what is charged. */
export type Product = 'text' | 'vectors' | 'images' | 'transcripts' | 'videos'

type Part = keyof PriceOptions

/** The parts of a price of which one must be given, so that the product is not free by mistake. */
const chargedBy: Readonly<Record<Product, readonly Part[]>> = {
  text: ['output'],
  vectors: ['input'],
  images: ['image', 'output'],
  transcripts: ['second', 'input'],
  videos: ['second'],
}

export class Price {
  /** Whether it asks nothing for anything. */
  readonly isZero: boolean
  readonly #given: ReadonlySet<string>
  readonly #tokens: TokenRates
  readonly #request: bigint
  readonly #image: Tariff
  readonly #second: Tariff

  /** Throws a `TypeError` that names the field at fault. */
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
   * What must be added so that the price charges for a product, such as `output`; undefined where it does, or where all
   * that it says is '0'. A price of each call is enough, but not beside one of the text that the model reads.
   */
  missing(product: Product): string | undefined {
    if (this.isZero || chargedBy[product].some((part) => this.#given.has(part))) return undefined
    if (this.#request > 0n && !(product === 'text' && this.#given.has('input'))) return undefined
    return chargedBy[product][0]
  }

  /** Micro-units for a call, rounded up once at the end: nothing that has a price is free by rounding. */
  cost(usage: Usage | undefined, units: Units | undefined, ratio: bigint = ratioOne): bigint {
    return this.#total(usage === undefined ? 0n : this.#tokenCost(usage), units, ratio)
  }

  /** The most that a call of so many tokens can cost, however they turn out to be cached or spent. */
  bound(promptTokens: number, outputTokens: number, units: Units | undefined, ratio: bigint = ratioOne): bigint {
    const { input, output, cached, cacheWrite, reasoning } = this.#tokens
    const tokens = count(promptTokens) * most(input, cached, cacheWrite) + count(outputTokens) * most(output, reasoning)
    return this.#total(tokens, units, ratio)
  }

  /** Cached and reasoning tokens are parts of the input and the output, and counted once. */
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

  #total(tokens: bigint, units: Units | undefined, ratio: bigint): bigint {
    // Tokens are priced by the million, and a million micro-units are one unit: the two cancel out.
    let total = tokens + this.#request * million
    if (units?.images !== undefined) total += count(units.images) * this.#image.rate(units) * million
    if (units?.seconds !== undefined) total += count(units.seconds * 1000) * this.#second.rate(units) * 1000n
    const divisor = 10n ** BigInt(priceDigits) * ratioOne
    return least((total * ratio + divisor - 1n) / divisor, mostMicros)
  }
}

/** One price, or several by size and quality. */
class Tariff {
  readonly #tiers: ReadonlyMap<string, bigint>
  readonly #other: bigint

  constructor(options: string | Tiers | undefined, name: string) {
    if (options !== undefined && typeof options !== 'string' && !isTiers(options)) {
      throw new TypeError(
        `price.${name} must be a decimal number in a string, or an object of such by size and quality`,
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

/** Counts come from vendors: what is no number at all counts nothing, a fraction is begun. */
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
