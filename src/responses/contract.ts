/** One stored response with the conversation before it, or a conversation. Holds JSON values only, so that any store can keep it. */
export interface ResponseRecord {
  /** The account that owns it. */
  readonly account: string
  /** The public id, such as `resp_68af…` or `conv_68af…`: 1 to 1,024 visible ASCII characters, unique within the account. */
  readonly id: string
  /**
   * Ids of its items, which later requests can reference: 1 to 1,024 visible ASCII characters each. Clients choose some
   * of them.
   */
  readonly items: readonly string[]
  /** JSON text in a format of the gateway. Contains the caller's input and output. */
  readonly body: string
  /** Of a conversation: 1 when it is added, one more with each `replace`. Absent: the record is only put and deleted. */
  readonly version?: number
}

/**
 * Where responses are kept for later requests: `store: true` (the default) adds one; `previous_response_id`, item
 * references, and `GET` and `DELETE /v1/responses/{id}` read it.
 *
 * The account is part of every key: records of other accounts are never found. The gateway limits each call in time. A
 * failed read fails the request with a 503. After a failed write the response has `store: false`, because it has been
 * produced and charged.
 */
export interface ResponseStore {
  /** Required. Adds a record, or replaces the one with the same account and id. The store decides how long it is kept. */
  put(record: ResponseRecord): Promise<void> | void
  /**
   * Required. The record with this account and id; undefined if there is none, or it has expired. Must observe every
   * `put` and `delete` that resolved before.
   */
  get(account: string, id: string): Promise<ResponseRecord | undefined> | ResponseRecord | undefined
  /**
   * Required. Replaces body and version of the record with this account and id if its version is `record.version - 1`, and
   * returns true; version 1 adds the record, if there is none. Otherwise returns false and changes nothing. Of any number of
   * concurrent calls for one version exactly one returns true. The record is then kept as if it had been put.
   */
  replace(record: ResponseRecord): Promise<boolean> | boolean
  /** Required. A record of this account whose `items` include this id; any of them if there are several. */
  holding(account: string, itemId: string): Promise<ResponseRecord | undefined> | ResponseRecord | undefined
  /** Required. Deletes a record. Of several concurrent calls exactly one returns true; returns false if there is none. */
  delete(account: string, id: string): Promise<boolean> | boolean
  /**
   * Recommended. Deletes all records of an account with their items, in steps: returns whether to call it again. Without
   * it, `gateway.admin.erase` leaves responses until they expire.
   */
  deleteAll?(account: string): Promise<boolean> | boolean
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
