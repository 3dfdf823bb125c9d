import type { ExportState } from '../money/export/contract.ts'
import type { BreakerChange, GatewayState } from './gateway-state.ts'

/** A store, by its name in the option `storage`. */
export type StoreName =
  | 'keys'
  | 'limits'
  | 'ledger'
  | 'usage'
  | 'tasks'
  | 'background'
  | 'batches'
  | 'fileBatches'
  | 'files'
  | 'idempotency'
  | 'responses'
  | 'audit'
  | 'content'
  | 'contentKeys'
  | 'vendorKeys'
  | 'registry'

/** The state of a gateway, with that of its stores. Plain values, without secrets. */
export interface GatewayHealth extends Omit<GatewayState, 'closing' | 'breakers'> {
  /** Whether new requests should be sent to this process: it is not draining, and all required stores are reachable. */
  readonly ready: boolean
  /** Whether `drain` was called, or `close`: after it, new requests get 503. */
  readonly draining: boolean
  /** The stores in use, those in memory too. */
  readonly stores: readonly StoreHealth[]
  /**
   * The deployments of the models in the options, without those of wildcards, in their order; then all others whose breaker
   * is not closed.
   */
  readonly deployments: readonly DeploymentHealth[]
  /** Video tasks whose next step is due, 1,000 at most. Absent if the task store cannot count them. */
  readonly tasksDue?: number
  /** What this process knows of `billing.export`. Absent without it. */
  readonly export?: ExportState
}

/** Whether a store can be reached, as of its last check. */
export interface StoreHealth {
  /** Its name in the option `storage`. */
  readonly store: StoreName
  /** Whether its last check succeeded. */
  readonly reachable: boolean
  /** Whether requests to models fail without it. */
  readonly required: boolean
  /** Milliseconds that its last check took. */
  readonly ms: number
  /** The error of its last check that failed. Absent if none has. */
  readonly lastError?: {
    /** Such as `ECONNREFUSED`, a database's code, or `timeout`. */
    readonly code: string
    /** Milliseconds since the epoch. */
    readonly at: number
  }
}

/** The breaker of a deployment, as this process sees it. */
export interface DeploymentHealth extends Pick<BreakerChange, 'provider' | 'state'> {
  /** The model name that clients use. Absent for a deployment of a wildcard or of a registry. */
  readonly model?: string
  /** The provider's name for the model. */
  readonly providerModel: string
}
