import type { KeyQuestion, KeyRecord, KeyStore } from '../callers/contract.ts'
import type { Page } from '../money/ledger/contract.ts'
import { mintKey } from '../callers/key.ts'
import {
  chosenOf,
  keyChangeShape,
  keyFieldsWith,
  keyNames,
  newKeyShape,
  type KeyProperties,
} from '../callers/key-fields.ts'
import { GatewayError, invalid } from '../errors.ts'
import * as z from 'zod'
import { strict } from '../records/rules.ts'
import { view as accountView } from './account-view.ts'
import { requireMethod, requireValid } from './check.ts'
import { id, keySearch, lasting, overlapMs as overlap, page } from './questions.ts'
import { requireGroup } from './current-groups.ts'
import { KeyChanges, keysOf, keyView, type KeyView } from './key-changes.ts'
import { mapPage } from '../records/page.ts'
import type { AdminServices } from './services.ts'

/** Properties of a new key. */
export interface KeyRequest extends KeyProperties {
  /** The account that pays for requests with the key. */
  readonly account: string
  /** Opens the account if the ledger has none of this id. Default false: 404. Without billing, accounts need not be opened. */
  readonly open?: boolean
  /** One of the gateway's groups. */
  readonly group: string
  /** Milliseconds until the key expires. Not with `expiresAt`. */
  readonly lifeMs?: number
}

/** Selects keys of all accounts. An absent field matches every key. */
export type KeySearch = Omit<KeyQuestion, 'now'>

/** How many keys of an account are in use. */
export interface KeysInUse {
  /** Number of keys that are neither revoked nor expired. */
  readonly valid: number
  /** Number of keys that were created in the last hour, also those that are no longer valid. */
  readonly lastHour: number
  /** The groups of the valid keys, each once. */
  readonly groups: readonly string[]
}

/** Options of `keys.rotate`. */
export interface RotationOptions {
  /** Milliseconds for which the old key stays valid. Default 86,400,000: one day. */
  readonly overlapMs?: number
}

/** A change of a key. Null removes a field. Changed caps count on what was used, if their name and period stay the same. */
export type KeyChange = {
  readonly [Name in keyof KeyProperties]?: Exclude<KeyProperties[Name], undefined> | null
} & {
  /** The new group, one of those of the gateway. */
  readonly group?: string
}

const rules = {
  key: strict({
    account: id,
    open: z.boolean().optional(),
    group: z.string(),
    ...newKeyShape,
    lifeMs: lasting(1).optional(),
  }),
  change: strict({ group: z.string().optional(), ...keyChangeShape }),
  search: strict({ ...page, ...keySearch }),
  rotation: strict({ overlapMs: overlap }),
}

/** Creates, lists, changes and revokes keys. A key is shown once and afterwards identified by its first characters. */
export class KeyAdmin {
  readonly #services: AdminServices
  readonly #changes: KeyChanges

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
    this.#changes = new KeyChanges(services)
  }

  /**
   * Creates a key. The returned `key` cannot be read again. Throws a 400 for invalid arguments, and a 404 if there is no such
   * account.
   */
  async create(request: KeyRequest): Promise<{ readonly key: string; readonly record: KeyView }> {
    requireValid(rules.key, request)
    await requireGroup(this.#services, request.group)
    this.#services.caps.requireUsable(request.caps, request.group)
    const now = this.#services.now()
    const { lifeMs, open = false, ...rest } = request
    if (lifeMs !== undefined && rest.expiresAt !== undefined) {
      throw invalid('Only one of "lifeMs" and "expiresAt" can be set.', 'lifeMs')
    }
    if (rest.expiresAt !== undefined && rest.expiresAt <= now) {
      throw invalid('"expiresAt" must be in the future', 'expiresAt')
    }
    const { key, record } = mintKey({ ...rest, ...(lifeMs !== undefined && { expiresAt: now + lifeMs }) }, now)
    await this.#requireAccount(rest.account, open)
    await this.#changes.create(record)
    return { key, record: keyView(record) }
  }

  /** The keys of an account, newest first, including revoked and expired ones. */
  async list(account: string): Promise<KeyView[]> {
    return (await keysOf(this.#services, account)).map(keyView)
  }

  /** What a page that lets accounts create keys has to limit. */
  async inUse(account: string): Promise<KeysInUse> {
    const records = await keysOf(this.#services, account)
    const now = this.#services.now()
    const valid = records.filter(({ revokedAt, expiresAt = Infinity }) => revokedAt === undefined && expiresAt > now)
    const lastHour = records.filter(({ createdAt }) => createdAt > now - 3_600_000).length
    return { valid: valid.length, lastHour, groups: [...new Set(valid.map(({ group }) => group))] }
  }

  /** The keys of all accounts that a question selects, newest first, including revoked and expired ones. */
  async search(question: KeySearch = {}): Promise<Page<KeyView>> {
    requireValid(rules.search, question)
    const asked = { ...question, now: this.#services.now() }
    const search = (store: KeyStore) => requireMethod(store, 'search', 'the keys of all accounts').search(asked)
    return mapPage(await this.#services.keys.page(search), keyView)
  }

  /**
   * Replaces a key by a new one with the same properties. The old one is valid for another `overlapMs` milliseconds, unless
   * it expires earlier. The limits and the usage of both are counted together, under the id of the first. Throws a 404 if
   * the account has no such key, and a 409 if it is no longer valid or is one of the options.
   */
  async rotate(
    account: string,
    id: string,
    { overlapMs = 86_400_000 }: RotationOptions = {},
  ): Promise<{ readonly key: string; readonly record: KeyView; readonly replaced: KeyView }> {
    requireValid(rules.rotation, { overlapMs })
    const now = this.#services.now()
    const old = await this.#changes.stored(account, id)
    const { expiresAt = Infinity, revokedAt, continues = id } = old
    if (revokedAt !== undefined || expiresAt <= now) {
      throw new GatewayError('conflict', { param: 'id', message: 'The key is revoked or expired. Create a new one.' })
    }
    const minted = mintKey({ account, group: old.group, ...chosenOf(old) }, now)
    const record = { ...minted.record, continues }
    const replaced = await this.#changes.replace(old, record, now + overlapMs)
    return { key: minted.key, record: keyView(record), replaced }
  }

  /** Changes a key. Throws a 404 if the account has no such key, and a 409 for one of the options. */
  async update(account: string, id: string, change: KeyChange): Promise<KeyView> {
    requireValid(rules.change, change)
    await requireGroup(this.#services, change.group)
    return this.#changes.change('keys.update', account, id, (record) => {
      this.#services.caps.requireUsable(
        change.caps === undefined ? record.caps : change.caps,
        change.group ?? record.group,
      )
      const changed: Record<string, unknown> = { ...record }
      for (const name of ['group', ...keyNames] as const) {
        if (change[name] === null) delete changed[name]
        else if (change[name] !== undefined) changed[name] = change[name]
      }
      return changed as unknown as KeyRecord
    })
  }

  /**
   * Revokes a key permanently. Rejected at once by this process, and by others within a second if the store reports
   * changes, otherwise after `keyCache.ageMs`. Throws a 404 if the account has no such key, and a 409 for one of the options.
   */
  async revoke(account: string, id: string): Promise<KeyView> {
    const now = this.#services.now()
    return this.#changes.change('keys.revoke', account, id, (record) => ({
      ...record,
      revokedAt: record.revokedAt ?? now,
    }))
  }

  /**
   * Revokes the keys of an account, or of one user of it, and removes what refers to a person. Returns how many, and how many
   * are left because they are part of the options. Used by `gateway.admin.erase`.
   */
  async eraseAll(account: string, user?: string): Promise<{ readonly revoked: number; readonly left: number }> {
    const { store } = this.#services.keys
    if (store?.list === undefined || store.update === undefined) return { revoked: 0, left: 0 }
    const records = (await keysOf(this.#services, account)).filter(
      (record) => user === undefined || record.user === user,
    )
    const stored = records.filter(({ source }) => source !== 'options')
    const now = this.#services.now()
    for (const { id } of stored) {
      await this.#changes.change('keys.erase', account, id, (record) => {
        const rest = Object.entries(record).filter(([name]) => !personal.has(name))
        return { ...(Object.fromEntries(rest) as unknown as KeyRecord), revokedAt: record.revokedAt ?? now }
      })
    }
    return { revoked: stored.length, left: records.length - stored.length }
  }

  /** A key of an account that the ledger does not know would be rejected with every request. */
  async #requireAccount(id: string, open: boolean): Promise<void> {
    const { ledger } = this.#services
    if (ledger.store === undefined || (await ledger.ask((store) => store.account(id))) !== undefined) return
    if (open) {
      const after = accountView(await ledger.ask((store) => store.open({ id })))
      return this.#services.note({ action: 'accounts.open', account: id, after })
    }
    const message = `There is no account "${id}". Check its id, open it first, or set "open" to true to open it with the key.`
    throw new GatewayError('not_found', { param: 'account', message })
  }
}

const personal: ReadonlySet<string> = new Set(keyFieldsWith('personal'))
