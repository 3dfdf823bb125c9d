import { mapPage, type Page, type PageRequest } from '../../records/page.ts'
import * as z from 'zod'
import { objectIn } from '../../records/unreadable.ts'
import { strict } from '../../records/rules.ts'
import { requireValid } from '../check.ts'
import { auditFilter, page } from '../questions.ts'
import type { AdminServices } from '../services.ts'
import type { AuditLog } from './audit-log.ts'
import { faultOf } from './chain.ts'
import type { Actor, Change } from './change.ts'
import type { AuditEntry, AuditFilter } from './contract.ts'

/** An entry of the audit log. */
export interface AuditView extends Change, Pick<AuditEntry, 'number' | 'at' | 'actor'>, Pick<Actor, 'address'> {
  /** Whether the details are gone, because the account was erased. The names that are left are pseudonyms. */
  readonly erased?: boolean
  /** Whether the details cannot be read, because the entry was damaged. */
  readonly unreadable?: boolean
}

/** Selects entries and a page of them. */
export type AuditQuestion = AuditFilter & PageRequest

/** A place in the audit log, to be kept elsewhere. */
export interface AuditHead {
  /** The number of the newest entry; 0 without any. */
  readonly number: number
  /** Its hash. */
  readonly hash: string
}

/** The result of `auditLog.verify`. */
export interface AuditVerification {
  /** Whether no entry was changed, removed or inserted. */
  readonly isIntact: boolean
  /** Number of entries that were read. */
  readonly entries: number
  /** What is wrong first. Absent if nothing is. */
  readonly fault?: string
  /** The newest entry. Keep it where the database's administrators cannot write, and pass it to a later `verify`. */
  readonly head: AuditHead
}

const listRule = strict({ ...auditFilter, ...page })
const headRule = strict({ number: z.int().min(0), hash: z.string() }).optional()

/** Who changed what through administration. Methods throw a 503 if the store fails. */
export class AuditAdmin {
  readonly #log: AuditLog

  /** @internal */
  constructor({ auditLog }: AdminServices) {
    this.#log = auditLog
  }

  /** The changes that match, newest first. */
  async list(question: AuditQuestion = {}): Promise<Page<AuditView>> {
    requireValid(listRule, question)
    return mapPage(await this.#log.guard.call(() => this.#log.store.list(question)), viewOf)
  }

  /**
   * Reads the whole log and checks that no entry was changed, removed or inserted. Entries that were removed at the end are only
   * noticed with the `head` of an earlier verification.
   */
  async verify({ head }: { readonly head?: AuditHead } = {}): Promise<AuditVerification> {
    requireValid(headRule, head, 'head')
    let before: AuditEntry | undefined
    let entries = 0
    let fault: string | undefined
    for await (const entry of this.#log.entries()) {
      entries++
      fault ??= faultOf(before, entry)
      if (entry.number === head?.number && entry.hash !== head.hash) fault ??= `entry ${entry.number} was replaced`
      before = entry
    }
    const { number = 0, hash = '' } = before ?? {}
    if (head !== undefined && number < head.number) fault ??= `entries after ${number} are missing`
    return { isIntact: fault === undefined, entries, ...(fault !== undefined && { fault }), head: { number, hash } }
  }
}

function viewOf({ number, at, action, account, actor, content }: AuditEntry): AuditView {
  const names = { ...(account !== undefined && { account }), ...(actor !== undefined && { actor }) }
  if (content === '') return { number, at, action, ...names, erased: true }
  const { salt: _, ...about } = objectIn(content) ?? { ...names, unreadable: true }
  return { number, at, action, ...about }
}
