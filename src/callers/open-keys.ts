import { GatewayError } from '../errors.ts'
import { longestTimerMs } from '../http/deadline.ts'
import type { KeyRecord } from './contract.ts'

export interface OpenKeysOptions {
  /** The current record of a key. May reject while the store is down; requests then continue. */
  readonly find: (hash: string) => Promise<KeyRecord | undefined> | KeyRecord | undefined
  readonly isValid: (record: KeyRecord | undefined, hash: string) => boolean
  /** Milliseconds between checks of a key, unless the store reports a change earlier. */
  readonly everyMs: number
  readonly now: () => number
}

type End = (reason: GatewayError) => void

interface OpenKey {
  readonly calls: Set<End>
  expiresAt: number
}

/**
 * Ends the open requests of a key once it expires or is revoked. Uses one timer for all keys, and none while no request
 * is open.
 */
export class OpenKeys {
  readonly #options: OpenKeysOptions
  readonly #keys = new Map<string, OpenKey>()
  #timer: NodeJS.Timeout | undefined
  #dueAt = Infinity

  constructor(options: OpenKeysOptions) {
    this.#options = options
  }

  /** Registers an open request. Returns the function to call when it has ended. */
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

  /** Checks a key that may have changed. */
  check(hash: string): void {
    if (this.#keys.has(hash)) void this.#check(hash)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Infinity
  }

  #plan(expiresAt: number): void {
    const { everyMs, now } = this.#options
    const time = now()
    const dueAt = Math.min(time + everyMs, Math.max(expiresAt, time))
    if (dueAt >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(dueAt - time), longestTimerMs))
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
      // The store is down, so the key's state is unknown: requests continue.
    }
  }
}
