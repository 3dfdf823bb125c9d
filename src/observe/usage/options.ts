/** How usage is recorded. */
export interface UsageOptions {
  /** Whether usage is recorded. Default: true if `storage` or `billing` is set. */
  readonly record?: boolean
  /** Maximum number of records that wait for a slow store. Default 10,000. */
  readonly queue?: number
  /**
   * What happens when the queue is full. `drop` (the default) drops further records and counts them; `refuse` rejects
   * further requests with 503 until the queue has capacity, so that no record is lost.
   */
  readonly whenFull?: 'drop' | 'refuse'
  /**
   * Where requests name their user: in the field `user` (or `safety_identifier`) of the body, in a header, or not at all. A
   * user that `authenticate` or the key names takes precedence. In a form, only a field before the files counts. Default
   * `field`.
   */
  readonly user?:
    | 'field'
    | 'none'
    | {
        /** The name of the header, in lower case. */
        readonly header: string
      }
  /**
   * Headers with the id of a session, in lower case; the first one that a request has counts. Default
   * `x-claude-code-session-id`, `session-id`, `session_id` and `x-session-id`, as Claude Code, Codex and opencode send them.
   */
  readonly sessionHeaders?: readonly string[]
  /**
   * Maximum number of different users that the requests of one account may name; all further ones are recorded as
   * `(other)`. Users that `authenticate` or a key names are not counted. Default 1,000.
   */
  readonly maxUsers?: number
  /**
   * Whether records keep the lines of their charge, which invoices by price line are made from, at about a hundred bytes a
   * request. Default false.
   */
  readonly lines?: boolean
  /**
   * Milliseconds for which records are kept, at least an hour. Older ones are deleted in the background; sums still count
   * them. Default: for ever.
   */
  readonly keepMs?: number
  /**
   * Which refused requests are recorded: those of authenticated callers that the gateway rejected before any attempt, such
   * as for a limit, a missing balance or an invalid body. Each process records at most so many, because a client can cause
   * any number of them. Sums never count them. False: none.
   */
  readonly refused?: false | RefusedOptions
}

/** How many refused requests are recorded, and for how long. */
export interface RefusedOptions {
  /** Maximum number of records of one account in a minute. Default 10. */
  readonly perAccount?: number
  /** Maximum number of records of all accounts in a minute. Default 100. */
  readonly perMinute?: number
  /** Milliseconds for which they are kept, at least an hour, and at most `usage.keepMs`. Default 604,800,000: seven days. */
  readonly keepMs?: number
}
