/** Identifies a record, and the attempt that wants to change it. */
export interface IdempotencyClaim {
  /** The account of the caller. Keys of different accounts are independent. */
  readonly account: string
  /** Name of the endpoint, such as `chat.completions`. */
  readonly route: string
  /** The client's key: 1 to 255 visible ASCII characters, case-sensitive. */
  readonly key: string
  /** Unique id of one attempt to serve the request. */
  readonly attempt: string
}

/** Starts an attempt, or renews its lease. */
export interface IdempotencyStart extends IdempotencyClaim {
  /** SHA-256 of the request, in hex. */
  readonly digest: string
  /** Milliseconds after which the lease expires unless it is renewed. */
  readonly leaseMs: number
}

/** The state of the record after `begin`. `digest` is that of the request that created it. */
export type IdempotencyVerdict =
  /** This attempt holds the record. */
  | {
      /** The record is held by this attempt. */
      readonly outcome: 'begun'
    }
  /** Another attempt holds it. */
  | {
      /** The record is held by another attempt. */
      readonly outcome: 'running'
      /** Of the request that the other attempt serves. */
      readonly digest: string
    }
  /** An attempt has ended. Without `answer`, its response was not stored. */
  | {
      /** An attempt has ended. */
      readonly outcome: 'ended'
      /** Of the request that was served. */
      readonly digest: string
      /** The response to replay. Absent if it was too large to store. */
      readonly answer?: IdempotentAnswer
    }

/** A stored response. Treat it as read-only. */
export interface IdempotentAnswer {
  /** The HTTP status. */
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The exact bytes: JSON, events or anything else. At most `maxBytes` of the gateway's options. */
  readonly body: Uint8Array
}

/** Ends an attempt. */
export interface IdempotencyEnd extends IdempotencyClaim {
  /** The response to store. Absent if it is too large. */
  readonly answer?: IdempotentAnswer
  /** Milliseconds after which the record counts as absent. */
  readonly keepMs: number
}

/**
 * Where requests with an `Idempotency-Key` are tracked and their responses stored for replay: one record per account,
 * route and key. `testIdempotencyStore` of `modelhatch/testing` tests an implementation against this contract.
 *
 * - Required. Every method is atomic with respect to all processes. Later calls observe it once it has resolved.
 * - Required. Times are durations, measured by the store's own clock, so that machines whose clocks differ agree.
 * - Optional. A full store may drop stored responses early; a retry is then a new request. It must never drop a record
 *   that an attempt holds, and rejects new ones instead.
 *
 * The gateway limits each call in time. While the store fails, requests with a key are rejected with 503.
 */
export interface IdempotencyStore {
  /**
   * Required. If there is no record, or its time or lease has expired, the attempt holds it for `leaseMs`. If the same
   * attempt already holds it, renews its lease. Otherwise returns the record unchanged. Of any number of concurrent
   * attempts exactly one gets it.
   */
  begin(start: IdempotencyStart): Promise<IdempotencyVerdict> | IdempotencyVerdict
  /**
   * Required. Ends the record that the attempt holds and stores the response. Changes nothing if another attempt holds
   * the record or it has ended. May accept an attempt whose lease has expired.
   */
  finish(end: IdempotencyEnd): Promise<void> | void
  /** Required. Deletes the record that the attempt holds, so that another attempt can start. Leaves any other record unchanged. */
  forget(claim: IdempotencyClaim): Promise<void> | void
  /**
   * Recommended. Deletes all ended records of an account with their responses, in steps: returns whether to call it again.
   * Leaves records that an attempt holds. Without it, `gateway.admin.erase` leaves responses until they expire.
   */
  deleteAll?(account: string): Promise<boolean> | boolean
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}

/**
 * Milliseconds for which a store remembers an attempt after its lease expires. Another attempt can already begin then; until
 * one does, an attempt that could not renew its lease can still finish.
 */
export const expiredAttemptMs = 3_600_000
