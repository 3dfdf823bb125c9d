/** Reading what was kept, and deleting it. */
import type { Guard } from '../../records/guard.ts'
import type { Page, PageRequest } from '../../records/page.ts'
import { resealAll, type Resealed } from '../../records/resealing.ts'
import { unreadable } from '../../records/unreadable.ts'
import type { ContentCipher } from './cipher.ts'
import type { LoggedContent } from './content.ts'
import type { ContentKey, ContentKeyStore, ContentRecord, ContentStore } from './contract.ts'

/** What `ContentReader` needs. */
export interface ContentReaderSettings {
  readonly store: ContentStore
  readonly keyStore: ContentKeyStore
  readonly cipher: ContentCipher
  readonly guard: Guard
  readonly keyGuard: Guard
  readonly failed: (id: string, error: unknown) => void
}

/** Keys that are read at once. */
const batch = 500
/** Contents that are read at once: each may have megabytes. */
const mostContents = 50

export class ContentReader {
  readonly #settings: ContentReaderSettings

  constructor(settings: ContentReaderSettings) {
    this.#settings = settings
  }

  /** The content of a request; undefined if nothing is kept of it, or its key was destroyed. Throws if it cannot be read. */
  async get(id: string): Promise<LoggedContent | undefined> {
    const { store, guard } = this.#settings
    const record = await guard.call(() => store.get(id))
    if (record === undefined) return undefined
    return (await this.#opened([record], rethrow))[0]
  }

  /** The content of an account, or of one of its sessions, oldest first. A page may have fewer items than its limit: what cannot be read is reported. */
  async list(account: string, session: string | undefined, page: PageRequest): Promise<Page<LoggedContent>> {
    const { store, guard, failed } = this.#settings
    const limit = Math.min(page.limit ?? mostContents, mostContents)
    const question = { ...page, limit, account, ...(session !== undefined && { session }) }
    const { items, next } = await guard.call(() => store.list(question))
    return { items: await this.#opened(items, failed), ...(next !== undefined && { next }) }
  }

  /** Destroys the keys of an account, or of one of its users, and deletes the content. */
  async erase(account: string, user?: string): Promise<void> {
    const { store, keyStore, guard, keyGuard } = this.#settings
    while (await keyGuard.call(() => keyStore.erase(account, user))) await new Promise(setImmediate)
    while (await guard.call(() => store.erase(account, user))) await new Promise(setImmediate)
  }

  /** Seals all keys with the first secret. */
  rotate(): Promise<Resealed> {
    const { keyStore, keyGuard, cipher } = this.#settings
    return resealAll<ContentKey>(
      (last) => keyGuard.call(() => keyStore.page(last?.id, batch)),
      (key) => cipher.renewed(key),
      (key, before) => keyGuard.call(() => keyStore.reseal(key, before)),
    )
  }

  async #opened(records: readonly ContentRecord[], failed: ContentReaderSettings['failed']): Promise<LoggedContent[]> {
    if (records.length === 0) return []
    const { keyStore, keyGuard, cipher } = this.#settings
    const ids = [...new Set(records.map(({ key }) => key))]
    const keys = new Map((await keyGuard.call(() => keyStore.find(ids))).map((key) => [key.id, key]))
    const contents = records.map(async (record) => {
      try {
        return await cipher.content(record, keys.get(record.key))
      } catch (cause) {
        failed(record.id, unreadable(`content of ${record.id}`, cause))
      }
    })
    return (await Promise.all(contents)).filter((content) => content !== undefined)
  }
}

function rethrow(_: string, error: unknown): never {
  throw error
}
