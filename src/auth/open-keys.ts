/** The keys of calls under way, looked at again while they are: a key that has ended ends its calls. */
import { GatewayError } from '../errors.ts'
import { longestTimerMs } from '../http/deadline.ts'
import type { KeyRecord } from './contract.ts'

export interface OpenKeysOptions {
  /** The record of a key as it is now. May reject while its store is down: the calls then go on. */
  readonly find: (hash: string) => Promise<KeyRecord | undefined> | KeyRecord | undefined
  readonly isValid: (record: KeyRecord | undefined, hash: string) => boolean
  /** Milliseconds after which a key is looked at again, where nothing tells of a change. */
  readonly everyMs: number
  readonly now: () => number
}

/** Ends one call. */
type End = (reason: GatewayError) => void

interface OpenKey {
  readonly calls: Set<End>
  expiresAt: number
}

/** One timer for all keys, and none while there is no call. */
export class OpenKeys {
  readonly #options: OpenKeysOptions
  readonly #keys = new Map<string, OpenKey>()
  #timer: NodeJS.Timeout | undefined
  #dueAt = Infinity

  constructor(options: OpenKeysOptions) {
    this.#options = options
  }

  /** A call has begun. Returns what is to be called when it has ended. */
  open(hash: string, expiresAt: number | undefined, end: End): () => void {
    let key = this.#keys.get(hash)
    if (key === undefined) this.#keys.set(hash, (key = { calls: new Set(), expiresAt: expiresAt ?? Infinity }))
    key.calls.add(end)
    this.#plan(key.expiresAt)
    return () => {
      key.calls.delete(end)
      if (key.calls.size === 0 && this.#keys.get(hash) === key) this.#keys.delete(hash)
      if (this.#keys.size === 0) this.close()
    }
  }

  /** The key may have changed. */
  check(hash: string): void {
    if (this.#keys.has(hash)) void this.#check(hash)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Infinity
  }

  #plan(expiresAt: number): void {
    const { everyMs, now } = this.#options
    const dueAt = Math.min(now() + everyMs, Math.max(expiresAt, now()))
    if (dueAt >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(dueAt - now()), longestTimerMs))
    this.#timer.unref()
  }

  #look(): void {
    this.#dueAt = Infinity
    for (const [hash, { expiresAt }] of this.#keys) {
      void this.#check(hash)
      this.#plan(expiresAt > this.#options.now() ? expiresAt : Infinity)
    }
  }

  async #check(hash: string): Promise<void> {
    const { find, isValid } = this.#options
    try {
      const record = await find(hash)
      const key = this.#keys.get(hash)
      if (key === undefined) return
      if (isValid(record, hash)) {
        key.expiresAt = record?.expiresAt ?? Infinity
        return
      }
      const message = 'The API key has expired or was revoked.'
      for (const end of key.calls) end(new GatewayError('invalid_api_key', { message }))
    } catch {
      // A store that is down says nothing of the key.
    }
  }
}
