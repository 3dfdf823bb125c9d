import { randomBytes } from 'node:crypto'
import { formatMoney } from '../money/money.ts'
import type { Anonymisation } from '../observe/usage/contract.ts'
import type { AccountView, EntryView } from './account-view.ts'
import type { AccountAdmin } from './accounts.ts'
import type { VendorKeyAdmin, VendorKeyView } from './vendor-keys.ts'
import { requireMethod, requireId, requireValid } from './check.ts'
import { text } from './questions.ts'
import { eraseStored, type Remainder } from './erase.ts'
import type { KeyView } from './key-changes.ts'
import type { KeyAdmin } from './keys.ts'
import type { LoggedContent } from '../observe/content/content.ts'
import { allItems, type PageRequest } from '../records/page.ts'
import type { AdminServices } from './services.ts'
import type { UsageAdmin, UsageView } from './usage.ts'

interface Items {
  readonly account: AccountView
  /** Without its hash. */
  readonly key: KeyView
  /** Its own, without the key itself. */
  readonly 'vendor-key': VendorKeyView
  readonly entry: EntryView
  /** What was asked and answered in a request. */
  readonly content: LoggedContent
  /** The record of a request. */
  readonly usage: UsageView
}

/** One item of what is stored about an account. */
export type PersonalItem = {
  readonly [Kind in keyof Items]: {
    /** Which record it is: the account itself, one of its keys, and so on. */
    readonly kind: Kind
    /** The record. */
    readonly item: Items[Kind]
  }
}[keyof Items]

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

/** What `export` returns. */
export interface ExportOptions {
  /** Whether it includes what was asked and answered, where that is kept. Default true. */
  readonly content?: boolean
}

interface Parts {
  readonly accounts: AccountAdmin
  readonly keys: KeyAdmin
  readonly vendorKeys: VendorKeyAdmin
  readonly usage: UsageAdmin
}

/** Export and deletion of what is stored about a person. */
export class PersonalData {
  readonly #services: AdminServices
  readonly #parts: Parts

  constructor(services: AdminServices, parts: Parts) {
    this.#services = services
    this.#parts = parts
  }

  async *export(account: string, { content: isWanted = true }: ExportOptions): AsyncGenerator<PersonalItem, void> {
    requireId(account, 'account')
    const { ledger, usage, vault, content, note } = this.#services
    const { accounts, keys, vendorKeys, usage: records } = this.#parts
    const found = ledger.store && (await accounts.find(account))
    if (found !== undefined) yield { kind: 'account', item: found }
    for (const item of await keys.list(account)) yield { kind: 'key', item }
    for (const item of vault === undefined ? [] : await vendorKeys.list(account)) yield { kind: 'vendor-key', item }
    if (ledger.store?.entries !== undefined) {
      for await (const item of allItems((page) => accounts.entries(account, page))) yield { kind: 'entry', item }
    }
    if (content !== undefined && isWanted) {
      await note({ action: 'content.read', account })
      const pageOf = (page: PageRequest) => content.reader.list(account, undefined, page)
      for await (const item of allItems(pageOf)) yield { kind: 'content', item }
    }
    if (usage.store === undefined) return
    for await (const item of allItems((page) => records.list({ account, ...page }))) yield { kind: 'usage', item }
  }

  async erase(account: string): Promise<Erased> {
    requireId(account, 'account')
    const { ledger, usage, auditLog, note } = this.#services
    if (usage.store !== undefined) requireMethod(usage.store, 'anonymise', 'anonymous records')
    const { revoked: keys, left: inOptions } = await this.#parts.keys.eraseAll(account)
    const left: Remainder[] = await eraseStored(this.#services, account)
    if (inOptions > 0) left.push({ kind: 'keys' })
    const as = `anonymous_${randomBytes(12).toString('base64url')}`
    await this.#anonymise({ account, as })
    while (await auditLog.guard.call(() => auditLog.store.erase(account, as))) await new Promise(setImmediate)
    await note({ action: 'accounts.erase', account: as })
    const done = { keys, left, ...(usage.store && { usageAs: as }) }
    const found = ledger.store && (await ledger.page((store) => store.account(account)))
    if (found === undefined) return done
    if (found.name !== undefined) await ledger.page((store) => store.open({ id: account, name: '' }))
    return { ...done, balance: formatMoney(found.balance) }
  }

  async eraseUser(account: string, user: string): Promise<void> {
    requireId(account, 'account')
    requireValid(text, user, 'user')
    await this.#parts.keys.eraseAll(account, user)
    await this.#services.content?.reader.erase(account, user)
    await this.#services.note({ action: 'users.erase', account })
    await this.#anonymise({ account, user, as: account })
  }

  async #anonymise(anonymisation: Anonymisation): Promise<void> {
    const { usage } = this.#services
    if (usage.store === undefined) return
    await usage.steps((store) => requireMethod(store, 'anonymise', 'anonymous records').anonymise(anonymisation))
  }
}
