import type { Page, PageRequest } from '../records/page.ts'
import type { Cap } from '../records/cap.ts'
import type { Rate } from '../records/rate.ts'
import type { KeyProperties } from './key-fields.ts'

/** One API key as a store keeps it. Holds JSON values only, so that any store can keep it. */
export interface KeyRecord extends KeyProperties {
  /** Public name of the key, such as `key_4fJ…`; safe in logs and receipts. */
  readonly id: string
  /** SHA-256 of the whole key, 64 lower-case hex digits. */
  readonly hash: string
  /** The first characters of the key, so that its owner recognises it in a list. */
  readonly prefix: string
  /** The account that pays, and that owns what the key creates. Keys of one account see the same tasks and stored responses. */
  readonly account: string
  /** The model group the key belongs to. */
  readonly group: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Public id of the key that this one replaces: limits and usage of both count as those of that key. */
  readonly continues?: string
  /** Milliseconds since the epoch. Set once, never cleared. */
  readonly revokedAt?: number
  /** `options`: the key is one of the option `keys`, and is changed and removed there. Absent of all that a store keeps. */
  readonly source?: 'options'
  /** Incremented by one with every change. */
  readonly version: number
}

/**
 * Where API keys are kept. The gateway passes only the SHA-256 of a key to the store, never the key. It limits each call
 * in time, caches results for a bounded time, and responds with 503 while the store fails: it never rejects a key and
 * never admits a request because of a failed look-up.
 */
export interface KeyStore {
  /**
   * Required. The record whose `hash` equals `hash`, including revoked and expired ones; undefined if there is none.
   * Must observe every `insert` and `update` that resolved before. Rejects when the look-up fails.
   */
  find(hash: string): Promise<KeyRecord | undefined> | KeyRecord | undefined
  /** Recommended. Adds a record. Returns false and changes nothing if its id or hash already exists. */
  insert?(record: KeyRecord): Promise<boolean>
  /**
   * Recommended. Replaces the record with this id if its version is `record.version - 1`; otherwise returns false and
   * changes nothing. Of two concurrent updates at most one succeeds.
   */
  update?(record: KeyRecord): Promise<boolean>
  /** Recommended. The records of an account, newest first. */
  list?(account: string): Promise<KeyRecord[]>
  /**
   * Recommended. The records of all accounts that a question selects, newest first; records with equal times by id,
   * descending. The cursor of a page is `cursorOf(createdAt, id)` of its last record.
   */
  search?(question: KeyQuestion): Promise<Page<KeyRecord>> | Page<KeyRecord>
  /**
   * Optional. Calls `changed` with the hash of every record that any process changes, within one second, so that the
   * gateway drops it from its cache. Returns the function that unsubscribes. Without `watch`, a revoked key works until
   * its cache entry expires.
   */
  watch?(changed: (hash: string) => void): () => void
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}

/** Selects keys. An absent field matches every key. */
export interface KeyQuestion extends PageRequest {
  /** Only keys of this account. */
  readonly account?: string
  /** Only keys of this group. */
  readonly group?: string
  /** Only keys of this user. */
  readonly user?: string
  /** Only keys with this tag. */
  readonly tag?: string
  /** Only keys of which a field of `keySearched` contains this text. Letters of ASCII match in either case. */
  readonly text?: string
  /** Only keys in this state. A revoked key is not counted as expired. */
  readonly state?: 'active' | 'expired' | 'revoked'
  /** The present time, which decides whether a key has expired. Milliseconds since the epoch. */
  readonly now: number
}

/** The result of authentication: all that later steps know about the client of a request. */
export interface Caller {
  /** The account that pays, and that owns what the request creates. */
  readonly account: string
  /** The model group: the models that are listed and may be used. */
  readonly group: string
  /** Public id of the API key, if the request has one. */
  readonly key?: string
  /** Limits of the caller's key, or of the caller if there is no key, in addition to those of the group. */
  readonly rate?: Rate
  /**
   * Limits of what the caller's key, or the account if there is no key, uses in a period, in addition to those of the
   * group. Return the same objects for each request, because reading them is cached.
   */
  readonly caps?: readonly Cap[]
  /**
   * The person behind the request, as the host knows them, at most 256 characters. Recorded instead of the user that the
   * request names.
   */
  readonly user?: string
  /** Words by which usage is filtered and summed: at most 10, each of at most 64 characters. */
  readonly tags?: readonly string[]
  /** The models that the caller may use, of those of the group: names, each of which may end in `*`. Default: all. */
  readonly models?: readonly string[]
}
