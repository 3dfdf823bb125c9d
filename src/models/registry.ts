import { modelOf, requirePrice } from './model-of.ts'
import type { ModelEntries } from './model-options.ts'
import { ModelSetMaker, type ModelSet } from './model-set.ts'
import { requireCharged } from './price-coverage.ts'
import type { PriceTableDefaults } from './price-table-defaults.ts'

export interface RegistryOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Whether every model must have a price. Throws a `TypeError` that names one without. Default false. */
  readonly priced?: boolean
  /** Prices and context windows for models without their own. Default: none. */
  readonly tableDefaults?: PriceTableDefaults | undefined
}

/** The models in the options. Throws a `TypeError` that names an invalid model. */
export function modelSetOf(entries: ModelEntries, options: RegistryOptions): ModelSet {
  const { now, priced = false, tableDefaults } = options
  const set = new ModelSetMaker()
  for (const [id, entry] of Object.entries(entries)) {
    const model = modelOf(id, entry, entries, Math.floor(now() / 1000))
    const complete = tableDefaults?.complete(model, now()) ?? model
    // Which models a wildcard has is known only when they are requested.
    if (priced && !(tableDefaults !== undefined && id.endsWith('*'))) requirePrice(complete)
    requireCharged(complete)
    set.add(id, model, entry)
  }
  return set
}
