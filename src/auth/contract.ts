/**
 * Where API keys are kept. The gateway never stores or passes on a key itself: only its SHA-256.
 *
 * A store is an object with the methods below; `memory.ts` is the embedded one. The gateway calls it with a deadline,
 * caches what it finds for a bounded time, and answers 503 while it is down: never 401, never open.
 */

import type { Rate } from '../limits/rate.ts'

/** What is known of one key. JSON only, so that any store can keep it. */
export interface KeyRecord {
  /** Public name of the key, such as `key_4fJ…`; safe in logs and receipts. */
  readonly id: string
  /** SHA-256 of the whole key, 64 lower-case hex digits. */
  readonly hash: string
  /** The first characters of the key, for its owner to recognise it in a list. */
  readonly prefix: string
  /** Who pays and who owns what the key creates. Keys of one account see the same tasks and stored responses. */
  readonly account: string
  /** The model group the key belongs to. */
  readonly group: string
  /** The owner's name for it. */
  readonly name?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Milliseconds since the epoch; from this moment on the key is refused. */
  readonly expiresAt?: number
  /** Limits of this key alone, beside those of its group. */
  readonly rate?: Rate
  /** Milliseconds since the epoch; set once and never cleared. */
  readonly revokedAt?: number
  /** Raised by one with every change. */
  readonly version: number
}

export interface KeyStore {
  /**
   * Required. The record whose `hash` equals `hash`, revoked and expired ones included; undefined when there is none.
   * Must observe every `insert` and `update` that resolved before. Rejects when the store cannot tell.
   */
  find(hash: string): Promise<KeyRecord | undefined> | KeyRecord | undefined
  /** Recommended. Adds a record; false, and nothing changed, when its id or hash is already there. */
  insert?(record: KeyRecord): Promise<boolean>
  /**
   * Recommended. Replaces the record with this id if its version is `record.version - 1`; false, and nothing changed,
   * otherwise. Of two concurrent updates at most one succeeds.
   */
  update?(record: KeyRecord): Promise<boolean>
  /** Recommended. The records of an account, newest first. */
  list?(account: string): Promise<KeyRecord[]>
  /**
   * Optional. Calls `changed` with the hash of every record changed by any process, within a second; the gateway then
   * forgets what it has cached. Returns what ends the notices. Without it a revoked key lives for the cache age.
   */
  watch?(changed: (hash: string) => void): () => void
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}

/** On whose behalf a request runs. The result of authentication, and all that later steps know of the client. */
export interface Caller {
  /** The account: who pays and who owns what is created. */
  readonly account: string
  /** The model group: which models are seen and may be called. */
  readonly group: string
  /** Public id of the key that was used, if one was. */
  readonly key?: string
  /** Limits of this caller's key, or of the caller where there is none, beside those of the group. */
  readonly rate?: Rate
}
