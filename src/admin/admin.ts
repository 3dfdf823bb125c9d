import { reconcile, type ReconcileQuestion, type Reconciliation } from './reconcile/reconcile.ts'
import type { PriceSource } from '../money/receipt.ts'
import type { Model } from '../models/contract.ts'
import type { KeyStore } from '../callers/contract.ts'
import { AccountAdmin } from './accounts.ts'
import { AuditAdmin } from './audit/audit-admin.ts'
import type { Actor } from './audit/change.ts'
import { AlertAdmin } from './alerts.ts'
import { CapAdmin } from './caps.ts'
import { openCallsIn, type OpenCallView } from './open-calls.ts'
import type { UsageScope } from './usage-scope.ts'
import { statementOf, type Statement, type StatementQuestion } from './statement.ts'
import { ContentAdmin, type Replay, type ReplayQuestion } from './content.ts'
import { CsvAdmin } from './csv.ts'
import { KeyAdmin } from './keys.ts'
import { PersonalData, type Erased, type ExportOptions, type PersonalItem } from './personal.ts'
import { UsageAdmin } from './usage.ts'
import { VendorKeyAdmin } from './vendor-keys.ts'
import { VideoAdmin } from './videos.ts'
import { RegistryAdmin } from './registry/registry-admin.ts'
import * as z from 'zod'
import { strict } from '../records/rules.ts'
import { requireValid } from './check.ts'
import { id } from './questions.ts'
import { currentGroups, requireOneOf } from './current-groups.ts'
import type { AdminServices } from './services.ts'

/** Which operations of `gateway.admin` the options and stores of a gateway support. */
export interface Offers {
  /** `accounts`: the option `billing`. */
  readonly accounts: boolean
  /** `caps`: the option `billing`, and a ledger with caps. */
  readonly caps: boolean
  /** Credits that expire, and allowances: a ledger with them. */
  readonly credits: boolean
  /** `alerts`: a ledger that lists them. */
  readonly alerts: boolean
  /** `usage`: one of the options `usage`, `storage` and `billing`. */
  readonly usage: boolean
  /** Creating, listing and changing keys: a key store that does. */
  readonly keys: boolean
  /** `registry`: the option of this name. */
  readonly registry: boolean
  /** Finding keys of all accounts. */
  readonly keySearch: boolean
  /** `vendorKeys`: the option `ownKeys.secrets`. */
  readonly vendorKeys: boolean
  /** `content`: the option of this name. */
  readonly content: boolean
  /** Listing the video tasks of all accounts. */
  readonly videoSearch: boolean
  /** Comparing the books with the bill of a vendor without a reader of one's own: the option `reports`, and usage records. */
  readonly reconcile: boolean
  /** What calls cost the host, in usage: the option `prices`, a `cost` of a model, or a registry. */
  readonly costs: boolean
  /** `billing.currency`. Absent without billing. */
  readonly currency?: string
}

const actorRule = strict({ name: id.optional(), address: z.string().max(128).optional() })

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
  /** Caps of keys, accounts, groups and users: what is used, when it resets, and individual limits. Requires `billing`. */
  readonly caps: CapAdmin
  /** Alerts of caps and balances. Requires `billing`. */
  readonly alerts: AlertAdmin
  /** Creates, lists, changes and revokes keys. */
  readonly keys: KeyAdmin
  /** Accounts' own keys at vendors: stores, lists and deletes them. Requires `ownKeys.secrets`. */
  readonly vendorKeys: VendorKeyAdmin
  /** Usage records and statistics. Requires `storage`, `billing` or `usage: { record: true }`. */
  readonly usage: UsageAdmin
  /** What was asked and answered. Requires the option `content`. */
  readonly content: ContentAdmin
  /** Video tasks: lists, downloads and deletes them. */
  readonly videos: VideoAdmin
  /** Who changed what. */
  readonly auditLog: AuditAdmin
  /** Models, groups and prices that administration sets. Requires the option `registry`. */
  readonly registry: RegistryAdmin
  /** The lists of accounts, entries, keys and usage as CSV. */
  readonly csv: CsvAdmin
  readonly #services: AdminServices
  readonly #personal: PersonalData
  readonly #offers: Offers

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
    this.auditLog = new AuditAdmin(services)
    this.accounts = new AccountAdmin(services)
    this.caps = new CapAdmin(services)
    this.alerts = new AlertAdmin(services)
    this.keys = new KeyAdmin(services)
    this.vendorKeys = new VendorKeyAdmin(services)
    this.usage = new UsageAdmin(services)
    this.content = new ContentAdmin(services)
    this.videos = new VideoAdmin(services)
    this.registry = new RegistryAdmin(services)
    this.csv = new CsvAdmin(this)
    this.#personal = new PersonalData(services, this)
    const { vault, videos, currency } = services
    const [ledger, usage] = [services.ledger.store, services.usage.store]
    const keys: Partial<KeyStore> = services.keys.store ?? {}
    this.#offers = {
      accounts: ledger !== undefined,
      caps: ledger?.caps !== undefined,
      credits: ledger?.lots !== undefined,
      alerts: ledger?.caps?.listNotices !== undefined,
      usage: usage !== undefined,
      keys: keys.insert !== undefined && keys.list !== undefined && keys.update !== undefined,
      registry: services.registry !== undefined,
      keySearch: keys.search !== undefined,
      vendorKeys: vault !== undefined,
      content: services.content !== undefined,
      videoSearch: videos.isSearchable,
      reconcile: usage !== undefined && Object.keys(services.reports).length > 0,
      costs: usage !== undefined && services.hasCosts,
      ...(currency !== undefined && { currency }),
    }
  }

  /**
   * The same operations in the name of a person: the audit log says so. The admin API does it for whom its `authorize` names.
   * Throws a 400 for an invalid name.
   */
  by(actor: Actor): Admin {
    requireValid(actorRule, actor)
    return new Admin({ ...this.#services, actor, note: (change) => this.#services.auditLog.write(actor, change) })
  }

  /** Which of these operations the options and stores of the gateway support. */
  offers(): Offers {
    return this.#offers
  }

  /**
   * Everything that is stored about an account: itself, its keys, its vendor keys as far as they are shown, its ledger entries,
   * what was asked and answered, and its usage, read page by page. For a person's right to a copy of their data.
   */
  export(account: string, options: ExportOptions = {}): AsyncGenerator<PersonalItem, void> {
    return this.#personal.export(account, options)
  }

  /**
   * Removes what refers to a person. All keys of the account are revoked and lose their names, users, tags and addresses;
   * usage records move to a random account and lose keys, users, sessions and tags; the ledger forgets the name of the
   * account. Its entries are kept under its id, because books must be. Content, vendor keys, stored responses, videos and responses kept for
   * idempotency keys are deleted, videos in progress cancelled; `left` names those that a store cannot delete. Afterwards,
   * wait for requests in progress and erase again, to include these. Throws a 400 if the usage store cannot anonymise.
   */
  erase(account: string): Promise<Erased> {
    return this.#personal.erase(account)
  }

  /**
   * The same for one user of an account: revokes the user's keys, deletes the user's content, and takes user, key, session and tags
   * from the records.
   * Stored responses, videos and responses kept for idempotency keys stay until they expire, because stores keep them by
   * account.
   */
  eraseUser(account: string, user: string): Promise<void> {
    return this.#personal.eraseUser(account, user)
  }

  /** The vendors whose bills are read by the option `reports`. */
  reports(): string[] {
    return Object.keys(this.#services.reports)
  }

  /**
   * Asks another model what was asked in a request, and returns both answers. The call is made for the same account and group, of which
   * the model must be. Nothing is charged or recorded for it; `hooks.receipt` gets its receipt. Throws a 404 without content of the
   * request, and a 400 for what is no conversation, or has media that were kept by their hash.
   */
  replay(id: string, question: ReplayQuestion): Promise<Replay> {
    return this.content.replay(id, question)
  }

  /**
   * Compares what calls cost by the usage records with what a vendor charges, by model and day, and says why they differ. Reads all
   * records of the period: a job for the night after it, when the vendor's report is complete. Rejects if the report cannot be read.
   */
  reconcile(question: ReconcileQuestion): Promise<Reconciliation> {
    return reconcile(this.#services, question)
  }

  /**
   * The requests of `account`, or with `all: true` of all accounts, that wait for a model or whose response is being sent: the oldest
   * first, at most 1,000. Those of this process only, because nothing of them is stored before their end.
   */
  openCalls(scope: UsageScope): OpenCallView[] {
    return openCallsIn(this.#services.calls, scope)
  }

  /**
   * What an account paid and was charged in a calendar month, from the opening to the closing balance. Reads the ledger entries since
   * the start of the month, at most 500,000. Throws a 404 for an unknown account, and a 400 if the ledger no longer has the entries.
   */
  statement(question: StatementQuestion): Promise<Statement> {
    return statementOf(this.#services, question, (month) => this.usage.invoice(month))
  }

  /** The names of the model groups, as far as this process knows them. */
  groups(): readonly string[] {
    return this.#services.groups()
  }

  /** The same, after those that administration has created were read. */
  currentGroups(): Promise<readonly string[]> {
    return currentGroups(this.#services)
  }

  /** The price table of the options, with the day of its data; undefined if there is none. */
  prices(): (PriceSource & { readonly currency: string }) | undefined {
    const { prices } = this.#services
    return prices && { ...prices.source, currency: prices.currency }
  }

  /**
   * The models that keys of a group may use, in the order of the model list, each with the price that applies now:
   * `price.options`.
   */
  async models(group: string): Promise<readonly Model[]> {
    requireOneOf(await this.currentGroups(), group)
    return this.#services.catalogue.list({ account: '', group }, new AbortController().signal)
  }
}
