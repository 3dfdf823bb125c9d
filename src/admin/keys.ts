import type { KeyRecord, KeyStore } from '../auth/contract.ts'
import { mintKey } from '../auth/key.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Rate } from '../limits/rate.ts'
import type { Guard } from '../store-access/guard.ts'
import { offering, requireId } from './accounts.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

/** A key record without its hash, to show to the key's owner. */
export type KeyView = Omit<KeyRecord, 'hash' | 'version'>

/** Properties of a new key. */
export interface KeyRequest {
  /** The account that pays for requests with the key. */
  readonly account: string
  /** One of the gateway's groups. */
  readonly group: string
  /** A label chosen by the owner. */
  readonly name?: string
  /** Milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number
  /** Limits of this key, in addition to those of its group. */
  readonly rate?: Rate
}

/** A change of a key. Null removes the field. */
export interface KeyChange {
  /** The new group, one of those of the gateway. */
  readonly group?: string
  /** The new label. */
  readonly name?: string | null
  /** The new time of expiry, in milliseconds since the epoch. */
  readonly expiresAt?: number | null
  /** The new limits of the key. */
  readonly rate?: Rate | null
}

const changeable = ['group', 'name', 'expiresAt', 'rate'] as const satisfies readonly (keyof KeyChange)[]

/** Creates, lists, changes and revokes keys. A key is shown once and afterwards identified by its first characters. */
export class KeyAdmin {
  readonly #store: KeyStore
  readonly #guard: Guard
  readonly #groups: readonly string[]
  readonly #now: () => number
  readonly #forget: (hash: string) => void

  constructor({ keys, guard, groups, now, forget }: AdminParts) {
    this.#forget = forget
    this.#store = keys
    this.#guard = guard('the key store')
    this.#groups = groups
    this.#now = now
  }

  /** Creates a key. The returned `key` cannot be read again. Throws a 400 for invalid arguments. */
  async create(request: KeyRequest): Promise<{ readonly key: string; readonly record: KeyView }> {
    requireValid(rules.key, request)
    this.#checkGroup(request.group)
    const now = this.#now()
    if (request.expiresAt !== undefined && request.expiresAt <= now) {
      throw invalid('"expiresAt" must be in the future', 'expiresAt')
    }
    const { key, record } = mintKey(request, now)
    const store = offering(this.#store, 'insert', 'keys')
    if (!(await this.#guard.call(() => store.insert(record)))) throw new GatewayError('conflict')
    return { key, record: view(record) }
  }

  /** The keys of an account, newest first, including revoked and expired ones. */
  async list(account: string): Promise<KeyView[]> {
    return (await this.#records(account)).map(view)
  }

  /** Changes a key. Throws a 404 if the account has no such key. */
  async update(account: string, id: string, change: KeyChange): Promise<KeyView> {
    requireValid(rules.keyChange, change)
    this.#checkGroup(change.group)
    return this.#change(account, id, (record) => {
      const changed: Record<string, unknown> = { ...record }
      for (const name of changeable) {
        if (change[name] === null) delete changed[name]
        else if (change[name] !== undefined) changed[name] = change[name]
      }
      return changed as unknown as KeyRecord
    })
  }

  /**
   * Revokes a key permanently. Rejected at once by this process, and by others within a second if the store reports
   * changes, otherwise after `keyCache.ageMs`. Throws a 404 if the account has no such key.
   */
  async revoke(account: string, id: string): Promise<KeyView> {
    const now = this.#now()
    return this.#change(account, id, (record) => ({ ...record, revokedAt: record.revokedAt ?? now }))
  }

  async #change(account: string, id: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyView> {
    const store = offering(this.#store, 'update', 'keys')
    for (let tries = 0; tries < 5; tries++) {
      const record = (await this.#records(account)).find((each) => each.id === id)
      if (record === undefined) throw new GatewayError('not_found', { param: 'id', message: 'No such key.' })
      const next = { ...change(record), version: record.version + 1 }
      if (await this.#guard.call(() => store.update(next))) {
        this.#forget(next.hash)
        return view(next)
      }
    }
    throw new GatewayError('conflict', { message: 'The key was changed concurrently. Try again.' })
  }

  async #records(account: string): Promise<KeyRecord[]> {
    requireId(account, 'account')
    const store = offering(this.#store, 'list', 'keys')
    return this.#guard.call(() => store.list(account))
  }

  #checkGroup(group: string | undefined): void {
    if (group !== undefined && !this.#groups.includes(group)) {
      throw invalid(`"group" must be one of ${this.#groups.join(', ')}.`, 'group')
    }
  }
}

function view({ hash: _hash, version: _version, ...record }: KeyRecord): KeyView {
  return record
}
