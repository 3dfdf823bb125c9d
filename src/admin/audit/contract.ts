import type { Page, PageRequest } from '../../records/page.ts'

/** A change through administration, linked to the one before. */
export interface AuditEntry {
  /** 1 for the first entry, and one more for each further one. */
  readonly number: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What was done, such as `keys.update`. */
  readonly action: string
  /** The account that it concerns. */
  readonly account?: string
  /** Who did it: the name of `admin.by`, or the `name` that `authorize` of the admin API returned. Absent for the host's own code. */
  readonly actor?: string
  /** JSON text with everything about the change; empty once the person that it concerns was erased. */
  readonly content: string
  /** SHA-256 of the content as it was written, in hex. */
  readonly digest: string
  /** SHA-256 of this entry and of the hash of the entry before, in hex. */
  readonly hash: string
}

/** Selects entries. An absent field matches every entry. */
export interface AuditFilter {
  /** The account that entries concern. */
  readonly account?: string
  /** Who did it. */
  readonly actor?: string
  /** What was done. */
  readonly action?: string
  /** Entries at or after this time. Milliseconds since the epoch. */
  readonly from?: number
  /** Entries before this time. Milliseconds since the epoch. */
  readonly to?: number
}

/**
 * Where the audit log is kept. Entries are only ever appended; `erase` empties the content of some, and nothing else changes one.
 * The gateway limits each call in time. The entry is written after the change: if that fails, the operation rejects with a 503,
 * and the change stays.
 */
export interface AuditStore {
  /**
   * Required. Appends an entry, whose number is one more than that of the last one. Returns false if there is one with this
   * number: of several concurrent calls exactly one returns true. Must be durable before it resolves.
   */
  append(entry: AuditEntry): Promise<boolean> | boolean
  /** Required. The entry with the highest number; undefined if there is none. Must observe every `append` that resolved before. */
  last(): Promise<AuditEntry | undefined> | AuditEntry | undefined
  /** Required. The entries that match, newest first. */
  list(question: AuditFilter & PageRequest): Promise<Page<AuditEntry>> | Page<AuditEntry>
  /** Required. At most `limit` entries whose numbers follow `after`, in ascending order. */
  read(after: number, limit: number): Promise<readonly AuditEntry[]> | readonly AuditEntry[]
  /**
   * Required. In the entries that concern an account or were made by it: replaces its name by `as`, and empties the content. In
   * steps: returns whether to call it again.
   */
  erase(account: string, as: string): Promise<boolean> | boolean
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
