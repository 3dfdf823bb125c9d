import type { ContentCounts } from '../observe/content/content-log.ts'
import type { LoggedContent, Replayed } from '../observe/content/content.ts'
import { recordIdsOf } from '../observe/usage/record-ids.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Page, PageRequest } from '../records/page.ts'
import type { Resealed } from '../records/resealing.ts'
import { strict } from '../records/rules.ts'
import { ofAny, requireId, requireScoped, requireValid } from './check.ts'
import { page, text } from './questions.ts'
import type { AdminServices } from './services.ts'
import type { UsageScope } from './usage-scope.ts'

/** Which model is asked. */
export interface ReplayQuestion {
  /** Its public name. */
  readonly model: string
}

/** A request that was asked twice. */
export interface Replay {
  /** What was asked, and answered at first. */
  readonly content: LoggedContent
  /** What the other model answers. */
  readonly replay: Replayed
}

const threadRule = strict({ session: text, ...page })

/**
 * What was asked and answered, of the calls that were kept. Each reading is an entry of the audit log: nothing is returned if it
 * cannot be written. Methods throw a 503 if a store fails.
 */
export class ContentAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /**
   * The content of the request to which an `x-request-id` leads. Undefined if nothing is kept of it, its key was destroyed, or it is
   * not in the scope. `scope`: default all accounts.
   */
  async get(id: string, scope: UsageScope = { all: true }): Promise<LoggedContent | undefined> {
    requireId(id, 'id')
    requireScoped(strict(ofAny), scope, 'content')
    for (const each of recordIdsOf(id)) {
      const found = await this.#parts.reader.get(each)
      if (found === undefined) continue
      if (scope.all !== true && found.account !== scope.account) return undefined
      await this.#services.note({ action: 'content.read', account: found.account, target: found.id })
      return found
    }
    return undefined
  }

  /**
   * The content of the requests of a session, oldest first. A page may have fewer items than its limit: at most 50, and those whose
   * key was destroyed are left out.
   */
  async thread(account: string, session: string, request: PageRequest = {}): Promise<Page<LoggedContent>> {
    requireId(account, 'account')
    requireValid(threadRule, { session, ...request })
    const found = await this.#parts.reader.list(account, session, request)
    await this.#services.note({ action: 'content.read', account, target: session })
    return found
  }

  /** `gateway.admin.replay`, within a scope: default all accounts. */
  async replay(id: string, { model }: ReplayQuestion, scope: UsageScope = { all: true }): Promise<Replay> {
    requireValid(text, model, 'model')
    const content = await this.get(id, scope)
    if (content === undefined) throw new GatewayError('not_found', { param: 'id', message: 'No such content.' })
    const replay = await this.#services.replay(content, model)
    await this.#services.note({
      action: 'content.replay',
      account: content.account,
      target: content.id,
      after: { model },
    })
    return { content, replay }
  }

  /** What was written and dropped by this process since its start. */
  counts(): ContentCounts {
    return this.#parts.log.counts
  }

  /**
   * Seals all keys with the first of `content.encryptionKey`. Afterwards the older ones can be removed from the options, unless
   * `unreadable` says otherwise. What was erased before can then not be decrypted even with a copy of the keys.
   */
  async rotate(): Promise<Resealed> {
    const done = await this.#parts.reader.rotate()
    await this.#services.note({ action: 'content.rotate', after: done })
    return done
  }

  get #parts(): NonNullable<AdminServices['content']> {
    const { content } = this.#services
    if (content === undefined) throw invalid('Content needs the option "content".')
    return content
  }
}
