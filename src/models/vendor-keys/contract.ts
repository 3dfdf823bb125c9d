/** Which key of an account it is: it has one for each provider. */
export interface VendorKeyName {
  /** Whose key it is. */
  readonly account: string
  /** The name of the provider that it is for, such as `openai`. */
  readonly provider: string
}

/** An account's own key at a vendor, as it is stored. */
export interface VendorKeyRecord extends VendorKeyName {
  /** The key, encrypted for this account and provider: stores never see more of it. */
  readonly sealed: string
  /** The last characters of the key, to recognise it by. May be empty. */
  readonly hint: string
  /** When it was stored. Milliseconds since the epoch. */
  readonly createdAt: number
  /** Who stored it: the actor of the audit log. Absent for the host's own code. */
  readonly by?: string
}

/**
 * Where accounts' own keys at vendors are kept. The gateway limits each call in time. While it fails, so do calls to models: the
 * host's key does not step in.
 */
export interface VendorKeyStore {
  /** Required. Stores a key in the place of the one with the same name. Must be durable before it resolves. */
  put(record: VendorKeyRecord): Promise<void> | void
  /**
   * Required. Replaces the sealed text of a key by that of the record. Returns false and changes nothing if it is not `before`,
   * or if the key is gone.
   */
  reseal(record: VendorKeyRecord, before: string): Promise<boolean> | boolean
  /** Required. All keys of an account, in any order. Must observe every change that resolved before. */
  list(account: string): Promise<readonly VendorKeyRecord[]> | readonly VendorKeyRecord[]
  /** Required. At most `limit` keys of all accounts, in an order of the store's own, behind the key `after` or from the first on. */
  page(
    after: VendorKeyName | undefined,
    limit: number,
  ): Promise<readonly VendorKeyRecord[]> | readonly VendorKeyRecord[]
  /** Required. Deletes a key, if there is one. */
  delete(name: VendorKeyName): Promise<void> | void
  /** Required. Deletes all keys of an account. */
  deleteAll(account: string): Promise<void> | void
  /**
   * Required. A text that every `put`, `delete` and `deleteAll` replaces by one that never was, in the same step as it makes its
   * change. Gateways ask for it about twice a second while they serve, and use what they have read until it is another one.
   */
  revision(): Promise<string> | string
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
