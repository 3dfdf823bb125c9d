import type { DisconnectPolicy } from './disconnect.ts'

/** Accounts with balances: each request is paid at the price of its model. */
export interface BillingOptions {
  /** Required. The currency of all prices and balances, such as `EUR`, as receipts name it. Nothing is converted. */
  readonly currency: string
  /** Models without a price: `refuse` (the default) makes `createGateway` throw, `free` serves them for nothing. */
  readonly unpriced?: 'refuse' | 'free'
  /** The smallest top-up that `gateway.admin.accounts` accepts, as a decimal string. Default `'1'`. */
  readonly minimumTopUp?: string
  /** What happens when a client disconnects, and what it is charged. A model's own `onDisconnect` takes precedence. */
  readonly onDisconnect?: DisconnectPolicy
  /** Maximum number of responses read on after their clients disconnected; further ones are aborted. Default 100. */
  readonly maxDrains?: number
  /**
   * Assumed for a request that states no length, when its hold is made. A request that uses more is still charged in full,
   * which may leave the balance below zero.
   */
  readonly defaults?: {
    /**
     * Output tokens of a request without `max_tokens` or its like. Default 4,096, or the model's `maxOutputTokens` if that
     * is less; `limits.outputTokens` has the same default.
     */
    readonly outputTokens?: number
    /**
     * Sends `outputTokens` to the vendor as the length limit of chats, completions and responses that state none, so that
     * no response costs more than its hold. Default false: no response is cut short.
     */
    readonly enforce?: boolean
    /** Seconds of a recording. Default 60. */
    readonly seconds?: number
  }
  /** Milliseconds after which the holds of a process that died are released. Default 60,000. */
  readonly leaseMs?: number
}
