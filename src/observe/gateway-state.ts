/** The state of a gateway at one moment, as far as this process knows it without asking a store. */
export interface GatewayState {
  /** Requests that wait for a model, or whose response is being sent. */
  readonly openCalls: number
  /** Holds of open requests in the ledger. */
  readonly holds: number
  /** The items in each queue that the stores have not accepted yet. */
  readonly queues: Readonly<Record<QueueName, number>>
  /** Usage records dropped since the start. */
  readonly droppedRecords: number
  /** The deployments whose breaker is not closed. */
  readonly breakers: readonly BreakerChange[]
  /** The stores that are not called at the moment because several calls in a row have failed, such as `the ledger`. */
  readonly failingStores: readonly string[]
  /** Whether `close` was called. */
  readonly closing: boolean
}

/** A change of the breaker of a deployment. */
export interface BreakerChange {
  /** The name of the provider. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly model: string
  /** Whether the client chose the vendor's model name, so that it may be any text. */
  readonly openModel: boolean
  /** `open`: the deployment is skipped. `half-open`: one request tries it. `closed`: it works. */
  readonly state: 'open' | 'half-open' | 'closed'
}

/** A queue of what is still to be written: `settlements` to the ledger, `returns` to the limit store, `usage` records. */
export type QueueName = 'settlements' | 'returns' | 'usage'
