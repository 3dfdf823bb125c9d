/** `modelhatch/prices`: prices and context windows from the table of the package `@pydantic/genai-prices`. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { calcPrice, findProvider, type ModelInfo, type Provider } from '@pydantic/genai-prices'
import { Price } from '../../src/money/prices/price.ts'
import type { PriceSource } from '../../src/money/receipt.ts'
import type { PriceOptions } from '../../src/money/prices/price-options.ts'
import type { ListedModel, PriceTable, ServedModel, VendorModel } from '../../src/money/prices/price-table.ts'
import { factorWarning, type ConfigWarning } from '../../src/records/warning.ts'
import { callback, checkKnown, elsewhere, object, text, textByName } from '../../src/records/known-options.ts'
import { exact, parseFactor } from './decimals.ts'
import { positionAt, priceIn, type Convert } from './entry.ts'
import { priceOfImages } from './images.ts'
import { installed, Refresh, type RefreshOptions } from './refresh/refresh.ts'
import { requireDays, retiring } from './retirements.ts'
import { regionFactor, withPublishedRates, withRules } from './rules.ts'

export type { ChangedModel, RatedModel, TableRates } from './refresh/difference.ts'
export type { PriceDifference, RefreshOptions } from './refresh/refresh.ts'
export type { ListedModel, PriceTable, ServedModel, VendorModel } from '../../src/money/prices/price-table.ts'

/** A model of the table, for a margin. */
export interface TableModel {
  /** The vendor's id in the table, such as `google`. */
  readonly vendor: string
  /** The vendor's name for the model. */
  readonly model: string
}

/** Options of `prices`. */
export interface PricesOptions {
  /** The currency of the gateway: `billing.currency`. Default `USD`, in which the table is. */
  readonly currency?: string
  /** Units of `currency` for one US dollar, as a decimal string. Required for other currencies. Default `'1'`. */
  readonly rate?: string
  /** A factor on all prices of the table, such as `'1.2'`, or a function that returns it for a model. Default `'1'`. */
  readonly margin?: string | ((model: TableModel) => string)
  /**
   * Prices that take precedence over the table and complete it, by vendor and model, such as `'openai/gpt-5'`. In
   * `currency`; `rate` and `margin` do not apply.
   */
  readonly own?: Readonly<Record<string, PriceOptions>>
  /** Vendors of the table by the names of providers, such as `{ 'my-proxy': 'openai' }`. Default: equal names. */
  readonly vendors?: Readonly<Record<string, string>>
  /**
   * The day of the data, as `YYYY-MM-DD`, or a function that returns it; for hosts that refresh the table. Default: the
   * day on which the installed version was published, or on which a refresh was noticed.
   */
  readonly date?: string | (() => string)
  /** Newer documents of prices, by a function of the host's. Default: none. */
  readonly refresh?: RefreshOptions
  /**
   * The days on which vendors end models, as `YYYY-MM-DD`, by vendor and model: 30 days before, `gateway.warnings()` says which
   * deployments need another one. Default: none.
   */
  readonly retirements?: Readonly<Record<string, string>>
}

/** Providers of this library whose vendor has another id in the table. */
const aliases: Readonly<Record<string, string>> = {
  gemini: 'google',
  moonshot: 'moonshotai',
  xai: 'x-ai',
  zhipu: 'zhipuai',
  'amazon-bedrock': 'aws',
}

/** Maximum length of a name that is looked up. */
const longestName = 256

/** Maximum number of models in the cache. Clients choose the names of `'openai/*'`. */
const mostModels = 2_000

/**
 * A table of the prices and context windows of some 1,400 models. Needs the package `@pydantic/genai-prices`. It reads
 * that package's data, and newer documents with the option `refresh`. Throws a `TypeError` that
 * names an invalid option.
 *
 * @example
 * createGateway({ models: { 'openai/*': openai({ apiKey }) }, billing: { currency: 'USD' }, prices: prices() })
 */
export function prices(options: PricesOptions = {}): PriceTable {
  return new Table(options)
}

/** The prices of one model. */
interface Entry {
  /** The provider's object in the data, which is another one after a refresh. */
  readonly of: Provider
  /** The possible prices, of which the time decides on one. Undefined if the model has no price. */
  readonly at: ((at: number) => ListedModel | undefined) | undefined
}

class Table implements PriceTable {
  readonly currency: string
  readonly rate: string
  readonly #options: PricesOptions
  readonly #own: ReadonlyMap<string, ListedModel>
  readonly #entries = new Map<string, Entry>()
  readonly #refresh: Refresh | undefined
  #source: PriceSource
  #data: Provider | undefined

  constructor(options: PricesOptions) {
    checkKnown('prices', options, {
      currency: text,
      rate: elsewhere,
      margin: typeof options.margin === 'function' ? callback : elsewhere,
      own: object,
      vendors: textByName,
      date: elsewhere,
      refresh: object,
      retirements: textByName,
    })
    const { currency = 'USD', rate, margin = '1', own = {}, date, refresh } = options
    requireDays(options.retirements ?? {})
    this.#refresh = refresh && new Refresh(refresh)
    if (currency !== 'USD' && rate === undefined) {
      throw new TypeError(`prices: the table is in US dollars. Set "rate" to the price of one dollar in ${currency}.`)
    }
    this.currency = currency
    this.#options = options
    this.rate = rate ?? '1'
    parseFactor(this.rate, 'rate')
    if (typeof margin !== 'function') parseFactor(margin, 'margin')
    this.#own = new Map(Object.entries(own).map(([name, price]) => [name, { price: ownPrice(name, price) }]))
    this.#data = findProvider({ providerId: 'openai' })
    const { name, date: published } = installedRelease()
    const day = typeof date === 'string' ? date : published
    this.#source = { name, ...(day !== undefined && { date: day }) }
  }

  get source(): PriceSource {
    if (this.#refresh?.source !== undefined) return this.#refresh.source
    const data = findProvider({ providerId: 'openai' })
    const { date } = this.#options
    if (typeof date === 'function') {
      const day = date()
      if (day !== this.#source.date) this.#source = { ...this.#source, date: day }
    } else if (date === undefined && data !== this.#data) {
      this.#source = { ...this.#source, date: new Date().toISOString().slice(0, 10) }
    }
    this.#data = data
    return this.#source
  }

  find({ provider, model, at, origin }: VendorModel): ListedModel | undefined {
    if (model.length > longestName) return undefined
    const vendor = this.#vendorOf(provider)
    const data = this.#refresh === undefined ? installed(vendor) : this.#refresh.find(vendor)
    const name = `${vendor}/${model}`
    if (data === undefined) return this.#own.get(name)
    const region = regionFactor(vendor, model, origin)
    const key = region === '1' ? name : `${name} ${region}`
    let entry = this.#entries.get(key)
    if (entry?.of !== data) {
      if (this.#entries.size >= mostModels) this.#entries.clear()
      entry = this.#read(data, model, region)
      this.#entries.set(key, entry)
    }
    return entry.at?.(at)
  }

  start(failed: (error: unknown) => void): () => void {
    return this.#refresh?.start(failed) ?? (() => {})
  }

  warnings(served: readonly ServedModel[]): readonly ConfigWarning[] {
    const { margin } = this.#options
    const names = new Set(served.map(({ provider, model }) => `${this.#vendorOf(provider)}/${model ?? '*'}`))
    const unused = [...this.#own.keys()].filter(
      (name) => !names.has(name) && !names.has(`${name.slice(0, name.indexOf('/'))}/*`),
    )
    return [
      ...retiring(served, (provider) => this.#vendorOf(provider), this.#options.retirements),
      ...(typeof margin === 'string' ? factorWarning('prices.margin', margin) : []),
      ...unused.map((name) => ({
        code: 'unused_own_price' as const,
        where: `prices.own["${name}"]`,
        message: `prices no model, because none is served by this name. Write 'vendor/model', with the vendor's own name for the model. Served: ${[...names].slice(0, 10).join(', ')}.`,
      })),
    ]
  }

  /** Adapters of the AI SDK name a provider's interface too, such as `openai.responses`. */
  #vendorOf(provider: string): string {
    const [head = ''] = provider.split('.')
    return this.#options.vendors?.[provider] ?? (Object.hasOwn(aliases, head) ? (aliases[head] as string) : head)
  }

  #read(of: Provider, model: string, region: string): Entry {
    const info = modelIn(of, model)
    const own = this.#own.get(`${of.id}/${model}`)
    const { prices: given, context_window: contextWindow, id = model } = info ?? {}
    const { margin = '1' } = this.#options
    const factor = typeof margin === 'function' ? margin({ vendor: of.id, model }) : margin
    const listedBy = (optionsBy: (convert: Convert) => PriceOptions | undefined): ListedModel | undefined => {
      const priceBy = (convert: Convert) => {
        const options = optionsBy(convert)
        return options && new Price(options, this.source)
      }
      const cost = priceBy(this.#convertBy('1', region))
      const price = own?.price ?? (factor === '1' ? cost : priceBy(this.#convertBy(factor, region)))
      return price && { price, ...(cost && { cost }), ...(contextWindow !== undefined && { contextWindow }) }
    }
    if (given === undefined) {
      const listed = listedBy((convert) => priceOfImages(of.id, model, convert))
      return { of, at: listed && (() => listed) }
    }
    const possible = Array.isArray(given) ? given : [{ prices: given }]
    const listed = possible.map(({ prices: each }) => {
      const published = withPublishedRates(of.id, id, each)
      return listedBy((convert) => {
        const options = priceIn(published, convert)
        return options && withRules(options, of.id, id, convert)
      })
    })
    if (listed.length === 1) return { of, at: () => listed[0] }
    return { of, at: (at) => listed[positionAt(possible, at)] }
  }

  /** `region`: a factor on tokens, which are priced by the million; fees of calls are by the thousand. */
  #convertBy(factor: string, region: string): Convert {
    const calls = [parseFactor(this.rate, 'rate'), parseFactor(factor, 'margin')]
    const tokens = region === '1' ? calls : [...calls, parseFactor(region, 'region')]
    return (value, per) => exact(value, per, per === 1 ? tokens : calls)
  }
}

/** The entry of a model, found by the package's own rules, without its arithmetic. */
function modelIn(provider: Provider, model: string): ModelInfo | undefined {
  try {
    return calcPrice({}, model, { provider })?.model
  } catch {
    // An entry that the package itself cannot price.
    return undefined
  }
}

function ownPrice(name: string, price: PriceOptions): Price {
  try {
    return new Price(price)
  } catch (error) {
    throw new TypeError(`prices: own["${name}"].${(error as Error).message}`, { cause: error })
  }
}

const packageName = '@pydantic/genai-prices'

/** When versions were published. The table itself has no date. */
const published: Readonly<Record<string, string>> = { '0.1.8': '2026-09-23' }

/** The version and its day, as far as they are known. */
interface Release {
  readonly name: string
  readonly date: string | undefined
}

/** The installed release. Bundlers may leave out its manifest; then the version is unknown. */
function installedRelease(): Release {
  try {
    const main = createRequire(import.meta.url).resolve(packageName)
    const { version } = JSON.parse(readFileSync(join(dirname(main), '..', 'package.json'), 'utf8')) as {
      version: string
    }
    return { name: `${packageName} ${version}`, date: published[version] }
  } catch {
    return { name: packageName, date: undefined }
  }
}
