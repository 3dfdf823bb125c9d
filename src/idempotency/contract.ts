/**
 * Where it is noted which requests with an `Idempotency-Key` are under way, and what the answered ones were answered.
 * One record for each account, route and key. `memory.ts` is the embedded store; `testIdempotencyStore` of
 * `modelhatch/testing` says whether another one keeps its promises.
 *
 * - Every method is one atomic step, also among several processes. A later call must observe it as soon as it has resolved.
 * - Times are durations; a store measures them by its own clock, so that machines whose clocks differ agree.
 * - The gateway calls a store with a deadline. While it cannot be asked, requests with a key are refused with 503.
 * - A store that is full may give up answers before their time: a repetition is then a new call. It never gives up a
 *   record that is held; rather it rejects new ones.
 */

/** Which record, and who wants to change it. */
export interface IdempotencyClaim {
  readonly account: string
  /** Such as `chat.completions`. */
  readonly route: string
  /** What the client has chosen: 1 to 255 visible ASCII characters. Upper and lower case differ. */
  readonly key: string
  /** One handling of one request. No other has the same. */
  readonly attempt: string
}

export interface IdempotencyStart extends IdempotencyClaim {
  /** SHA-256 of the request, in hex. */
  readonly digest: string
  /** Milliseconds for which the record is held without a sign of life. */
  readonly leaseMs: number
}

/** What stands in the record after `begin`; `digest` is that of the request it was made for. */
export type IdempotencyVerdict =
  /** The attempt holds the record. */
  | { readonly outcome: 'begun' }
  /** Another attempt holds it. */
  | { readonly outcome: 'running'; readonly digest: string }
  /** An attempt has ended. Without `answer`: it was answered, but the answer was not kept. */
  | { readonly outcome: 'ended'; readonly digest: string; readonly answer?: IdempotentAnswer }

/** An answer to be given again. Treat it as read-only. */
export interface IdempotentAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON, events or anything else, byte for byte; `maxBytes` of the gateway's options at most. */
  readonly body: Uint8Array
}

export interface IdempotencyEnd extends IdempotencyClaim {
  readonly answer?: IdempotentAnswer
  /** Milliseconds for which the record is kept from now on; then it counts as absent. */
  readonly keepMs: number
}

export interface IdempotencyStore {
  /**
   * Required. Where there is no record, or one whose time or lease has run out, the attempt holds it from now on, for
   * `leaseMs`. Where the same attempt holds it, its lease begins anew. Any other record is told and left as it is. Of any
   * number of concurrent attempts exactly one begins.
   */
  begin(start: IdempotencyStart): Promise<IdempotencyVerdict> | IdempotencyVerdict
  /**
   * Required. Ends the record that the attempt holds and keeps the answer. Changes nothing where another attempt holds
   * it, or it has ended. Whether an attempt that has outlived its lease still may end it is open.
   */
  finish(end: IdempotencyEnd): Promise<void> | void
  /** Required. Takes away the record that the attempt holds, so that the next may begin. Any other is left as it is. */
  forget(claim: IdempotencyClaim): Promise<void> | void
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
