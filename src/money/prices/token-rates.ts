/** Prices of tokens: how a vendor's counts are divided into parts with a price of their own. */
import type { Usage } from '../../wire/usage.ts'
import type { TokenPart, TokenPrices } from './price-options.ts'
import { count, most, parseRate, scaled } from './rate.ts'
import type { Add } from './sum.ts'

/** A rate for each kind of token. */
type Rates = Readonly<Record<TokenPart, bigint>>

const inputs = [
  'input',
  'cached',
  'cacheWrite',
  'cacheWrite1h',
  'inputAudio',
  'cachedAudio',
  'inputImage',
  'cachedImage',
  'inputVideo',
] as const satisfies readonly TokenPart[]

const outputs = [
  'output',
  'reasoning',
  'outputAudio',
  'outputImage',
  'outputVideo',
] as const satisfies readonly TokenPart[]

/** The prices of tokens of one service tier, for prompts up to the next length. */
export class TokenRates {
  readonly #rates: Rates
  /** The highest rate of an input token, whatever its kind. */
  readonly highestInput: bigint
  /** The highest rate of an output token, whatever its kind. */
  readonly highestOutput: bigint

  /** Throws a `TypeError` that names the invalid field. `place`: the fields above it, such as `longPrompts[0].`. */
  constructor(prices: TokenPrices, factor: bigint, place: string = '') {
    const rate = (part: TokenPart) =>
      prices[part] === undefined ? undefined : scaled(parseRate(prices[part], `${place}${part}`), factor)
    const input = rate('input') ?? 0n
    const output = rate('output') ?? 0n
    const cached = rate('cached') ?? input
    const cacheWrite = rate('cacheWrite')
    const inputAudio = rate('inputAudio')
    const inputImage = rate('inputImage')
    this.#rates = {
      input,
      cached,
      cacheWrite: cacheWrite ?? input,
      cacheWrite1h: rate('cacheWrite1h') ?? (cacheWrite === undefined ? input : ofOneHour(cacheWrite)),
      inputAudio: inputAudio ?? input,
      cachedAudio: rate('cachedAudio') ?? inputAudio ?? cached,
      inputImage: inputImage ?? input,
      cachedImage: rate('cachedImage') ?? inputImage ?? cached,
      inputVideo: rate('inputVideo') ?? input,
      output,
      reasoning: rate('reasoning') ?? output,
      outputAudio: rate('outputAudio') ?? output,
      outputImage: rate('outputImage') ?? output,
      outputVideo: rate('outputVideo') ?? output,
    }
    this.highestInput = most(0n, ...inputs.map((part) => this.#rates[part]))
    this.highestOutput = most(0n, ...outputs.map((part) => this.#rates[part]))
  }

  /** Adds each part of the tokens once. Details that exceed their total are reduced to it. */
  each(usage: Usage, add: Add): void {
    this.#inputs(count(usage.prompt_tokens), usage.prompt_tokens_details, add)
    this.#outputs(count(usage.completion_tokens), usage.completion_tokens_details, add)
  }

  #inputs(prompt: number, details: Usage['prompt_tokens_details'], add: Add): void {
    if (prompt === 0) return
    if (details === undefined || details === null) return this.#add('input', prompt, add)
    const read = Math.min(count(details.cached_tokens), prompt)
    const written = Math.min(count(details.cache_write_tokens), prompt - read)
    const written1h = Math.min(count(details.cache_write_1h_tokens), written)
    let fresh = prompt - read - written
    this.#add('cacheWrite', written - written1h, add)
    this.#add('cacheWrite1h', written1h, add)
    if (!details.audio_tokens && !details.image_tokens && !details.video_tokens) {
      this.#add('input', fresh, add)
      return this.#add('cached', read, add)
    }
    let cached = read
    const cachedDetails = Object(details.cached_tokens_details) as { audio_tokens?: unknown; image_tokens?: unknown }
    /** Divides the tokens of a kind into fresh and cached ones. Cached tokens of unknown kind count as text first. */
    const divide = (kind: unknown, ofCache: unknown): [number, number] => {
      const all = Math.min(count(kind), fresh + cached)
      const fromCache = Math.min(typeof ofCache === 'number' ? count(ofCache) : Math.max(0, all - fresh), all, cached)
      const rest = Math.min(all - fromCache, fresh)
      fresh -= rest
      cached -= fromCache
      return [rest, fromCache]
    }
    const [audio, cachedAudio] = divide(details.audio_tokens, cachedDetails.audio_tokens)
    const [image, cachedImage] = divide(details.image_tokens, cachedDetails.image_tokens)
    const [video, cachedVideo] = divide(details.video_tokens, undefined)
    this.#add('input', fresh, add)
    this.#add('cached', cached + cachedVideo, add)
    this.#add('inputAudio', audio, add)
    this.#add('cachedAudio', cachedAudio, add)
    this.#add('inputImage', image, add)
    this.#add('cachedImage', cachedImage, add)
    this.#add('inputVideo', video, add)
  }

  #outputs(completion: number, details: Usage['completion_tokens_details'], add: Add): void {
    if (completion === 0) return
    if (details === undefined || details === null) return this.#add('output', completion, add)
    let rest = completion
    const take = (value: unknown) => {
      const part = Math.min(count(value), rest)
      rest -= part
      return part
    }
    const reasoning = take(details.reasoning_tokens)
    const audio = take(details.audio_tokens)
    const image = take(details.image_tokens)
    const video = take(details.video_tokens)
    this.#add('output', rest, add)
    this.#add('reasoning', reasoning, add)
    this.#add('outputAudio', audio, add)
    this.#add('outputImage', image, add)
    this.#add('outputVideo', video, add)
  }

  #add(part: TokenPart, quantity: number, add: Add): void {
    if (quantity > 0) add(part, quantity, 1_000_000, this.#rates[part])
  }
}

/**
 * Claude charges 2 × input for a cache write of one hour, and 1.25 × input for one of five minutes. It is the only vendor
 * that has both. Rounded up.
 */
function ofOneHour(cacheWrite: bigint): bigint {
  return (cacheWrite * 8n + 4n) / 5n
}
