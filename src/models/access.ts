import { GatewayError } from '../errors.ts'
import type { Caller } from '../auth/contract.ts'
import type { ScopedRate } from '../limits/rate.ts'
import { within } from '../http/deadline.ts'
import type { Model, ModelRegistry } from './contract.ts'
import { priced } from './priced.ts'

/** A model group: the models, limits and prices of its keys. */
export interface Group {
  /** `'*'` for all models, or model names, each of which may end in `*`. */
  readonly models: '*' | readonly string[]
  /** Limits, counted per account of the group unless `per` is set. */
  readonly rate?: ScopedRate
  /** Factor applied to all prices, such as `'0.8'`. Default `'1'`. Only used with `billing`. */
  readonly priceMultiplier?: string
}

/** Model groups by name. */
export type Groups = Readonly<Record<string, Group>>

const registryTimeoutMs = 3_000

/** The models that each caller may use. All other models do not exist for it. */
export class Catalogue {
  readonly #registry: ModelRegistry
  readonly #groups: Groups

  constructor(registry: ModelRegistry, groups: Groups) {
    this.#registry = registry
    this.#groups = groups
  }

  /** Throws the same 404 `model_not_found` for a model that does not exist and for one outside the caller's group. */
  async find(id: string, caller: Caller): Promise<Model> {
    const found = this.#registry.find(id)
    const given = found instanceof Promise ? await within(registryTimeoutMs, found, 'the model registry') : found
    const model = given && priced(given)
    if (model === undefined || !this.#allows(caller, model, id)) throw noSuchModel(id)
    return model
  }

  /** The model regardless of groups, for work that was authorised when it started. */
  async lookUp(id: string): Promise<Model | undefined> {
    const found = await this.#registry.find(id)
    return found && priced(found)
  }

  async list(caller: Caller, signal: AbortSignal): Promise<Model[]> {
    const models = await within(registryTimeoutMs, this.#listed(signal), 'the model registry')
    return models.filter((model) => this.#allows(caller, model, model.id))
  }

  async #listed(signal: AbortSignal): Promise<readonly Model[]> {
    return (await this.#registry.list(signal)).map(priced)
  }

  #allows(caller: Caller, model: Model, id: string): boolean {
    if (!Object.hasOwn(this.#groups, caller.group)) return false
    const group = this.#groups[caller.group] as Group
    if (model.groups !== undefined && !model.groups.includes(caller.group)) return false
    return group.models === '*' || group.models.some((name) => matches(name, model.id) || matches(name, id))
  }
}

/** The message repeats the requested name, because most such errors are typos. */
function noSuchModel(id: string): GatewayError {
  const message = `The model "${id.slice(0, 128)}" does not exist or you do not have access to it.`
  return new GatewayError('model_not_found', { message })
}

function matches(name: string, id: string): boolean {
  return name.endsWith('*') ? id.startsWith(name.slice(0, -1)) : name === id
}
