/** Where charges and payments go besides the ledger, such as an invoicing service. */
export interface BillingExport {
  /**
   * Required. Gets the entries of one account, oldest first, at most 1,000 at once, one batch of an account after the other. If it
   * throws or rejects, the same batch comes again, and also after a crash: `id` is the same then. Times out after `timeoutMs`.
   */
  readonly send: (batch: ExportBatch) => Promise<void> | void
  /** Required. Only entries from this time on are exported. Milliseconds since the epoch. */
  readonly since: number
  /** Tells several exports of one ledger apart; with a new name, everything since `since` is exported again. Default `export`. */
  readonly name?: string
  /** Milliseconds that `send` may take. Default 10,000. */
  readonly timeoutMs?: number
}

/** What a process knows of its export: other processes send, too. */
export interface ExportState {
  /** Accounts with a batch that was refused and comes again. */
  readonly waiting: number
  /** When a batch was sent last. Milliseconds since the epoch. Absent: none since the start. */
  readonly sentAt?: number
  /** When a batch was refused last, or took too long. Milliseconds since the epoch. Absent: none since the start. */
  readonly refusedAt?: number
}

/** Entries of one account. */
export interface ExportBatch {
  /** The same for each delivery of these entries, and for no others: 43 letters, digits, `-` and `_`. */
  readonly id: string
  /** The account. */
  readonly account: string
  /** Oldest first. Never empty. */
  readonly entries: readonly ExportedEntry[]
}

/** A charge or a payment. */
export interface ExportedEntry {
  /** Ascending in the order of booking, but not without gaps. */
  readonly number: number
  /** `settle`: a charge. `credit`: a payment, a correction or an expiry. */
  readonly kind: 'settle' | 'credit'
  /** The id of the request that was charged, as in its usage record; or the reference of the payment. */
  readonly reference: string
  /** Change of the account, negative for a charge. A decimal string in `billing.currency`. */
  readonly amount: string
  /** Milliseconds since the epoch. */
  readonly at: number
}
