import type { AuditLog } from './audit/audit-log.ts'
import type { Actor, Note } from './audit/change.ts'
import type { VendorReportReader } from './reconcile/contract.ts'
import type { Meter } from '../admission/meter.ts'
import type { CapHolds } from '../admission/cap-holds.ts'
import type { SettlementQueue } from '../admission/settlement-queue.ts'
import type { Ledger } from '../money/ledger/contract.ts'
import type { PriceTable } from '../money/prices/price-table.ts'
import type { KeyStore } from '../callers/contract.ts'
import type { IdempotencyStore } from '../admission/idempotency/contract.ts'
import type { Catalogue } from '../models/catalogue.ts'
import type { VendorKeyStore } from '../models/vendor-keys/contract.ts'
import type { VendorKeyVault } from '../models/vendor-keys/vault.ts'
import type { RegistryStore } from '../models/stored/contract.ts'
import type { LiveRegistry } from '../models/stored/live-registry.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { OpenCalls } from '../http/open-calls.ts'
import type { Guard } from '../records/guard.ts'
import type { VideoTasks } from '../tasks/video-tasks.ts'
import type { ContentLog } from '../observe/content/content-log.ts'
import type { LoggedContent, Replayed } from '../observe/content/content.ts'
import type { ContentReader } from '../observe/content/read.ts'
import type { Observer } from '../observe/observe.ts'
import type { UsageStore } from '../observe/usage/contract.ts'

/** What changes models, groups and prices. */
export interface RegistryServices {
  readonly live: LiveRegistry
  readonly store: RegistryStore
  readonly guard: Guard
}

export interface AdminServices {
  readonly auditLog: AuditLog
  /** Writes a change into it. */
  readonly note: Note
  /** In whose name changes are made. Default: the host's own code. */
  readonly actor?: Actor
  readonly keys: GuardedStore<KeyStore>
  readonly ledger: GuardedStore<Ledger>
  readonly usage: GuardedStore<UsageStore>
  readonly responses: GuardedStore<ResponseStore>
  readonly vendorKeys: GuardedStore<VendorKeyStore>
  /** Undefined without secrets. */
  readonly vault: VendorKeyVault | undefined
  /** Undefined if no content is kept. */
  readonly content: { readonly reader: ContentReader; readonly log: Pick<ContentLog, 'counts'> } | undefined
  /** Asks a model what was asked in a call. */
  readonly replay: (content: LoggedContent, model: string) => Promise<Replayed>
  readonly idempotency: GuardedStore<IdempotencyStore>
  /** How long responses are kept for idempotency keys. */
  readonly idempotencyMs: number
  readonly background: { removeAll(account: string): Promise<void> }
  /** Undefined if there are none. */
  readonly batches: readonly { removeAll(account: string): Promise<void> }[]
  readonly videos: Pick<VideoTasks, 'content' | 'find' | 'isSearchable' | 'list' | 'remove' | 'removeAll' | 'search'>
  /** Undefined without billing. */
  readonly currency: string | undefined
  /** In progress in this process. */
  readonly calls: OpenCalls<Meter>
  readonly caps: CapHolds
  readonly settlements: Pick<SettlementQueue, 'returnedByAll'>
  readonly catalogue: Catalogue
  /** The names of the groups that hold now, as far as this process knows. */
  readonly groups: () => readonly string[]
  /** Undefined if administration cannot change models. */
  readonly registry: RegistryServices | undefined
  readonly prices: PriceTable | undefined
  /** Readers of vendors' bills, by the names of providers. */
  readonly reports: Readonly<Record<string, VendorReportReader>>
  /** Whether it may be known what calls cost the host. */
  readonly hasCosts: boolean
  readonly minimumTopUp: string
  readonly now: () => number
  /** Learns of a record that cannot be read. */
  readonly failed: Observer['failed']
  /** Drops a key from this process's cache, by its hash. */
  readonly forget: (hash: string) => void
}
