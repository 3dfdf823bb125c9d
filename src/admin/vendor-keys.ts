import { GatewayError, invalid } from '../errors.ts'
import type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from '../models/vendor-keys/contract.ts'
import type { VendorKeyVault } from '../models/vendor-keys/vault.ts'
import { picked } from '../records/picked.ts'
import { resealAll, type Resealed } from '../records/resealing.ts'
import { strict } from '../records/rules.ts'
import { requireId, requireValid } from './check.ts'
import { apiKey as apiKeyRule, id } from './questions.ts'
import type { AdminServices } from './services.ts'

/** A key to be kept. */
export interface NewVendorKey extends VendorKeyName {
  /** The vendor's key: 8 to 4,096 visible ASCII characters. It cannot be read again. */
  readonly apiKey: string
}

const shown = ['account', 'provider', 'hint', 'createdAt', 'by'] as const

/** What is shown of an account's own key at a vendor. */
export type VendorKeyView = Pick<VendorKeyRecord, (typeof shown)[number]>

const rule = strict({ account: id, provider: id, apiKey: apiKeyRule })

/** Keys of one account. */
const most = 100
/** Of a shorter key the last characters would tell too much. */
const hintedLength = 16
/** Keys that a rotation reads at once. */
const batch = 100

/** Accounts' own keys at vendors. Methods throw a 400 without the option `ownKeys.secrets`, and a 503 if the store fails. */
export class VendorKeyAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /** The names of the providers that take such keys, ordered; empty if a registry of the host has the models. */
  providers(): readonly string[] {
    return this.#vault.providers ?? []
  }

  /**
   * Stores an account's key in the place of the one that it has for the provider. All processes use it within a second. Throws a
   * 400 for a provider that takes none.
   */
  async put(key: NewVendorKey): Promise<VendorKeyView> {
    requireValid(rule, key)
    const { sealing } = this.#vault
    const { account, provider, apiKey } = key
    this.#requireProvider(provider)
    const own = await this.list(account)
    const before = own.find((each) => each.provider === provider)
    if (before === undefined && own.length >= most)
      throw invalid(`An account can have ${most} vendor keys.`, 'provider')
    const hint = apiKey.length < hintedLength ? '' : apiKey.slice(-4)
    const { now, actor } = this.#services
    const view = { account, provider, hint, createdAt: now(), ...(actor?.name !== undefined && { by: actor.name }) }
    await this.#change((store) => store.put({ ...view, sealed: sealing.seal(apiKey, [account, provider]) }))
    await this.#services.note({ action: 'vendorKeys.put', account, target: provider, before, after: view })
    return view
  }

  /** The keys of an account, ordered by provider, without the keys themselves. */
  async list(account: string): Promise<VendorKeyView[]> {
    requireId(account, 'account')
    const records = await this.#services.vendorKeys.ask((store) => store.list(account))
    return records
      .map((record) => picked(record, shown))
      .sort((left, right) => (left.provider < right.provider ? -1 : 1))
  }

  /** Deletes a key and returns what was shown of it. No process uses it for a further call after a second. Throws a 404 if the account has none for the provider. */
  async delete(account: string, provider: string): Promise<VendorKeyView> {
    requireId(provider, 'provider')
    const before = (await this.list(account)).find((each) => each.provider === provider)
    if (before === undefined) throw new GatewayError('not_found', { param: 'provider', message: 'No such key.' })
    await this.#change((store) => store.delete({ account, provider }))
    await this.#services.note({ action: 'vendorKeys.delete', account, target: provider, before })
    return before
  }

  /**
   * Seals all keys with the first of `ownKeys.secrets`. Afterwards the older ones can be removed from the options, unless
   * `unreadable` says otherwise. Keys that are stored meanwhile are sealed with it anyway.
   */
  async rotate(): Promise<Resealed> {
    const { sealing } = this.#vault
    const after = await resealAll<VendorKeyRecord>(
      (last) => this.#services.vendorKeys.ask((store) => store.page(last, batch)),
      ({ sealed, account, provider }) => sealing.renewed(sealed, [account, provider]),
      (record, before) => this.#services.vendorKeys.ask((store) => store.reseal(record, before)),
    )
    await this.#services.note({ action: 'vendorKeys.rotate', after })
    return after
  }

  async #change(act: (store: VendorKeyStore) => Promise<void> | void): Promise<void> {
    try {
      await this.#services.vendorKeys.ask(act)
    } finally {
      this.#vault.known.forget()
    }
  }

  #requireProvider(name: string): void {
    const known = this.#vault.providers
    if (known === undefined || known.includes(name)) return
    throw invalid(`"provider" must be one of ${known.join(', ')}.`, 'provider')
  }

  get #vault(): VendorKeyVault {
    const { vault } = this.#services
    if (vault === undefined) throw invalid('Vendor keys need the option "ownKeys.secrets".')
    return vault
  }
}
