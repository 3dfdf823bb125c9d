import type { StoredGroup, StoredModel } from '../../models/stored/documents.ts'
import type { AdminServices } from '../services.ts'
import { DocumentAdmin, requireRegistry } from './documents.ts'
import { groupKind, modelKind } from './kinds.ts'
import { PriceAdmin } from './prices.ts'
import type { RegistryGroupView, RegistryModelView } from './views.ts'

/** Models, groups and prices that administration sets, beside those of the options. Requires the option `registry`. */
export class RegistryAdmin {
  /** Models, each with its deployments. */
  readonly models: DocumentAdmin<StoredModel, RegistryModelView>
  /** Groups of keys. */
  readonly groups: DocumentAdmin<StoredGroup, RegistryGroupView>
  /** Prices of models, each from a moment on. */
  readonly prices: PriceAdmin
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
    this.models = new DocumentAdmin<StoredModel, RegistryModelView>(modelKind, services)
    this.groups = new DocumentAdmin<StoredGroup, RegistryGroupView>(groupKind, services)
    this.prices = new PriceAdmin(services)
  }

  /** The names of the providers that deployments may use. */
  providers(): readonly string[] {
    return Object.keys(requireRegistry(this.#services).live.own.providers)
  }
}
