/** Keys: made, shown once, listed by their first characters, changed, revoked. */
import type { KeyRecord, KeyStore } from '../auth/contract.ts'
import { mintKey } from '../auth/key.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Rate } from '../limits/rate.ts'
import type { Guard } from '../store-access/guard.ts'
import { offering, requireId } from './accounts.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

/** A key as its owner may see it: without its hash. */
export type KeyView = Omit<KeyRecord, 'hash' | 'version'>

export interface KeyRequest {
  readonly account: string
  /** One of the gateway's groups. */
  readonly group: string
  readonly name?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  /** Limits of this key alone. */
  readonly rate?: Rate
}

/** What may be changed of a key; null takes it away. */
export interface KeyChange {
  readonly group?: string
  readonly name?: string | null
  readonly expiresAt?: number | null
  readonly rate?: Rate | null
}

const changeable = ['group', 'name', 'expiresAt', 'rate'] as const satisfies readonly (keyof KeyChange)[]

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

  /** A new key. `key` is shown here and never again. */
  async create(request: KeyRequest): Promise<{ readonly key: string; readonly record: KeyView }> {
    requireValid(rules.key, request)
    this.#checkGroup(request.group)
    const now = this.#now()
    if (request.expiresAt !== undefined && request.expiresAt <= now) {
      throw invalid('"expiresAt": the time has passed already', 'expiresAt')
    }
    const { key, record } = mintKey(request, now)
    const store = offering(this.#store, 'insert', 'keys')
    if (!(await this.#guard.call(() => store.insert(record)))) throw new GatewayError('conflict')
    return { key, record: view(record) }
  }

  /** The keys of an account, newest first, revoked and expired ones included. */
  async list(account: string): Promise<KeyView[]> {
    return (await this.#records(account)).map(view)
  }

  /** Throws 404 for a key that the account does not have. */
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

  /** From now on the key is refused: at once here, elsewhere within a second or the age of the caches. Not to be undone. */
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
    throw new GatewayError('conflict', { message: 'The key is being changed by others. Try again.' })
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
