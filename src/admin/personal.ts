import { randomBytes } from 'node:crypto'
import type { Ledger } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import type { Guard } from '../records/guard.ts'
import type { UsageStore } from '../observe/usage/contract.ts'
import type { AccountView, EntryView } from './account-view.ts'
import type { AccountAdmin } from './accounts.ts'
import type { VendorKeyAdmin, VendorKeyView } from './vendor-keys.ts'
import { requireMethod, requireId, requireValid, rules } from './check.ts'
import { eraseStored, type Remainder } from './erase.ts'
import type { KeyAdmin, KeyView } from './keys.ts'
import { allItems } from '../records/page.ts'
import type { AdminServices } from './services.ts'
import type { UsageAdmin, UsageView } from './usage.ts'

/** One item of what is stored about an account. */
export type PersonalItem =
  | {
      /** The account itself. */
      readonly kind: 'account'
      /** The account. */
      readonly item: AccountView
    }
  | {
      /** A key, without its hash. */
      readonly kind: 'key'
      /** The key. */
      readonly item: KeyView
    }
  | {
      /** A key of its own at a vendor, without the key itself. */
      readonly kind: 'vendor-key'
      /** What is shown of it. */
      readonly item: VendorKeyView
    }
  | {
      /** A ledger entry. */
      readonly kind: 'entry'
      /** The entry. */
      readonly item: EntryView
    }
  | {
      /** The record of a request. */
      readonly kind: 'usage'
      /** The record. */
      readonly item: UsageView
    }

/** What `erase` has done. */
export interface Erased {
  /** Number of keys that were revoked. Those of the options stay valid, and are named in `left`. */
  readonly keys: number
  /** The account under which the usage is kept: a random name. Undefined if usage is not recorded. */
  readonly usageAs?: string
  /** The balance that is left, as a decimal string. Undefined without billing or if the ledger has no such account. */
  readonly balance?: string
  /** What is left until it expires, because a store cannot delete it. Empty if nothing is. */
  readonly left: readonly Remainder[]
}

interface Parts {
  readonly accounts: AccountAdmin
  readonly keys: KeyAdmin
  readonly vendorKeys: VendorKeyAdmin
  readonly usage: UsageAdmin
}

/** Export and deletion of what is stored about a person. */
export class PersonalData {
  readonly #accounts: AccountAdmin
  readonly #keys: KeyAdmin
  readonly #vendorKeys: VendorKeyAdmin | undefined
  readonly #usageAdmin: UsageAdmin
  readonly #ledger: Ledger | undefined
  readonly #usage: UsageStore | undefined
  readonly #guard: (name: string) => Guard
  readonly #auditLog: AdminServices['auditLog']
  readonly #note: AdminServices['note']
  readonly #eraseStored: (account: string) => Promise<Remainder[]>

  constructor(services: AdminServices, { accounts, keys, vendorKeys, usage }: Parts) {
    this.#accounts = accounts
    this.#keys = keys
    this.#vendorKeys = services.vault && vendorKeys
    this.#usageAdmin = usage
    this.#ledger = services.ledger
    this.#usage = services.usage
    this.#guard = services.pageGuard
    this.#auditLog = services.auditLog
    this.#note = services.note
    this.#eraseStored = (account) => eraseStored(services, account)
  }

  async *export(account: string): AsyncGenerator<PersonalItem, void> {
    requireId(account, 'account')
    if (this.#ledger !== undefined) {
      const found = await this.#accounts.find(account)
      if (found !== undefined) yield { kind: 'account', item: found }
    }
    for (const item of await this.#keys.list(account)) yield { kind: 'key', item }
    for (const item of (await this.#vendorKeys?.list(account)) ?? []) yield { kind: 'vendor-key', item }
    if (this.#ledger?.entries !== undefined) {
      for await (const item of allItems((page) => this.#accounts.entries(account, page))) yield { kind: 'entry', item }
    }
    if (this.#usage === undefined) return
    for await (const item of allItems((page) => this.#usageAdmin.list({ account, ...page })))
      yield { kind: 'usage', item }
  }

  async erase(account: string): Promise<Erased> {
    requireId(account, 'account')
    const usage = this.#usage && requireMethod(this.#usage, 'anonymise', 'anonymous records')
    const { revoked: keys, left: inOptions } = await this.#keys.eraseAll(account)
    const left: Remainder[] = await this.#eraseStored(account)
    if (inOptions > 0) left.push({ kind: 'keys' })
    const usageAs = `anonymous_${randomBytes(12).toString('base64url')}`
    if (usage !== undefined) await this.#anonymise(usage, { account, as: usageAs })
    const { store, guard: auditGuard } = this.#auditLog
    while (await auditGuard.call(() => store.erase(account, usageAs))) await new Promise(setImmediate)
    await this.#note({ action: 'accounts.erase', account: usageAs })
    const ledger = this.#ledger
    if (ledger === undefined) return { keys, left, ...(usage && { usageAs }) }
    const guard = this.#guard('the ledger')
    const found = await guard.call(() => ledger.account(account))
    const named = found?.name === undefined ? found : await guard.call(() => ledger.open({ id: account, name: '' }))
    return { keys, left, ...(usage && { usageAs }), ...(named && { balance: formatMoney(named.balance) }) }
  }

  async eraseUser(account: string, user: string): Promise<void> {
    requireId(account, 'account')
    requireValid(rules.text, user, 'user')
    await this.#keys.eraseAll(account, user)
    await this.#note({ action: 'users.erase', account })
    if (this.#usage === undefined) return
    await this.#anonymise(requireMethod(this.#usage, 'anonymise', 'anonymous records'), { account, user, as: account })
  }

  async #anonymise(
    store: Required<Pick<UsageStore, 'anonymise'>>,
    anonymisation: Parameters<typeof store.anonymise>[0],
  ): Promise<void> {
    const guard = this.#guard('the usage store')
    while (await guard.call(() => store.anonymise(anonymisation))) await new Promise(setImmediate)
  }
}
