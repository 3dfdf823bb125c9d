/**
 * Several stores in one place: what `postgres(pool)` and its like return, and what `createGateway({ storage })` takes.
 * Each store can be replaced alone: `storage: { ...postgres(pool), limits: redis(client).limits }`. What a bundle lacks is
 * kept in the memory of the process.
 */
import type { JointStore } from '../admission/contract.ts'
import type { KeyStore } from '../auth/contract.ts'
import type { Ledger } from '../billing/contract.ts'
import type { IdempotencyStore } from '../idempotency/contract.ts'
import type { LimitStore } from '../limits/contract.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { TaskStore } from '../tasks/contract.ts'
import type { UsageStore } from '../usage/contract.ts'

export interface StorageBundle {
  readonly keys?: KeyStore
  readonly limits?: LimitStore
  readonly ledger?: Ledger
  readonly usage?: UsageStore
  readonly tasks?: TaskStore
  readonly idempotency?: IdempotencyStore
  readonly responses?: ResponseStore
  /** Optional. Limits and ledger in one step, where both are kept in one place. */
  readonly joint?: JointStore
  /** Optional. Gives back what all of them hold. Called once by `gateway.close()`, after the stores' own. */
  close?(): Promise<void> | void
}
