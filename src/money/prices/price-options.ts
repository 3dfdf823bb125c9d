import { checkKnown, elsewhere, type Known } from '../../records/known-options.ts'
import { countedParts, type CountedPrices } from '../../wire/units.ts'

/** Prices of tokens, in decimal strings of the gateway's currency per million tokens, such as `'2.5'`. */
export interface TokenPrices {
  /** Input tokens. */
  readonly input?: string
  /** Output tokens. */
  readonly output?: string
  /** Input tokens read from a cache. Default: as `input`. */
  readonly cached?: string
  /** Input tokens written to a cache. Default: as `input`. */
  readonly cacheWrite?: string
  /** Input tokens written to a cache that keeps them for one hour. Default: 1.6 × `cacheWrite`, as Claude charges. */
  readonly cacheWrite1h?: string
  /** Output tokens spent on reasoning. Default: as `output`. */
  readonly reasoning?: string
  /** Input tokens that are audio. Default: as `input`; requests with audio are then rejected. */
  readonly inputAudio?: string
  /** Audio input tokens read from a cache. Default: as `inputAudio`, or as `cached` if that is absent too. */
  readonly cachedAudio?: string
  /** Input tokens that are images. Default: as `input`. */
  readonly inputImage?: string
  /** Image input tokens read from a cache. Default: as `inputImage`, or as `cached` if that is absent too. */
  readonly cachedImage?: string
  /** Input tokens that are video. Default: as `input`. */
  readonly inputVideo?: string
  /** Output tokens that are audio. Default: as `output`; requests for audio are then rejected. */
  readonly outputAudio?: string
  /** Output tokens that are images. Default: as `output`. */
  readonly outputImage?: string
  /** Output tokens that are video. Default: as `output`. */
  readonly outputVideo?: string
}

/** Prices of tokens that change with the length of the prompt. */
export interface TieredTokenPrices extends TokenPrices {
  /**
   * Prices of requests whose prompt is longer, such as `[{ above: 200_000, input: '6', output: '22.5' }]`. The whole
   * prompt, cached tokens included, decides on the price of all tokens of the request. Absent fields: as without it.
   */
  readonly longPrompts?: readonly LongPromptPrices[]
}

/** Prices of tokens of a request with a long prompt. */
export interface LongPromptPrices extends TokenPrices {
  /** The prompt has more tokens than this. */
  readonly above: number
}

/** The price of a model, in decimal strings of the gateway's currency, such as `'2.5'`. Absent parts cost nothing. */
export interface PriceOptions extends TieredTokenPrices, CountedPrices {
  /**
   * Prices in other service tiers, such as `{ flex: '0.5', priority: { input: '5', output: '20' } }`. The tier that the
   * vendor reports decides, otherwise the one requested. A string is a factor on the prices of tokens and of all
   * units; an object replaces prices of tokens. A request for a tier that is not listed is rejected; if
   * the vendor reports one, the most expensive tier applies. Default: one price for all tiers, none can be requested.
   */
  readonly serviceTiers?: Readonly<Record<string, string | TieredTokenPrices>>
  /** Per request. */
  readonly request?: string
  /**
   * Per call of a tool that runs at the vendor, such as `{ web_search: '0.01', '*': '0.03' }`. Without `'*'`, tools that
   * are not listed cost nothing.
   */
  readonly tools?: Readonly<Record<string, string>>
  /** Per unit of another kind, by name: `search` of rerank, and what endpoints of the host count. What is not listed costs nothing. */
  readonly units?: Readonly<Record<string, string>>
  /** Per image; as `Tiers` if it depends on size or quality. */
  readonly image?: string | Tiers
  /** Per second of video or audio, charged by the millisecond; as `Tiers` if it depends on size or quality. */
  readonly second?: string | Tiers
  /** Per hour of video or audio, charged by the millisecond, for vendors whose price per second is not a finite decimal. */
  readonly hour?: string
  /** The shortest duration that is charged, in seconds. Default 0. */
  readonly minimumSeconds?: number
}

/**
 * Prices by size and quality. The most specific key applies: `'1024x1024 hd'`, then `'1024x1024'`, then `'hd'`, then
 * `'*'`. Without `'*'`, the highest price applies to all others.
 */
export type Tiers = Readonly<Record<string, string>>

/** The fields of `TokenPrices`. */
export type TokenPart = keyof TokenPrices

const tokenFields: Known<TokenPrices> = {
  input: elsewhere,
  output: elsewhere,
  cached: elsewhere,
  cacheWrite: elsewhere,
  cacheWrite1h: elsewhere,
  reasoning: elsewhere,
  inputAudio: elsewhere,
  cachedAudio: elsewhere,
  inputImage: elsewhere,
  cachedImage: elsewhere,
  inputVideo: elsewhere,
  outputAudio: elsewhere,
  outputImage: elsewhere,
  outputVideo: elsewhere,
}

export const tieredFields: Known<TieredTokenPrices> = { ...tokenFields, longPrompts: elsewhere }

const fields: Known<PriceOptions> = {
  ...tieredFields,
  serviceTiers: elsewhere,
  request: elsewhere,
  tools: elsewhere,
  units: elsewhere,
  image: elsewhere,
  second: elsewhere,
  hour: elsewhere,
  minimumSeconds: elsewhere,
  ...(Object.fromEntries(countedParts.map((part) => [part, elsewhere])) as Known<CountedPrices>),
}

/** Throws a `TypeError` that names an unknown field of a price, or one whose value has the wrong form. */
export function checkPrice(options: PriceOptions): void {
  checkKnown('price', options, fields)
  checkTiers('price', options)
  for (const [name, tier] of Object.entries(options.serviceTiers ?? {})) {
    if (typeof tier === 'string') continue
    checkKnown(`price.serviceTiers["${name}"]`, tier, tieredFields)
    checkTiers(`price.serviceTiers["${name}"]`, tier)
    if (options.longPrompts !== undefined && tier.longPrompts === undefined) {
      const fault =
        'say what long prompts cost in this tier with "longPrompts", or longPrompts: [] if they cost the same'
      throw new TypeError(`price.serviceTiers["${name}"]: ${fault}`)
    }
  }
  const { minimumSeconds = 0, second, hour } = options
  if (!Number.isFinite(minimumSeconds) || minimumSeconds < 0) {
    throw new TypeError('price.minimumSeconds must be a number of seconds')
  }
  if (second !== undefined && hour !== undefined) throw new TypeError('price: set either "second" or "hour"')
}

function checkTiers(place: string, { longPrompts = [] }: TieredTokenPrices): void {
  if (!Array.isArray(longPrompts)) throw new TypeError(`${place}.longPrompts must be an array`)
  for (const [index, each] of (longPrompts as readonly LongPromptPrices[]).entries()) {
    checkKnown(`${place}.longPrompts[${index}]`, each, { ...tokenFields, above: elsewhere })
    if (!Number.isSafeInteger(each.above) || each.above < 0) {
      throw new TypeError(`${place}.longPrompts[${index}].above must be a number of tokens`)
    }
  }
}
