import type { Caller } from '../../callers/contract.ts'
import { GatewayError } from '../../errors.ts'
import type { Provider } from '../../providers/contract.ts'
import type { Guard } from '../../records/guard.ts'
import type { Model, ModelRegistry } from '../contract.ts'
import type { Group, Groups } from '../group-fields.ts'
import { listOf, modelIn, type ModelSet } from '../model-set.ts'
import type { RegistryEntry, RegistryStore } from './contract.ts'
import { Parsed, snapshotOf, type Own, type Snapshot } from './snapshot.ts'
import { StoreReader } from './store-reader.ts'

/** Options of models, groups and prices that administration sets. */
export interface LiveRegistryOptions {
  /** The providers by the names that deployments in the store use. They stay in code, because they hold keys and functions. */
  readonly providers: Readonly<Record<string, Provider>>
}

export interface LiveServices {
  readonly store: RegistryStore
  readonly guard: Guard
  readonly own: Own
  /** The models of the options. */
  readonly ownSet: ModelSet
  /** Groups that hold unless the store has one of the same name. */
  readonly defaults: Groups
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The models, groups and prices of the options and of a store. A call waits for the store only after a pause, or at the start. */
export class LiveRegistry implements ModelRegistry {
  /** The groups that hold now. Changes in place. */
  readonly groups: Groups
  readonly own: Own
  readonly #services: LiveServices
  readonly #reader: StoreReader
  readonly #parsed = new Parsed()
  #snapshot: Snapshot
  #sets: readonly ModelSet[]

  constructor(services: LiveServices) {
    const { store, guard, own } = services
    this.#services = services
    this.own = own
    this.groups = Object.create(null) as Groups
    this.#reader = new StoreReader(store, guard, (entries) => this.#apply(entries))
    this.#snapshot = snapshotOf([], own)
    this.#sets = []
    this.#apply([])
  }

  /** Undefined if a call of this caller can go on; otherwise resolves when it can. Rejects with a 503 if its group is not known yet. */
  readyFor({ group }: Pick<Caller, 'group'>): Promise<void> | undefined {
    return this.#reader.use()?.then(() => {
      if (!this.#reader.isLoaded && !Object.hasOwn(this.groups, group)) throw unread()
    })
  }

  find(id: string): Promise<Model | undefined> | Model | undefined {
    const reading = this.#reader.use()
    return reading === undefined ? this.#find(id) : reading.then(() => this.#find(id))
  }

  async list(): Promise<readonly Model[]> {
    await this.#reader.use()
    return listOf(this.#sets, this.#services.now)
  }

  /** The model with the price that the store has for it as of `at`, if it has none in the options. */
  complete(model: Model, at: number): Model {
    return this.#snapshot.prices.complete(model, at)
  }

  /** Resolves when groups and models are as current as this process knows them. */
  async read(): Promise<void> {
    await this.#reader.use()
  }

  /** Serves what is in the store now. Resolves afterwards, or if the store fails. */
  refresh(): Promise<void> {
    return this.#reader.read()
  }

  async close(): Promise<void> {
    this.#reader.close()
  }

  #find(id: string): Model | undefined {
    const found = modelIn(this.#sets, id)
    if (found === undefined && !this.#reader.isLoaded) throw unread()
    return found
  }

  #apply(entries: readonly RegistryEntry[]): void {
    const { own, ownSet, defaults } = this.#services
    this.#snapshot = snapshotOf(entries, own, this.#parsed)
    this.#sets = [ownSet, this.#snapshot.set]
    const groups = this.groups as Record<string, Group>
    const now = { ...defaults, ...this.#snapshot.groups, ...own.groups }
    for (const name of Object.keys(groups)) if (!Object.hasOwn(now, name)) delete groups[name]
    for (const [name, group] of Object.entries(now)) groups[name] = group
  }
}

/** Nothing is known of models in the store: a 404 could be wrong. */
function unread(): GatewayError {
  const message = 'The models could not be read yet. Try again.'
  return new GatewayError('service_unavailable', { message, retryAfterMs: 1_000, fault: 'gateway_store' })
}
