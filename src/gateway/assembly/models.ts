import type { Model, ModelRegistry } from '../../models/contract.ts'
import type { Groups } from '../../models/group-fields.ts'
import { registryOf } from '../../models/model-set.ts'
import { providersOf } from '../../models/model-options.ts'
import { modelSetOf } from '../../models/registry.ts'
import { LiveRegistry } from '../../models/stored/live-registry.ts'
import type { PriceTableDefaults } from '../../models/price-table-defaults.ts'
import type { Provider } from '../../providers/contract.ts'
import type { Guard } from '../../records/guard.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'

/** The models and groups of a gateway, and where they come from. */
export interface Models {
  readonly registry: ModelRegistry
  /** Undefined unless administration changes models. */
  readonly live: LiveRegistry | undefined
  /** Changes in place. */
  readonly groups: Groups
  /** The providers in the options. Undefined if a registry of the host has them. */
  readonly providers: ReadonlySet<Provider> | undefined
  /** The models in the options, wildcards too. Undefined if a registry of the host has them. */
  readonly own: readonly Model[] | undefined
}

const allModels: Groups = { default: { models: '*' } }

/** Creates the models of a gateway from its options. */
export function modelsOf(
  options: GatewayOptions,
  stores: Pick<Stores, 'ledger' | 'registry'>,
  tableDefaults: PriceTableDefaults | undefined,
  guard: Guard,
): Models {
  const { models, groups = allModels, clock: now = Date.now, billing } = options
  if (isRegistry(models)) return { registry: models, live: undefined, groups, providers: undefined, own: undefined }
  const priced = billing !== undefined && billing.unpriced !== 'free'
  const ownSet = modelSetOf(models, { now, priced, tableDefaults })
  const own = [...ownSet.models.values(), ...ownSet.wildcards.map(({ model }) => model)]
  if (options.registry === undefined || stores.registry === undefined) {
    return { registry: registryOf([ownSet], now), live: undefined, groups, providers: providersOf(models), own }
  }
  const { providers } = options.registry
  const live = new LiveRegistry({
    store: stores.registry,
    guard,
    own: {
      models,
      groups: options.groups ?? {},
      providers,
      capNames: stores.ledger?.caps && (billing?.caps ?? []).map(({ name }) => name),
    },
    ownSet,
    defaults: options.groups === undefined ? allModels : {},
    now,
  })
  const all = new Set([...providersOf(models), ...Object.values(providers)])
  return { registry: live, live, groups: live.groups, providers: all, own }
}
