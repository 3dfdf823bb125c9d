import type { JointStore } from '../admission/contract.ts'
import type { KeyStore } from '../auth/contract.ts'
import type { Ledger } from '../billing/contract.ts'
import type { IdempotencyStore } from '../idempotency/contract.ts'
import type { LimitStore } from '../limits/contract.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { TaskStore } from '../tasks/contract.ts'
import type { UsageStore } from '../usage/contract.ts'

/**
 * The stores of a gateway, as returned by `postgres(pool)`, `sqlite(file)` and `redis(client)`. Each can be replaced:
 * `storage: { ...postgres(pool), limits: redis(client).limits }`. A missing store is kept in the memory of the process.
 */
export interface StorageBundle {
  readonly keys?: KeyStore
  readonly limits?: LimitStore
  readonly ledger?: Ledger
  readonly usage?: UsageStore
  readonly tasks?: TaskStore
  readonly idempotency?: IdempotencyStore
  readonly responses?: ResponseStore
  /** Optional. Updates limits and ledger in one call, if the same database keeps both. */
  readonly joint?: JointStore
  /** Optional. Releases shared resources. Called once by `gateway.close()`, after the stores' own `close`. */
  close?(): Promise<void> | void
}
