import type { Usage } from '../../wire/usage.ts'
import { checkPrice, type PriceOptions, type TokenPart } from './price-options.ts'
import { count, milliseconds, most, multiplierOne, parseFactor, parseRate, scaled } from './rate.ts'
import type { PriceSource } from '../receipt.ts'
import { countedNames, countedParts, countedUnits, type Units } from '../../wire/units.ts'
import { tierName, tierPrices, type TierPrice } from './service-tier.ts'
import { linesOf, product, rounded, roundedUp, type Add, type ChargeLines } from './sum.ts'
import { Tariff } from './tariff.ts'

/** A group's factor on all prices, such as `'0.8'`. */
export function parsePriceMultiplier(text: string): bigint {
  return parseFactor(text, 'priceMultiplier')
}

/** The kind of output of an endpoint, which decides the parts of a price that apply. */
export type Product = 'text' | 'vectors' | 'images' | 'transcripts' | 'speech' | 'ranking' | 'decisions' | 'videos'

type Part = keyof PriceOptions

/** For each product, the parts of a price of which at least one must be set, so that it is not free by mistake. */
const chargedBy: Readonly<Record<Product, readonly Part[]>> = {
  text: ['output'],
  vectors: ['input'],
  images: ['image', 'output', 'outputImage'],
  transcripts: ['second', 'hour', 'inputAudio'],
  speech: ['characters', 'output', 'outputAudio', 'second', 'hour'],
  ranking: ['input', 'units'],
  decisions: ['input'],
  videos: ['second', 'hour', 'outputVideo'],
}

/**
 * The kinds of tokens that no vendor charges like text, with the parts of a price of which one is a rate for them. All others
 * cost as much as text unless a vendor says otherwise.
 */
const ownRates: Readonly<Partial<Record<TokenPart, readonly Part[]>>> = {
  cached: ['cached'],
  cacheWrite: ['cacheWrite'],
  cacheWrite1h: ['cacheWrite1h', 'cacheWrite'],
  inputAudio: ['inputAudio'],
  cachedAudio: ['cachedAudio', 'inputAudio'],
  outputAudio: ['outputAudio'],
  outputImage: ['outputImage', 'image'],
  outputVideo: ['outputVideo', 'second'],
}

const none: readonly never[] = []

/** What a request consumed, as far as it has a price. */
export interface Consumption {
  /** Default: no tokens, and no tools. */
  readonly usage?: Usage | undefined
  /** Default: none. */
  readonly units?: Units | undefined
  /** The service tier as the vendor or the request names it. Default: the normal tier. */
  readonly serviceTier?: string | undefined
}

/** The most that a request can consume. */
export interface MaximumConsumption {
  /** Upper bound of the prompt tokens. */
  readonly promptTokens: number
  /** Upper bound of the output tokens. */
  readonly outputTokens: number
  /** Upper bounds of units, with the size and quality as far as they are known. */
  readonly units?: Units | undefined
  /** Upper bound of the calls of the vendor's own tools. Default 0. */
  readonly toolCalls?: number | undefined
  /** The only service tier beside the normal one that can apply. Default: each that the price lists. */
  readonly serviceTier?: string | undefined
}

/** A parsed price. All arithmetic is exact. */
export class Price {
  /** Whether every part is zero. */
  readonly isZero: boolean
  /** Whether anything but requests, tokens and tools has a price. */
  readonly hasUnitRates: boolean
  /** The price table that it is from. Absent for a price in the options. */
  readonly source: PriceSource | undefined
  /** What it was made of. */
  readonly options: PriceOptions
  readonly #given: ReadonlySet<string>
  readonly #tiers: ReadonlyMap<string, TierPrice>
  readonly #normal: TierPrice
  readonly #request: bigint
  readonly #tools: ReadonlyMap<string, bigint>
  readonly #mostExpensiveTool: bigint
  readonly #own: ReadonlyMap<string, bigint>
  readonly #image: Tariff
  readonly #second: Tariff
  readonly #hour: bigint
  readonly #leastMs: number
  /** The rates of counted units, in their order. */
  readonly #counted: readonly bigint[]

  /** Throws a `TypeError` that names the invalid field. */
  constructor(options: PriceOptions, source?: PriceSource) {
    checkPrice(options)
    this.source = source
    this.options = options
    this.#given = new Set(Object.keys(options).filter((name) => options[name as Part] !== undefined))
    const rate = (name: 'request' | 'hour' | (typeof countedParts)[number]) =>
      options[name] === undefined ? 0n : parseRate(options[name], name)
    this.#tiers = tierPrices(options)
    this.#normal = this.#tiers.get('default') as TierPrice
    this.#request = rate('request')
    this.#hour = rate('hour')
    this.#counted = countedParts.map(rate)
    this.#leastMs = milliseconds(options.minimumSeconds ?? 0)
    this.#tools = ratesByName(options.tools, 'tools')
    this.#own = ratesByName(options.units, 'units')
    this.#mostExpensiveTool = most(0n, ...this.#tools.values())
    this.#image = new Tariff(options.image, 'image')
    this.#second = new Tariff(options.second, 'second')
    const ofUnits = [this.#hour, ...this.#own.values(), ...this.#counted, this.#image.highest, this.#second.highest]
    this.hasUnitRates = ofUnits.some((each) => each > 0n)
    const others = [this.#request, ...ofUnits]
    const tokens = [...this.#tiers.values()].flatMap((tier) => tier.reachable(Infinity))
    const rates = tokens.flatMap(({ highestInput, highestOutput }) => [highestInput, highestOutput])
    this.isZero = [...rates, ...others, ...this.#tools.values()].every((each) => each === 0n)
  }

  /** Whether it has prices for service tiers beside the normal one. */
  get hasServiceTiers(): boolean {
    return this.#tiers.size > 1
  }

  /** Whether tokens that are read from a cache and those that are written to it have rates of their own. */
  get hasCacheRates(): boolean {
    return this.#given.has('cached') && this.#given.has('cacheWrite')
  }

  /** Whether requests for a service tier can be charged. */
  lists(serviceTier: string): boolean {
    return this.#tiers.has(tierName(serviceTier))
  }

  /** Whether calls of the vendor's own tools are charged. */
  get hasToolFees(): boolean {
    return this.#tools.size > 0
  }

  /**
   * The part that must be added so that the price charges for a product, such as `output`; undefined if it already
   * charges, or if every part is explicitly '0'. A price per request or counted unit suffices, except for text with a price for input.
   */
  missing(product: Product): string | undefined {
    if (this.isZero || chargedBy[product].some((part) => this.#given.has(part))) return undefined
    const isCharged = this.#request > 0n || [...this.#counted, ...this.#own.values()].some((each) => each > 0n)
    if (isCharged && !(product === 'text' && this.#given.has('input'))) return undefined
    // The rate of text is not that of the recording.
    return product === 'transcripts' && this.#given.has('input') ? 'inputAudio' : chargedBy[product][0]
  }

  /** Whether it charges for tokens, but has none of these parts. */
  lacks(parts: readonly Part[]): boolean {
    const given = this.#given
    return !this.isZero && (given.has('input') || given.has('output')) && !parts.some((part) => given.has(part))
  }

  /** The cost of a request in micro-units, rounded up once at the end, so that rounding never makes a request free. */
  cost(consumed: Consumption, multiplier: bigint = multiplierOne): bigint {
    return roundedUp(this.#sum(consumed, this.#tierOf(consumed)), multiplier)
  }

  /** The cost of a request with so many decimal places, rounded half up: sums of many have no bias. */
  exactly(consumed: Consumption, multiplier: bigint, digits: number): bigint {
    return rounded(this.#sum(consumed, this.#tierOf(consumed)), multiplier, digits)
  }

  /** The lines of `cost`. The amounts of the lines and `rounding` add up to it exactly. */
  lines(consumed: Consumption, multiplier: bigint = multiplierOne): ChargeLines {
    const tier = this.#tierOf(consumed)
    return linesOf(this.#sum(consumed, tier), multiplier, (add) => this.#each(consumed, tier, add))
  }

  /**
   * What was used and has no rate of its own, by its name in a price, such as `inputAudio` or `serviceTiers.flex`: `cost` takes
   * the rate that is the default, or none. Nothing for a price without rates of tokens.
   */
  unrated(consumed: Consumption): readonly string[] {
    const given = this.#given
    if (this.isZero || !(given.has('input') || given.has('output'))) return none
    const { usage, serviceTier } = consumed
    const missing: string[] = []
    if (serviceTier !== undefined && !this.lists(serviceTier)) missing.push(`serviceTiers.${tierName(serviceTier)}`)
    if (usage === undefined) return missing
    this.#normal.rates(0).each(usage, (item) => {
      const sufficient = ownRates[item as TokenPart]
      if (sufficient !== undefined && !sufficient.some((part) => given.has(part))) missing.push(item)
    })
    if (!usage.server_tool_use || given.has('request')) return missing
    this.#toolCalls(usage.server_tool_use, (item) => {
      if (!this.#tools.has(item.slice('tools.'.length)) && !this.#tools.has('*')) missing.push(item)
    })
    return missing
  }

  /**
   * Upper bound of the cost: the most expensive service tier, length of the prompt and kind of token that is possible, a
   * fee for each tool call.
   */
  bound(asked: MaximumConsumption, multiplier: bigint = multiplierOne): bigint {
    return roundedUp(this.#highest(asked).sum, multiplier)
  }

  /** The lines of `bound`: all input and all output at their highest rates. The amounts and `rounding` add up to it exactly. */
  boundLines(asked: MaximumConsumption, multiplier: bigint = multiplierOne): ChargeLines {
    const { tier, sum } = this.#highest(asked)
    return linesOf(sum, multiplier, (add) => this.#eachBound(asked, tier, add))
  }

  /** The most expensive tier that is possible. */
  #highest(asked: MaximumConsumption): { readonly tier: TierPrice; readonly sum: bigint } {
    const { serviceTier } = asked
    const named = serviceTier === undefined ? undefined : this.#tiers.get(tierName(serviceTier))
    let highest = this.#normal
    let most = -1n
    let sum = 0n
    const add: Add = (_, quantity, per, rate) => (sum += product(quantity, per, rate))
    for (const tier of named === undefined ? this.#tiers.values() : [this.#normal, named]) {
      sum = 0n
      this.#eachBound(asked, tier, add)
      if (sum <= most) continue
      most = sum
      highest = tier
    }
    return { tier: highest, sum: most }
  }

  #eachBound(asked: MaximumConsumption, tier: TierPrice, add: Add): void {
    const { promptTokens, outputTokens, toolCalls = 0, units } = asked
    tier.bound(count(promptTokens), count(outputTokens), add)
    if (this.#request > 0n) add('request', 1, 1, this.#request)
    if (toolCalls > 0) add('tools', count(toolCalls), 1, this.#mostExpensiveTool)
    if (units !== undefined && this.hasUnitRates) this.#units(units, tier, true, add)
  }

  /** The prices of a tier; of the most expensive one for a tier that is not listed. */
  #tierOf(consumed: Consumption): TierPrice {
    const tiers = this.#tiers
    if (tiers.size === 1 || consumed.serviceTier === undefined) return this.#normal
    const named = tiers.get(tierName(consumed.serviceTier))
    if (named !== undefined) return named
    const sums = [...tiers.values()].map((tier) => ({ tier, sum: this.#sum(consumed, tier) }))
    return sums.reduce((left, right) => (right.sum > left.sum ? right : left)).tier
  }

  #sum(consumed: Consumption, tier: TierPrice): bigint {
    let sum = 0n
    this.#each(consumed, tier, (_, quantity, per, rate) => {
      if (rate > 0n) sum += product(quantity, per, rate)
    })
    return sum
  }

  #each({ usage, units }: Consumption, tier: TierPrice, add: Add): void {
    if (usage !== undefined) {
      const rates = tier.rates(count(usage.prompt_tokens))
      rates.each(usage, add)
      if (usage.server_tool_use && this.hasToolFees) this.#toolCalls(usage.server_tool_use, add)
    }
    if (this.#request > 0n) add('request', 1, 1, this.#request)
    if (units !== undefined && this.hasUnitRates) this.#units(units, tier, false, add)
  }

  #toolCalls(calls: Readonly<Record<string, unknown>>, add: Add): void {
    for (const [name, value] of Object.entries(calls)) {
      const tool = name.replace(/_(?:requests|calls)$/, '')
      const calls = count(value)
      if (calls > 0) add(`tools.${tool}`, calls, 1, this.#tools.get(tool) ?? this.#tools.get('*') ?? 0n)
    }
  }

  /** `bounding`: at the highest rates among those that the vendor may choose. */
  #units(units: Units, { factor }: TierPrice, bounding: boolean, add: Add): void {
    const { images, seconds } = units
    const rate = (tariff: Tariff) => (bounding ? tariff.bound(units, factor) : tariff.rate(units, factor))
    if (images !== undefined) add('image', count(images), 1, rate(this.#image))
    for (const [index, name] of countedNames.entries()) {
      const { part, per } = countedUnits[name]
      if (units[name] !== undefined) add(part, count(units[name]), per, scaled(this.#counted[index] as bigint, factor))
    }
    for (const [name, number] of Object.entries(units.own ?? {}))
      add(`units.${name}`, count(number), 1, scaled(this.#own.get(name) ?? 0n, factor))
    if (seconds === undefined) return
    const ms = seconds > 0 ? Math.max(milliseconds(seconds), this.#leastMs) : 0
    add('second', ms, 1000, rate(this.#second))
    if (this.#hour > 0n) add('hour', ms, 3_600_000, scaled(this.#hour, factor))
  }
}

function ratesByName(given: Readonly<Record<string, string>> | undefined, part: string): ReadonlyMap<string, bigint> {
  const rates = Object.entries(given ?? {})
  return new Map(rates.map(([name, text]) => [name, parseRate(text, `${part}["${name}"]`)]))
}
