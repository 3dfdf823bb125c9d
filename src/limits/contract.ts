/**
 * Where the counters behind rate limits are kept: how much was drawn from a bucket, and who holds a place. The embedded
 * store (`memory.ts`) counts for one process; a store that several processes share makes the limits hold for all of
 * them together.
 *
 * Two kinds of rules. A *rate* is a bucket of `burst` units that is refilled evenly, `limit` units in `periodMs` (the
 * generic cell rate algorithm): in any span of time T, as fine as the store's clock counts, at most
 * `burst + limit × T / periodMs` units are drawn. A *place*
 * is one of `places` that may be held at once; it is held under a lease, so that a process that dies gives it back.
 *
 * For every method:
 * - Required. All time is the store's own: processes whose clocks differ by minutes must see one and the same limit.
 * - Required. A call is one atomic step among all calls of all processes.
 * - Required. Rejects (or throws) when the store cannot tell; nothing may be drawn twice by a rejected call.
 * - Recommended. At most one round trip a call.
 * - An answer may be given at once or as a promise.
 */

export interface RateRule {
  /** Names the counter: at most 512 printable characters. Rules of several calls with one bucket draw from the same. */
  readonly bucket: string
  /** Units to draw, not negative. */
  readonly cost: number
  /** Units that come back in each `periodMs`. */
  readonly limit: number
  readonly periodMs: number
  /** Units that may be drawn at once after a long rest. */
  readonly burst: number
}

export interface PlaceRule {
  readonly bucket: string
  /** Places that may be held at once. */
  readonly places: number
}

/** All the rules one call must pass. */
export interface LimitClaim {
  /** Names the call, and with it the places it holds: one that comes twice holds each place once. */
  readonly id: string
  /** Each bucket at most once. */
  readonly rates: readonly RateRule[]
  readonly places: readonly PlaceRule[]
  /** Milliseconds after which the places are free again, unless they are renewed. */
  readonly leaseMs: number
}

export interface LimitVerdict {
  readonly admitted: boolean
  /** Units left in the bucket of each rate, in the order of the claim: after the draw, or as they stand if refused. */
  readonly left: readonly number[]
  /** Places left of each place rule, in the order of the claim: after the call, or as they stand if refused. */
  readonly free: readonly number[]
}

/** What becomes known when a call is over. */
export interface LimitReturn {
  /** The `id` of the claim. */
  readonly id: string
  /** Buckets in which the call holds a place. */
  readonly places: readonly string[]
  /** Rates of which more (`cost` above 0) or less (below 0) was used than was drawn. */
  readonly corrections: readonly RateRule[]
}

export interface LimitStore {
  /**
   * Required. All or nothing: if every rate has `cost` units left and every place rule a free place, all of it is drawn;
   * otherwise nothing is. Must observe every `take` and `give` that was answered before.
   */
  take(claim: LimitClaim): Promise<LimitVerdict> | LimitVerdict
  /**
   * Required. Frees the places and applies the corrections. Never refuses: a bucket may be overdrawn by it, and then
   * admits nothing until it is refilled; giving back never fills a bucket above its burst. Places that are not held do
   * no harm.
   */
  give(returned: LimitReturn): Promise<void> | void
  /** Required. The places of these claims, as far as they are still held, last `leaseMs` from now. */
  renew(holders: readonly Pick<LimitReturn, 'id' | 'places'>[], leaseMs: number): Promise<void> | void
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
