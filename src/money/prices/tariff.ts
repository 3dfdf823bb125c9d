import type { Tiers } from './price-options.ts'
import type { Units } from '../../wire/units.ts'
import { most, parseRate, scaled } from './rate.ts'

/** A single price, or prices by size and quality. */
export class Tariff {
  readonly #rates: ReadonlyMap<string, bigint>
  readonly #other: bigint

  /** Throws a `TypeError` that names the invalid field. `name`: the field of the price. */
  constructor(options: string | Tiers | undefined, name: string) {
    if (options !== undefined && typeof options !== 'string' && !isTiers(options)) {
      throw new TypeError(
        `price.${name} must be a decimal number in a string, or an object of such strings by size and quality`,
      )
    }
    const entries = Object.entries(typeof options === 'string' ? { '*': options } : (options ?? {}))
    this.#rates = new Map(entries.map(([key, text]) => [key, parseRate(text, `${name}["${key}"]`)]))
    this.#other = this.#rates.get('*') ?? this.highest
  }

  get highest(): bigint {
    return most(0n, ...this.#rates.values())
  }

  /** The price of a known size and quality. */
  rate({ size = '', quality = '' }: Units, factor: bigint): bigint {
    const rates = this.#rates
    if (rates.size === 0) return 0n
    return scaled(rates.get(`${size} ${quality}`) ?? rates.get(size) ?? rates.get(quality) ?? this.#other, factor)
  }

  /** The highest price that a request for this size and quality can lead to: the vendor chooses what is left open. */
  bound(asked: Units, factor: bigint): bigint {
    if (this.#rates.size === 0) return 0n
    const { size, quality } = asked
    if (!isOpen(size) && !isOpen(quality)) return this.rate(asked, factor)
    const isPossible = (key: string) =>
      isOpen(size) || !this.#rates.has(size) || key === size || key.startsWith(`${size} `)
    const rates = [...this.#rates].flatMap(([key, rate]) => (isPossible(key) ? [rate] : []))
    return scaled(most(0n, ...rates), factor)
  }
}

function isOpen(value: string | undefined): value is 'auto' | undefined {
  return value === undefined || value === 'auto'
}

function isTiers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}
