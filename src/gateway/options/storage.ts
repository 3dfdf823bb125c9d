import type { AuditStore } from '../../admin/audit/contract.ts'
import type { AdmissionStore } from '../../admission/contract.ts'
import type { KeyStore } from '../../callers/contract.ts'
import type { Ledger } from '../../money/ledger/contract.ts'
import type { IdempotencyStore } from '../../admission/idempotency/contract.ts'
import type { RegistryStore } from '../../models/stored/contract.ts'
import type { LimitStore } from '../../money/limits/contract.ts'
import type { ResponseStore } from '../../responses/contract.ts'
import type { TaskStore } from '../../tasks/contract.ts'
import type { VendorKeyStore } from '../../models/vendor-keys/contract.ts'
import type { ContentKeyStore, ContentStore } from '../../observe/content/contract.ts'
import type { UsageStore } from '../../observe/usage/contract.ts'

/**
 * The stores of a gateway, as returned by `postgres(pool)`, `sqlite(file)` and `redis(client)`. Each can be replaced:
 * `storage: { ...postgres(pool), limits: redis(client).limits }`. A missing store is kept in the memory of the process.
 */
export interface StorageBundle {
  /** API keys. */
  readonly keys?: KeyStore
  /** Counters of rates and concurrency slots. */
  readonly limits?: LimitStore
  /** Balances, holds and charges. Only used with `billing`. */
  readonly ledger?: Ledger
  /** A record of each request. */
  readonly usage?: UsageStore
  /** Video tasks. */
  readonly tasks?: TaskStore
  /** Responses in the background, while they are made and until their streams can no longer be taken up: as `tasks`, another place. */
  readonly background?: TaskStore
  /** Batches of messages: as `tasks`, another place. Only used with `batches`. */
  readonly batches?: TaskStore
  /** Batches of files: the same. Only used with `batches.files`. */
  readonly fileBatches?: TaskStore
  /** What is known of files, without their contents: the same. Only used with `batches.files`. */
  readonly files?: TaskStore
  /** Responses to requests with an `Idempotency-Key`, for replay. */
  readonly idempotency?: IdempotencyStore
  /** Stored responses of `/v1/responses`. */
  readonly responses?: ResponseStore
  /** Who changed what through administration. */
  readonly audit?: AuditStore
  /** Requests and answers. Only used with the option `content`. */
  readonly content?: ContentStore
  /** The keys that they are encrypted with, apart from them. Only used with the option `content`. */
  readonly contentKeys?: ContentKeyStore
  /** Accounts' own keys at vendors. Only used with `ownKeys.secrets`. */
  readonly vendorKeys?: VendorKeyStore
  /** Models, groups and prices that administration creates. Only used with the option `registry`. */
  readonly registry?: RegistryStore
  /** Optional. Updates limits and ledger in one call, if the same database keeps both. */
  readonly admission?: AdmissionStore
  /** Optional. Releases shared resources. Called once by `gateway.close()`, after the stores' own `close`. */
  close?(): Promise<void> | void
}
