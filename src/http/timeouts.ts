/** How long a gateway waits for what. */

export interface Timeouts {
  /** Milliseconds to the first content of an answer, retries included. Default 600,000: reasoning models think long. */
  readonly firstContentMs?: number
  /** Milliseconds of silence after which a stream gets an event that says nothing. Default 15,000. */
  readonly keepAliveMs?: number
  /**
   * Milliseconds for which a provider may be silent in the middle of a stream, give or take `keepAliveMs`; then the stream
   * ends with an error. Default 600,000. Providers over HTTP have shorter ones of their own.
   */
  readonly idleMs?: number
  /** Milliseconds for which a client may leave a stream unread. Default 60,000. */
  readonly stallMs?: number
  /** Milliseconds to wait for the key store or `authenticate`. Default 3,000. */
  readonly authMs?: number
  /** Milliseconds to wait for a store of limits, money or responses before a call is refused with 503. Default 2,000. */
  readonly storeMs?: number
  /** Milliseconds to wait for a page of `gateway.admin` that may read much: lists, statistics, audits. Default 30,000. */
  readonly pageMs?: number
}
