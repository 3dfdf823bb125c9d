import type { Catalogue } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import { invalid } from '../errors.ts'
import { AccountAdmin } from './accounts.ts'
import { KeyAdmin } from './keys.ts'
import { UsageAdmin } from './usage.ts'
import type { AdminParts } from './parts.ts'

/**
 * Operations for the host's own pages: accounts and payments, keys, usage, and the models of a group. Not reachable over
 * HTTP unless the host provides a route.
 *
 * Amounts are decimal strings, times milliseconds since the epoch. Invalid arguments throw a `GatewayError` (400, 404 or
 * 409), a failed store a 503.
 */
export class Admin {
  /** Accounts, payments, balances and ledger entries. Requires `billing`. */
  readonly accounts: AccountAdmin
  /** Creates, lists, changes and revokes keys. */
  readonly keys: KeyAdmin
  /** Usage records and statistics. Requires `storage`, `billing` or `usage: { record: true }`. */
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

  /** The models that keys of a group may use, in the order of the model list. */
  async models(group: string): Promise<readonly Model[]> {
    if (!this.#groups.includes(group)) throw invalid(`"group" must be one of ${this.#groups.join(', ')}.`, 'group')
    return this.#catalogue.list({ account: '', group }, new AbortController().signal)
  }
}
