/** What differs between two tables of prices, and whether the newer one is likely to be right. */
import type { ModelInfo, Provider } from '@pydantic/genai-prices'
import type { Vendors } from './documents.ts'

/** The rates of a model in US dollars, by their names in the table, such as `input_mtok` for a million input tokens. */
export type TableRates = Readonly<Record<string, number>>

/** A model that only one of the tables has. */
export interface RatedModel {
  /** The vendor's id in the table, such as `google`. */
  readonly vendor: string
  /** The vendor's name for the model. */
  readonly model: string
  /** Its rates. */
  readonly rates: TableRates
}

/** A model with other rates. */
export interface ChangedModel {
  /** The vendor's id in the table. */
  readonly vendor: string
  /** The vendor's name for the model. */
  readonly model: string
  /** Its rates so far. */
  readonly from: TableRates
  /** Its rates from now on. */
  readonly to: TableRates
}

export interface Difference {
  /** Models that only the newer table has. */
  readonly added: readonly RatedModel[]
  /** Models that only the present table has. */
  readonly removed: readonly RatedModel[]
  /** Models with other rates. */
  readonly changed: readonly ChangedModel[]
}

/** Of the vendors in the newer table; the others stay as they are. */
export function differenceOf(before: (id: string) => Provider | undefined, after: Vendors): Difference {
  const added: RatedModel[] = []
  const removed: RatedModel[] = []
  const changed: ChangedModel[] = []
  for (const [vendor, { models }] of after) {
    const [old, now] = [ratesOf(before(vendor)?.models ?? []), ratesOf(models)]
    for (const [model, rates] of now) {
      const from = old.get(model)
      if (from === undefined) added.push({ vendor, model, rates })
      else if (!isSame(from, rates)) changed.push({ vendor, model, from, to: rates })
    }
    for (const [model, rates] of old) if (!now.has(model)) removed.push({ vendor, model, rates })
  }
  return { added, removed, changed }
}

/** US dollars: more than any vendor asks for a million tokens, or for a thousand calls. */
const mostDollars = 100_000

/** A price that falls or rises further is a mistake, or needs a release of this library. */
const mostFactor = 10

/** Most names of models in a message. */
const named = 5

/** Throws an `Error` that says why the newer table is not used. */
export function requireLikely(
  after: Vendors,
  { removed, changed }: Difference,
  before: (id: string) => Provider | undefined,
): void {
  const models = [...after].flatMap(([vendor, { models: all }]) =>
    [...ratesOf(all)].map(([model, rates]) => ({ name: `${vendor}/${model}`, rates })),
  )
  if (models.length === 0) throw new Error('it has no models')
  const absurd = models.filter(({ rates }) => Object.values(rates).some((rate) => !isPossible(rate)))
  if (absurd.length > 0) throw new Error(`it has rates that cannot be: ${names(absurd.map(({ name }) => name))}`)
  const known = [...after.keys()].reduce((sum, id) => sum + (before(id)?.models.length ?? 0), 0)
  if (removed.length * 2 > known) throw new Error(`it lacks ${removed.length} of ${known} models, so it is not whole`)
  const far = changed.filter(({ from, to }) => Object.entries(to).some(([name, rate]) => isFar(from[name], rate)))
  if (far.length > 0) {
    const list = names(far.map(({ vendor, model }) => `${vendor}/${model}`))
    throw new Error(`it has rates that differ by a factor of ${mostFactor} from the present ones: ${list}`)
  }
}

/** Documents may have anything in the place of a number. */
function isPossible(rate: unknown): boolean {
  return typeof rate === 'number' && rate >= 0 && rate <= mostDollars
}

function isFar(from: number | undefined, to: number): boolean {
  if (from === undefined || from === 0 || from === to) return false
  return to * mostFactor <= from || to >= from * mostFactor
}

function names(all: readonly string[]): string {
  return all.slice(0, named).join(', ') + (all.length > named ? `, and ${all.length - named} more` : '')
}

function ratesOf(models: readonly ModelInfo[]): ReadonlyMap<string, TableRates> {
  return new Map(models.map(({ id, prices }) => [id, flat(prices)]))
}

/** One number a name: tiers and conditions are a part of it. */
function flat(prices: ModelInfo['prices']): TableRates {
  const rates: Record<string, number> = {}
  for (const { constraint, prices: each } of Array.isArray(prices) ? prices : [{ constraint: undefined, prices }]) {
    const when = constraint === undefined ? '' : ` ${Object.values(constraint).join(' ')}`
    for (const [name, value] of Object.entries(each)) {
      if (value === undefined) continue
      rates[name + when] = typeof value === 'object' && value !== null ? value.base : value
      if (typeof value !== 'object' || value === null) continue
      for (const { start, price } of value.tiers) rates[`${name} above ${start}${when}`] = price
    }
  }
  return rates
}

function isSame(left: TableRates, right: TableRates): boolean {
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key])
}
