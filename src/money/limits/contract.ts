/** One rate limit that a request must pass: a token bucket and the number of units to draw from it. */
export interface RateRule {
  /**
   * Name of the bucket, at most 512 printable characters. Rules with the same name draw from the same bucket. `accountOf`
   * tells from the name which account alone draws from it, if the bucket is not shared.
   */
  readonly bucket: string
  /** Units to draw. Not negative in a claim. */
  readonly cost: number
  /** Units refilled in each `periodMs`. */
  readonly limit: number
  /** Milliseconds. */
  readonly periodMs: number
  /** Capacity of the bucket: the units that can be drawn at once when it is full. */
  readonly burst: number
}

/** One concurrency limit that a request must pass. A *place* is one of its slots. */
export interface PlaceRule {
  /** Name of the limit, as that of a bucket. */
  readonly bucket: string
  /** Number of places that can be held at the same time. */
  readonly places: number
}

/** All limits that one request must pass. */
export interface LimitClaim {
  /** Id of the request, which holds the places. A second claim with the same id does not take a second place. */
  readonly id: string
  /** Each bucket at most once. */
  readonly rates: readonly RateRule[]
  /** Concurrency slots to take. */
  readonly places: readonly PlaceRule[]
  /** Milliseconds after which the places are released unless the lease is renewed. */
  readonly leaseMs: number
}

/** The result of a claim. */
export interface LimitVerdict {
  /** Whether everything was drawn. If false, nothing was. */
  readonly admitted: boolean
  /** Units left in each bucket, in the order of the claim's rates: after the draw, or unchanged if rejected. */
  readonly left: readonly number[]
  /**
   * Free places of each rule, in the order of the claim's places: after the draw, or unchanged if rejected. A place may be
   * missing whose lease ended within the last second.
   */
  readonly free: readonly number[]
}

/** What a request gives back, or draws in addition, when it ends. */
export interface LimitReturn {
  /** The `id` of the claim. */
  readonly id: string
  /** Names of the limits of which the request holds a place. */
  readonly places: readonly string[]
  /** Rates of which the request used more (`cost` above 0) or less (below 0) than it drew. */
  readonly corrections: readonly RateRule[]
}

/**
 * Where rate and concurrency limits are counted. The memory store counts for one process; with a store that several
 * processes share, the limits hold for all of them together.
 *
 * A rate is a token bucket of `burst` units, refilled evenly with `limit` units in `periodMs` (the generic cell rate
 * algorithm): within any time T, at the resolution of the store's clock, at most `burst + limit × T / periodMs` units
 * are drawn. A place is held under a lease, so that the places of a process that dies become free again.
 *
 * For every method:
 * - Required. All times are the store's own: processes whose clocks differ by minutes must see the same limit.
 * - Required. A call is atomic with respect to all calls of all processes. If several nodes keep the buckets, `take` may
 *   use several steps: first the buckets of the account, then those that accounts share. No step admits more than the
 *   limits allow. If one rejects the claim, the earlier ones are undone exactly; meanwhile another claim of the same
 *   account can be rejected. A process that dies between two steps leaves places, which become free with their lease, and
 *   drawn units, which are refilled.
 * - Required. Rejects or throws when the result is unknown. A rejected call must not draw twice.
 * - Recommended. At most one round trip per call.
 * - Optional. Returns its result synchronously instead of as a promise.
 */
export interface LimitStore {
  /**
   * Required. All or nothing: if every rate has `cost` units left and every place rule has a free place, draws all of
   * them; otherwise draws nothing. Must observe every `take` and `give` that resolved before.
   */
  take(claim: LimitClaim): Promise<LimitVerdict> | LimitVerdict
  /**
   * Required. Frees the places and applies the corrections. Always succeeds: a correction may overdraw a bucket, which
   * then admits nothing until it is refilled, and never fills a bucket above its burst. Ignores places that are not held.
   */
  give(returned: LimitReturn): Promise<void> | void
  /** Required. Extends the leases of the places that these claims still hold to `leaseMs` from now. */
  renew(holders: readonly Pick<LimitReturn, 'id' | 'places'>[], leaseMs: number): Promise<void> | void
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}

/** The verdict of an admitted claim after its draw, given the state `before` it. */
export function verdictAfter({ rates }: LimitClaim, before: LimitVerdict): LimitVerdict {
  if (!before.admitted) return before
  return {
    admitted: true,
    left: before.left.map((units, index) => units - (rates[index]?.cost ?? 0)),
    free: before.free.map((places) => places - 1),
  }
}
