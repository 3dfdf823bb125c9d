/** How the limits of groups, keys and models are kept. */

export interface LimitOptions {
  /**
   * While the limit store is down: `refuse` (the default) calls that have limits with 503, or let each process keep the
   * limits by itself, `local`: several processes then let through as many times more. Money is not concerned: calls are
   * paid from the ledger as ever. Where one database keeps both, paid calls are refused.
   */
  readonly whenDown?: 'refuse' | 'local'
  /** Milliseconds after which the places of a process that died are free again. Default 60,000. */
  readonly leaseMs?: number
  /** Tokens of output drawn beforehand where a request states no limit; corrected after the call. Default 1,024. */
  readonly outputTokens?: number
}
