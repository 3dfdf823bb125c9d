import type { Page, PageRequest } from '../../records/page.ts'

/** Whose content it is. All of it is encrypted with one key, which is destroyed to delete it. */
export interface ContentOwner {
  /** The account. */
  readonly account: string
  /** The person behind the requests; empty if they are not known. */
  readonly user: string
  /** The day of the requests in UTC, such as `2026-11-27`. */
  readonly day: string
}

/** A key that encrypts content, itself sealed with a secret of the host. */
export interface ContentKey extends ContentOwner {
  /** A digest of the owner: an owner has one key. */
  readonly id: string
  /** The key, encrypted: stores never see more of it. */
  readonly sealed: string
}

/** What was asked and answered in one request, as it is stored. */
export interface ContentRecord extends ContentOwner {
  /** The id of the request. */
  readonly id: string
  /** The id of the key that opens it. */
  readonly key: string
  /** The session that the request belongs to. */
  readonly session?: string
  /** When the request arrived. Milliseconds since the epoch. */
  readonly at: number
  /** The content, compressed and encrypted. */
  readonly body: Uint8Array
}

/** Which content is listed. */
export interface ContentQuestion extends PageRequest {
  /** The account that it belongs to. */
  readonly account: string
  /** Only that of this session. */
  readonly session?: string
}

/** Where content is kept. The gateway limits each call in time, writes in batches and waits for none of them. */
export interface ContentStore {
  /**
   * Required. Adds records; those whose id exists are ignored, so that a batch that has failed can be written again. Must be durable
   * before it resolves.
   */
  append(records: readonly ContentRecord[]): Promise<void> | void
  /** Required. The record of a request; undefined if there is none. */
  get(id: string): Promise<ContentRecord | undefined> | ContentRecord | undefined
  /** Required. The records of an account, or of one of its sessions, oldest first: by `at`, then by `id`. */
  list(question: ContentQuestion): Promise<Page<ContentRecord>> | Page<ContentRecord>
  /** Required. Deletes some records of an account, or of one of its users. Returns whether there may be more: then it is called again. */
  erase(account: string, user?: string): Promise<boolean> | boolean
  /** Required. Deletes at most `most` records of days before this one, and returns how many. */
  removeBefore(day: string, most: number): Promise<number> | number
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}

/**
 * Where the keys of content are kept. Whoever deletes one deletes all content that it opens, wherever copies of that are: so keep
 * these few bytes apart from what is copied, archived or backed up with the content.
 */
export interface ContentKeyStore {
  /**
   * Required. Stores keys, except those whose id exists, and returns the stored one of each, in the same order. Of concurrent calls
   * for an id one key is stored, which all return. Must be durable before it resolves.
   */
  claim(keys: readonly ContentKey[]): Promise<readonly ContentKey[]> | readonly ContentKey[]
  /** Required. The keys with these ids, in any order, without those that do not exist. */
  find(ids: readonly string[]): Promise<readonly ContentKey[]> | readonly ContentKey[]
  /** Required. At most `limit` keys in the order of their ids, behind the id `after` or from the first on. */
  page(after: string | undefined, limit: number): Promise<readonly ContentKey[]> | readonly ContentKey[]
  /** Required. Replaces the sealed text of a key. Returns false and changes nothing if it is not `before`, or if the key is gone. */
  reseal(key: ContentKey, before: string): Promise<boolean> | boolean
  /** Required. Deletes some keys of an account, or of one of its users. Returns whether there may be more: then it is called again. */
  erase(account: string, user?: string): Promise<boolean> | boolean
  /** Required. Deletes at most `most` keys of days before this one, and returns how many. */
  removeBefore(day: string, most: number): Promise<number> | number
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
