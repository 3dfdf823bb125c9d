/**
 * Where responses are kept between calls: `store: true` (the default) puts one there, `previous_response_id`, item
 * references, `GET` and `DELETE /v1/responses/{id}` find it again.
 *
 * The account is part of every key: what another account stored does not exist. The gateway calls a store with a
 * deadline. A store that cannot be read makes the call fail with 503; one that cannot be written makes the answer say
 * `store: false`, for the answer itself has been made and paid for.
 */

/** One response with the conversation that led to it. JSON only, so that any store can keep it. */
export interface ResponseRecord {
  /** Whose it is. */
  readonly account: string
  /** As the client knows it, such as `resp_68af…`: 1 to 1,024 visible ASCII characters. Unique within the account. */
  readonly id: string
  /**
   * The ids of the items in it, by which later requests may refer to them: 1 to 1,024 visible ASCII characters each, some
   * of them chosen by the client.
   */
  readonly items: readonly string[]
  /** JSON text. Its form is the gateway's own; it may hold everything the caller wrote and got. */
  readonly body: string
}

export interface ResponseStore {
  /** Required. Adds a record, or replaces the one with the same account and id. How long it is kept is up to the store. */
  put(record: ResponseRecord): Promise<void> | void
  /**
   * Required. The record with this account and id; undefined when there is none, or no more. Must observe every `put`
   * and `delete` that resolved before.
   */
  get(account: string, id: string): Promise<ResponseRecord | undefined> | ResponseRecord | undefined
  /** Required. A record of this account among whose `items` is this id; which one, where several are, is open. */
  holding(account: string, itemId: string): Promise<ResponseRecord | undefined> | ResponseRecord | undefined
  /** Required. Takes a record away. True for exactly one of several concurrent calls, false when there was none. */
  delete(account: string, id: string): Promise<boolean> | boolean
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
