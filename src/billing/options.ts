/** How accounts pay. */
import type { DisconnectPolicy } from './disconnect.ts'

export interface BillingOptions {
  /** The name of the currency in receipts and records. All prices and balances are in it. Default `CNY`. */
  readonly currency?: string
  /** Models without a price: `refuse` (the default) to create the gateway, or serve them for `free`. */
  readonly unpriced?: 'refuse' | 'free'
  /** The smallest amount of a top-up. Default `'1'`. */
  readonly minimumTopUp?: string
  /** What becomes of a call whose client leaves, where its model says nothing else. */
  readonly onDisconnect?: DisconnectPolicy
  /** Answers that are read on at once although their clients have left. Default 100; more are aborted. */
  readonly maxDrains?: number
  /**
   * What is held of the balance where a request does not say how much it may come to. A call that comes to more is
   * charged in full all the same, and may leave the balance below zero.
   */
  readonly defaults?: {
    /** Tokens of an answer without `max_tokens` or its like. Default 4,096, or what the model can write if that is less. */
    readonly outputTokens?: number
    /**
     * Vendors of chats, completions and responses are told to write no more than that where the request does not say, so
     * that no answer costs more than was held. Default false: no answer is cut short.
     */
    readonly enforce?: boolean
    /** Seconds of a recording. Default 60. */
    readonly seconds?: number
  }
  /** Milliseconds after which the money held by a process that died is back in the balance. Default 60,000. */
  readonly leaseMs?: number
}
