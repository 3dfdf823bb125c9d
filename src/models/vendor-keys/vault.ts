import type { Guard } from '../../records/guard.ts'
import { Sealing } from '../../records/sealing.ts'
import type { Provider } from '../../providers/contract.ts'
import type { VendorKeyStore } from './contract.ts'
import { KnownVendorKeys } from './known-keys.ts'

/** The accounts' own keys of a gateway: where they are kept, what seals them, and what this process knows of them. */
export class VendorKeyVault {
  readonly store: VendorKeyStore
  readonly sealing: Sealing
  readonly known: KnownVendorKeys
  /** The names of the providers that take such keys; undefined if a registry of the host decides. */
  readonly providers: readonly string[] | undefined

  /** Throws a `TypeError` if two providers that take keys have the same name and are at different addresses. */
  constructor(options: {
    readonly store: VendorKeyStore
    readonly guard: Guard
    readonly secrets: readonly string[]
    /** Milliseconds, monotonic. */
    readonly ticks: () => number
    /** Those of the options; undefined: of a registry. */
    readonly providers: Iterable<Provider> | undefined
  }) {
    const { store, guard, secrets, ticks, providers } = options
    this.store = store
    this.sealing = new Sealing(secrets, { use: 'vendor keys', option: 'ownKeys.secrets' })
    this.known = new KnownVendorKeys(store, guard, this.sealing, ticks)
    this.providers = providers && namesOf(providers)
  }
}

/** A key for one vendor must not be sent to another one that happens to have the same name. */
function namesOf(providers: Iterable<Provider>): string[] {
  const origins = new Map<string, string | undefined>()
  for (const provider of providers) {
    if (provider.withKey === undefined) continue
    const { name, origin } = provider
    if (origins.has(name) && origins.get(name) !== origin) {
      const places = [origins.get(name), origin].join(' and ')
      throw new TypeError(
        `createGateway: ownKeys.secrets: the providers at ${places} are both called "${name}", and keys of accounts are kept by ` +
          'name: give each a "name" of its own',
      )
    }
    origins.set(name, origin)
  }
  return [...origins.keys()].sort()
}
