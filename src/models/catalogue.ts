import { GatewayError } from '../errors.ts'
import { matches } from '../records/pattern.ts'
import type { Caller } from '../callers/contract.ts'
import { within } from '../http/deadline.ts'
import type { Model, ModelRegistry, RegistryModel } from './contract.ts'
import type { Group, Groups } from './group-fields.ts'
import { withGroupPrice } from './group-prices.ts'
import type { OwnKeys } from './own-keys.ts'
import { withParsedPrices } from './parsed-prices.ts'
import type { PriceTableDefaults } from './price-table-defaults.ts'

const registryTimeoutMs = 3_000

export interface CatalogueOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Prices and context windows for models without their own. Default: none. */
  readonly tableDefaults?: PriceTableDefaults | undefined
  /** Prices that come before those of the table. Default: none. */
  readonly datedPrices?: { complete(model: Model, at: number): Model } | undefined
  /** Whether models without a price are refused. Default false. */
  readonly requiresPrice?: boolean
  /** Callers' own keys. Default: none. */
  readonly ownKeys?: OwnKeys | undefined
}

/** The models that each caller may use. All other models do not exist for it. */
export class Catalogue {
  readonly #registry: ModelRegistry
  readonly #groups: Groups
  readonly #options: CatalogueOptions

  /** @internal */
  constructor(registry: ModelRegistry, groups: Groups, options: CatalogueOptions = { now: Date.now }) {
    this.#registry = registry
    this.#groups = groups
    this.#options = options
  }

  /**
   * `startedAt`: when the call started, whose prices apply. Throws or rejects with the same 404 `model_not_found` for a
   * model that does not exist and for one outside the caller's group.
   */
  find(id: string, caller: Caller, startedAt: number = this.#options.now()): Promise<Model> | Model {
    const found = this.#find(id, caller, startedAt)
    const { ownKeys } = this.#options
    if (ownKeys === undefined) return found
    return found instanceof Promise
      ? found.then((model) => ownKeys.modelFor(model, caller))
      : ownKeys.modelFor(found, caller)
  }

  /** Like `find`, with the host's keys: tasks go on without their caller. */
  async findForTask(id: string, caller: Caller): Promise<Model> {
    const found = await this.#find(id, caller, this.#options.now())
    return this.#options.ownKeys?.modelForTask(found, caller) ?? found
  }

  #find(id: string, caller: Caller, startedAt: number): Promise<Model> | Model {
    const found = this.#registry.find(id, caller)
    if (found === undefined || 'deployments' in found) return this.#allowed(found, id, caller, startedAt)
    const finding = within(registryTimeoutMs, found, 'the model registry')
    return finding.then((model) => this.#allowed(model, id, caller, startedAt))
  }

  /** The model for work that was authorised when it started, at the prices of that time, and those of a group. */
  async lookUp(id: string, startedAt: number, group?: string): Promise<Model | undefined> {
    const found = await this.#registry.find(id)
    return found && this.#priced(this.#complete(found, startedAt), group)
  }

  async list(caller: Caller, signal: AbortSignal): Promise<Model[]> {
    const models = await within(registryTimeoutMs, this.#listed(signal), 'the model registry')
    const allowed = models.filter((model) => this.#allows(caller, model, model.id))
    return allowed.map((model) => this.#priced(model, caller.group))
  }

  async #listed(signal: AbortSignal): Promise<readonly Model[]> {
    const { now, tableDefaults, requiresPrice = false } = this.#options
    const models = (await this.#registry.list(signal)).map((model) => this.#complete(model, now()))
    // A vendor lists models that the table does not know, which are refused.
    return tableDefaults === undefined || !requiresPrice ? models : models.filter(hasPrice)
  }

  #complete(given: RegistryModel, at: number): Model {
    const { datedPrices, tableDefaults } = this.#options
    const parsed = withParsedPrices(given)
    const model = datedPrices?.complete(parsed, at) ?? parsed
    return tableDefaults?.complete(model, at) ?? model
  }

  #allowed(given: RegistryModel | undefined, id: string, caller: Caller, startedAt: number): Model {
    const model = given && this.#complete(given, startedAt)
    if (model === undefined || !this.#allows(caller, model, id)) throw noSuchModel(id)
    return this.#priced(model, caller.group)
  }

  #priced(model: Model, group: string | undefined): Model {
    const found = group !== undefined && Object.hasOwn(this.#groups, group) ? this.#groups[group] : undefined
    return found?.prices === undefined ? model : withGroupPrice(model, found)
  }

  #allows(caller: Caller, model: Model, id: string): boolean {
    if (!Object.hasOwn(this.#groups, caller.group)) return false
    const group = this.#groups[caller.group] as Group
    if (model.groups !== undefined && !model.groups.includes(caller.group)) return false
    return includes(group.models, model, id) && includes(caller.models ?? '*', model, id)
  }
}

function hasPrice({ price, deployments }: Model): boolean {
  return price !== undefined || deployments.every((each) => each.price !== undefined)
}

/** The message repeats the requested name, because most such errors are typos. */
function noSuchModel(id: string): GatewayError {
  const message = `The model "${id.slice(0, 128)}" does not exist or you do not have access to it.`
  return new GatewayError('model_not_found', { message })
}

function includes(names: Group['models'], model: Model, id: string): boolean {
  return names === '*' || names.some((name) => matches(name, model.id) || matches(name, id))
}
