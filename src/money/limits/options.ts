import type { Frequency } from '../../records/rate.ts'

/** How the limits of groups, keys and models are enforced. */
export interface LimitOptions {
  /**
   * What happens while the limit store is down. `refuse` (the default) rejects requests that have limits with 503.
   * `local` lets each process count alone, so N processes together admit up to N times the limit. The ledger still
   * charges every request; if the same database holds both, paid requests are rejected.
   */
  readonly whenDown?: 'refuse' | 'local'
  /** Milliseconds after which the concurrency slots of a process that died become free. Default 60,000. */
  readonly leaseMs?: number
  /**
   * Output tokens counted in advance for a request that states no length; corrected after the response. Default 4,096, or
   * the model's `maxOutputTokens` if that is less. The same default as for holds: a lower one would let concurrent requests
   * exceed the limit before the correction.
   */
  readonly outputTokens?: number
  /**
   * How often a key, or an account without one, may count the tokens of a request (`/v1/messages/count_tokens` and
   * `/v1/responses/input_tokens` together). Counting costs nothing and is not one of its `requests`. Default `'600/min'`.
   */
  readonly tokenCounts?: Frequency
}
