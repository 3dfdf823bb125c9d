/** The time limits of a gateway, in milliseconds. */
export interface Timeouts {
  /**
   * Milliseconds until the first content of a response, retries included; then the request fails with 503. Default
   * 600,000, because reasoning models may think for minutes.
   */
  readonly firstContentMs?: number
  /** Milliseconds without data after which an idle stream gets a keep-alive event. Default 15,000. */
  readonly keepAliveMs?: number
  /**
   * Milliseconds without data from the provider after which a stream fails, accurate to `keepAliveMs`. Default 600,000.
   * The built-in providers have shorter limits of their own.
   */
  readonly idleMs?: number
  /** Milliseconds that a client may leave a stream unread before it is disconnected. Default 60,000. */
  readonly stallMs?: number
  /** Milliseconds to wait for the key store or `authenticate`; then the request fails with 503. Default 3,000. */
  readonly authMs?: number
  /**
   * Milliseconds to wait for the stores of limits, money and responses; then the request fails with 503. Default 2,000.
   * The stores of Postgres and MySQL give up a statement after their `statementMs`, those of SQLite and Redis after 2,000.
   */
  readonly storeMs?: number
  /** Milliseconds to wait for lists, statistics and audits of `gateway.admin`, which may read a lot. Default 30,000. */
  readonly pageMs?: number
}
