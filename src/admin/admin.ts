/**
 * What a service's console does behind its interface, for the host's own pages: accounts and their money, keys, usage,
 * and which models a group has. Nothing of it is reachable over HTTP unless the host makes a page of it.
 *
 * Amounts are decimal strings in and out, times milliseconds since the epoch. What is wrong with a request is thrown as a
 * `GatewayError` that says so (400, 404, 409); 503 while a store is down.
 */
import type { Catalogue } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import { invalid } from '../errors.ts'
import { AccountAdmin } from './accounts.ts'
import { KeyAdmin } from './keys.ts'
import { UsageAdmin } from './usage.ts'
import type { AdminParts } from './parts.ts'

export class Admin {
  /** Accounts, top-ups, balances, books. Needs `billing`. */
  readonly accounts: AccountAdmin
  /** Creating, listing, changing and revoking keys. */
  readonly keys: KeyAdmin
  /** Usage records and statistics. Needs `storage` or `billing`, or `usage: { record: true }`. */
  readonly usage: UsageAdmin
  readonly #catalogue: Catalogue
  readonly #groups: readonly string[]

  constructor(parts: AdminParts) {
    this.accounts = new AccountAdmin(parts)
    this.keys = new KeyAdmin(parts)
    this.usage = new UsageAdmin(parts)
    this.#catalogue = parts.catalogue
    this.#groups = parts.groups
  }

  /** The names of the model groups. */
  groups(): readonly string[] {
    return this.#groups
  }

  /** The models that keys of a group see, in the order of the list. */
  async models(group: string): Promise<readonly Model[]> {
    if (!this.#groups.includes(group)) throw invalid(`"group" must be one of ${this.#groups.join(', ')}.`, 'group')
    return this.#catalogue.list({ account: '', group }, new AbortController().signal)
  }
}
