import type { ConfigWarning } from '../../records/warning.ts'
import type { PriceSource } from '../receipt.ts'
import type { Price } from './price.ts'

/**
 * Prices and context windows of vendors' models, for the models of the options that have none of their own. A table
 * makes no network requests of its own: the host refreshes its data.
 */
export interface PriceTable {
  /** Required. The currency of its prices: that of `billing.currency`. */
  readonly currency: string
  /**
   * Optional. Units of `currency` for one US dollar, a decimal string: to compare costs with what vendors say of them. Default
   * `'1'` for `USD`; without it there is no comparison in other currencies.
   */
  readonly rate?: string
  /** Required. What the table is, and the day of its data. May change when the data does. */
  readonly source: PriceSource
  /**
   * Required. What it knows of a model; undefined if it does not know it, which is then refused or free as
   * `billing.unpriced` says. Called for every request, so it must be fast.
   */
  find(model: VendorModel): ListedModel | undefined
  /**
   * Optional. What is probably a mistake in its options, given what serves the models, and what is about to end. Called by `createGateway` and
   * `gateway.warnings()`.
   */
  warnings?(served: readonly ServedModel[]): readonly ConfigWarning[]
  /**
   * Optional. Starts to keep its data up to date; `failed` takes why it could not. Called by `createGateway`. Returns what ends
   * it, which `gateway.close()` calls.
   */
  start?(failed: (error: unknown) => void): () => void
}

/** A model that a gateway serves, by the vendor's name. */
export interface ServedModel {
  /** The name of the provider. */
  readonly provider: string
  /** The vendor's name for the model. Undefined: whichever the client names. */
  readonly model: string | undefined
}

/** A model by the vendor's name. */
export interface VendorModel {
  /** The name of the provider that serves it, such as `openai`. */
  readonly provider: string
  /** The vendor's name for the model. */
  readonly model: string
  /** When the call started, because prices may change with the day and the time of day. Milliseconds since the epoch. */
  readonly at: number
  /** The origin of the vendor's API, such as `https://eu.api.openai.com`: some vendors charge more in a region. */
  readonly origin?: string | undefined
}

/** What a price table knows of a model. */
export interface ListedModel {
  /** The price. Return the same object until the price changes. */
  readonly price: Price
  /** What the vendor charges the host: without a margin. The same object until it changes. Default: not known. */
  readonly cost?: Price
  /** Maximum tokens of input and output together. */
  readonly contextWindow?: number
}
