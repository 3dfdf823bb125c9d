import * as z from 'zod'
import { GatewayError, invalid } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import { Price } from '../../money/prices/price.ts'
import { requireCharged } from '../../models/price-coverage.ts'
import type { RegistryEntry } from '../../models/stored/contract.ts'
import { priceId, storedPriceFields, type StoredPrice } from '../../models/stored/documents.ts'
import { hasOwnPrice } from '../../models/stored/snapshot.ts'
import { strict } from '../../records/rules.ts'
import type { Json } from '../../wire/json.ts'
import { requireValid } from '../check.ts'
import { id } from '../questions.ts'
import type { AdminServices } from '../services.ts'
import { conflict, entriesOf, requireRegistry } from './documents.ts'

/** A price of a model from a moment on. */
export interface RegistryPriceView extends StoredPrice {
  /** Whether it is in the future, and so can still be removed. */
  readonly isPlanned: boolean
}

/** A new price. */
export interface PriceRequest extends Omit<StoredPrice, 'from'> {
  /** Milliseconds since the epoch. Default: two seconds from now, or at once for the first price of the model. */
  readonly from?: number
}

const { from, note, ...rest } = storedPriceFields

/** The rule of a new price. */
export const priceRule: z.ZodObject = strict({ ...rest, model: id, from: from.optional(), note: note.optional() })

/** Milliseconds before a price applies, so that all processes know it by then. */
const leadMs = 2_000

/** Prices of models, each from a moment on. What has begun to apply is never changed. */
export class PriceAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /** The prices of a model, or of all, by model, latest first. */
  async list({ model }: { readonly model?: string } = {}): Promise<readonly RegistryPriceView[]> {
    const prices = (await entriesOf(this.#services)).flatMap(({ kind, value }) =>
      kind === 'price' && value !== undefined ? [value as unknown as StoredPrice] : [],
    )
    return prices
      .filter((each) => model === undefined || each.model === model)
      .sort((left, right) => (left.model === right.model ? right.from - left.from : left.model < right.model ? -1 : 1))
      .map((each) => this.#viewOf(each))
  }

  /**
   * Sets the price of a model from a moment on. Calls that started before keep their price. Throws a 400 for an invalid price, an
   * unknown model or a time that has passed, and a 409 if the price is set in the options or there is one from this time on.
   */
  async create(request: PriceRequest): Promise<RegistryPriceView> {
    const { live } = requireRegistry(this.#services)
    requireValid(priceRule, request)
    const { model } = request
    if (hasOwnPrice(live.own.models, model)) throw conflict(`The price of "${model}" is set in code. Change it there.`)
    const known = await live.find(model)
    const entries = await entriesOf(this.#services)
    // A disabled model is not served.
    const isStored = entries.some(
      ({ kind, id: name, value }) => kind === 'model' && name === model && value !== undefined,
    )
    if (known === undefined && !isStored) throw invalid(`"${model}" is not a model.`, 'model')
    if (known !== undefined) requireCovered(known, request)
    const isFirst = !entries.some(({ kind, value }) => kind === 'price' && Object(value).model === model)
    const earliest = this.#services.now() + (isFirst ? 0 : leadMs)
    const price: StoredPrice = { ...request, from: request.from ?? earliest }
    if (price.from < earliest) {
      throw invalid('"from" must be at least two seconds from now: no price applies to calls that have begun.', 'from')
    }
    await this.#put('create', entries, price, price)
    return this.#viewOf(price)
  }

  /** Removes a price that does not apply yet. Throws a 404 if there is none, and a 409 once it applies. */
  async remove({ model, from: at }: Pick<StoredPrice, 'model' | 'from'>): Promise<void> {
    const entries = await entriesOf(this.#services)
    const found = latestOf(entries, { model, from: at })
    if (found?.value === undefined) throw new GatewayError('not_found', { param: 'from', message: 'No such price.' })
    const price = found.value as unknown as StoredPrice
    if (!this.#viewOf(price).isPlanned) throw conflict('This price applies already. Set another one instead.')
    await this.#put('remove', entries, price, undefined)
  }

  async #put(
    action: string,
    entries: readonly RegistryEntry[],
    key: StoredPrice,
    price: StoredPrice | undefined,
  ): Promise<void> {
    const { live, store, guard } = requireRegistry(this.#services)
    const latest = latestOf(entries, key)
    const before = latest?.value
    const taken = 'There is a price from this time on already. Remove it first, or choose another time.'
    if (price !== undefined && before !== undefined) throw conflict(taken)
    const value = price as unknown as Json | undefined
    const version = (latest?.version ?? 0) + 1
    const entry = { kind: 'price' as const, id: priceId(key), version, ...(value !== undefined && { value }) }
    if (!(await guard.call(() => store.put(entry)))) throw conflict(taken)
    await live.refresh()
    await this.#services.note({ action: `prices.${action}`, target: key.model, before, after: price })
  }

  #viewOf(price: StoredPrice): RegistryPriceView {
    return { ...price, isPlanned: price.from >= this.#services.now() + leadMs }
  }
}

function latestOf(entries: readonly RegistryEntry[], key: Pick<StoredPrice, 'model' | 'from'>) {
  return entries.find(({ kind, id: name }) => kind === 'price' && name === priceId(key))
}

/** Throws a 400 for a price that would make what the model produces free by mistake. */
function requireCovered(model: Model, { price }: PriceRequest): void {
  try {
    requireCharged({ ...model, price: new Price(price) })
  } catch (error) {
    throw invalid((error as Error).message, 'price', error)
  }
}
