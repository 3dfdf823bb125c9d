import { Price } from '../../money/prices/price.ts'
import { breachOf } from '../../records/rules.ts'
import type { Group, Groups } from '../group-fields.ts'
import { modelOf } from '../model-of.ts'
import type { ModelEntries } from '../model-options.ts'
import { ModelSetMaker, type ModelSet } from '../model-set.ts'
import type { RegistryEntry, RegistryKind } from './contract.ts'
import { DatedPrices, type DatedPrice } from './dated-prices.ts'
import { storedRules, type StoredGroup, type StoredPrice } from './documents.ts'
import { servedEntries, type KnownModel, type NamedProviders } from './stored-models.ts'

/** What is set in the options, which takes precedence. */
export interface Own {
  readonly models: ModelEntries
  readonly groups: Groups
  readonly providers: NamedProviders
  /** The names of the caps of all callers; undefined if caps cannot be kept. */
  readonly capNames: readonly string[] | undefined
}

/** What a process serves of the entries of a store. */
export interface Snapshot {
  readonly set: ModelSet
  /** Without those of the options. */
  readonly groups: Groups
  readonly prices: DatedPrices
  /** Why entries are not served, by `entryName`. */
  readonly faults: ReadonlyMap<string, string>
}

export function entryName(kind: RegistryKind, id: string): string {
  return `${kind} ${id}`
}

/** What parsing has made of an entry, kept until it changes: what is computed of the objects is not computed again. */
export class Parsed {
  #known = new Map<string, { readonly version: number; readonly made: unknown }>()
  #next = new Map<string, { readonly version: number; readonly made: unknown }>()

  of<T>({ kind, id, version }: RegistryEntry, make: () => T): T {
    const name = entryName(kind, id)
    const known = this.#known.get(name)
    const made = known?.version === version ? (known.made as T) : make()
    this.#next.set(name, { version, made })
    return made
  }

  /** Forgets what was not asked for since the last call. */
  forgetOthers(): void {
    this.#known = this.#next
    this.#next = new Map()
  }
}

/** Entries with faults are left out, so that one of them does no harm to others. */
export function snapshotOf(entries: readonly RegistryEntry[], own: Own, parsed: Parsed = new Parsed()): Snapshot {
  const faults = new Map<string, string>()
  const models = new Map<string, KnownModel>()
  // Without a prototype, which names could mean.
  const groups = Object.create(null) as Record<string, Group>
  const priced = new Map<string, boolean>()
  const prices: DatedPrice[] = []
  for (const entry of entries) {
    const { kind, id, value } = entry
    // A later version may keep other kinds.
    if (value === undefined || !Object.hasOwn(storedRules, kind)) continue
    const name = entryName(kind, id)
    const fault = valueFault(entry, own)
    if (fault !== undefined) faults.set(name, fault)
    else if (kind === 'model') models.set(id, value as unknown as KnownModel)
    else if (kind === 'group') groups[id] = parsed.of(entry, () => value as unknown as StoredGroup)
    else {
      const { model, from, price } = value as unknown as StoredPrice
      const dated = { model, from, price: parsed.of(entry, () => new Price(price)) }
      if (!priced.has(model)) priced.set(model, hasOwnPrice(own.models, model))
      if (priced.get(model) === true) faults.set(name, 'The price of this model is set in code.')
      else prices.push(dated)
    }
  }
  parsed.forgetOthers()
  const faulty = (id: string, fault: string) => faults.set(entryName('model', id), fault)
  return { set: setOf(models, own, faulty), groups, prices: new DatedPrices(prices), faults }
}

/** Whether the options set the price of a model. */
export function hasOwnPrice(models: ModelEntries, id: string): boolean {
  if (!Object.hasOwn(models, id)) return false
  const { deployments, price } = modelOf(id, models[id] as ModelEntries[string], models, 0)
  return price !== undefined || deployments.some((each) => each.price !== undefined)
}

function valueFault({ kind, value }: RegistryEntry, { capNames }: Own): string | undefined {
  const breach = breachOf(storedRules[kind], value)
  if (breach !== undefined) return `"${breach.path}": ${breach.message}`
  const { caps = [] } = value as { readonly caps?: Group['caps'] }
  if (kind !== 'group' || caps.length === 0) return undefined
  if (capNames === undefined) return '"caps": need the option "billing" and a ledger with caps'
  const twice = caps.find((cap) => capNames.includes(cap.name))
  return twice && `"caps": the name "${twice.name}" is used by another cap of the same callers`
}

function setOf(
  stored: ReadonlyMap<string, KnownModel>,
  own: Own,
  faulty: (id: string, fault: string) => void,
): ModelSet {
  const served = servedEntries(stored, own.models, own.providers, faulty)
  const all: ModelEntries = { ...Object.fromEntries(served), ...own.models }
  const set = new ModelSetMaker()
  for (const [id, entry] of served) {
    try {
      set.add(id, modelOf(id, entry, all, 0), entry)
    } catch (error) {
      faulty(id, (error as Error).message)
    }
  }
  return set
}
