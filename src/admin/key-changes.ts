import type { KeyRecord, KeyStore } from '../callers/contract.ts'
import { keyNames } from '../callers/key-fields.ts'
import { GatewayError } from '../errors.ts'
import { ignore } from '../http/ignore.ts'
import { picked } from '../records/picked.ts'
import { requireId, requireMethod } from './check.ts'
import type { AdminServices } from './services.ts'

/** A key record without its hash, to show to the key's owner. */
export type KeyView = Omit<KeyRecord, 'hash' | 'version'>

/** Writes keys into their store, and changes of them into the audit log. */
export class KeyChanges {
  readonly #services: AdminServices

  constructor(services: AdminServices) {
    this.#services = services
  }

  /** Adds a new key. */
  create(record: KeyRecord): Promise<void> {
    return this.#add(record, async () => {})
  }

  /** Adds a new key in the place of an old one, which is valid until `endsAt`. Returns the old one. */
  async replace(old: KeyRecord, record: KeyRecord, endsAt: number): Promise<KeyView> {
    const { account, id } = old
    return this.#add(record, async () => {
      try {
        return await this.change('keys.rotate', account, id, (current) => ({
          ...current,
          expiresAt: Math.min(current.expiresAt ?? Infinity, endsAt),
        }))
      } catch (cause) {
        const restore = (current: KeyRecord) => {
          const { expiresAt: _, ...kept } = current
          return { ...kept, ...picked(old, ['expiresAt']) }
        }
        if (isUnsure(cause)) await this.#undo(account, id, restore)
        throw cause
      }
    })
  }

  /** Changes a key. Throws a 404 if the account has no such key, and a 409 for one of the options. */
  async change(
    action: string,
    account: string,
    id: string,
    change: (record: KeyRecord) => KeyRecord,
  ): Promise<KeyView> {
    const { before, after } = await this.#write(account, id, change)
    // What is erased is not written down again.
    await this.#note(action, action === 'keys.erase' ? undefined : before, after)
    return keyView(after)
  }

  /** Throws a 409 for a key of the options: a change of its record would be lost, and the key would stay valid. */
  async stored(account: string, id: string): Promise<KeyRecord> {
    const record = await keyOf(this.#services, account, id, 'id')
    if (record.source !== 'options') return record
    const message =
      'This key is part of the options of the gateway. Change or remove it there ("keys" of createGateway).'
    throw new GatewayError('conflict', { param: 'id', message, shouldRetry: false })
  }

  /** Inserts a key, logs that in the audit log, and calls `follow`. Revokes the key if one of these fails: its owner never receives it. */
  async #add<T>(record: KeyRecord, follow: () => Promise<T>): Promise<T> {
    try {
      const insert = (store: KeyStore) => requireMethod(store, 'insert', 'keys').insert(record)
      if (!(await this.#services.keys.ask(insert))) throw new GatewayError('conflict')
      await this.#note('keys.create', undefined, record)
      return await follow()
    } catch (cause) {
      const revoke = (current: KeyRecord) => ({ ...current, revokedAt: this.#services.now() })
      const isUndone = await this.#undo(record.account, record.id, revoke)
      if (!isUndone || !isUnsure(cause)) throw cause
      const message = 'The new key could not be stored with all that belongs to it, and was revoked. Try again.'
      throw new GatewayError('service_unavailable', { message, cause, fault: 'gateway_store' })
    }
  }

  /** Returns whether the store has made the change. Goes on without the audit log, which may be what has failed. */
  async #undo(account: string, id: string, change: (record: KeyRecord) => KeyRecord): Promise<boolean> {
    try {
      const { before, after } = await this.#write(account, id, change)
      await this.#note('keys.undo', before, after).catch(ignore)
      return true
    } catch {
      return false
    }
  }

  async #write(
    account: string,
    id: string,
    change: (record: KeyRecord) => KeyRecord,
  ): Promise<{ readonly before: KeyRecord; readonly after: KeyRecord }> {
    for (let tries = 0; tries < 5; tries++) {
      const before = await this.stored(account, id)
      const after = { ...change(before), version: before.version + 1 }
      if (await this.#services.keys.ask((store) => requireMethod(store, 'update', 'keys').update(after))) {
        this.#services.forget(after.hash)
        return { before, after }
      }
    }
    throw new GatewayError('conflict', { message: 'The key was changed concurrently. Try again.' })
  }

  #note(action: string, before: KeyRecord | undefined, after: KeyRecord): Promise<void> {
    const { account, id: target } = after
    return this.#services.note({ action, account, target, before: before && keyView(before), after: keyView(after) })
  }
}

/** Whether a part of what was to be done may have been done. */
function isUnsure(error: unknown): boolean {
  return GatewayError.is(error) && error.code === 'service_unavailable'
}

/** The keys of an account. Throws a 400 for an invalid account, and if the store does not list keys. */
export async function keysOf({ keys }: Pick<AdminServices, 'keys'>, account: string): Promise<KeyRecord[]> {
  requireId(account, 'account')
  return keys.ask((store) => requireMethod(store, 'list', 'keys').list(account))
}

/** A key of an account. Throws a 404 without one. `param`: the field with its id. */
export async function keyOf(
  services: Pick<AdminServices, 'keys'>,
  account: string,
  id: string,
  param: string,
): Promise<KeyRecord> {
  const found = (await keysOf(services, account)).find((each) => each.id === id)
  if (found !== undefined) return found
  throw new GatewayError('not_found', { param, message: 'No such key.' })
}

const shown = [
  'id',
  'prefix',
  'account',
  'group',
  ...keyNames,
  'createdAt',
  'continues',
  'revokedAt',
  'source',
] as const satisfies readonly (keyof KeyView)[]

/** What is shown of a key. */
export function keyView(record: KeyRecord): KeyView {
  return picked(record, shown)
}
