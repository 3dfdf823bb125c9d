/** Who makes changes. */
export interface Actor {
  /** A name that tells people apart, such as an e-mail address: 1 to 128 visible ASCII characters. */
  readonly name?: string
  /** The IP address that the request came from. */
  readonly address?: string
}

/** A change, as the operations of administration report it. */
export interface Change {
  /** Such as `keys.update`. */
  readonly action: string
  /** The account that it concerns. */
  readonly account?: string
  /** What was changed, such as the id of a key. */
  readonly target?: string
  /** The record before; absent if there was none. */
  readonly before?: unknown
  /** The record afterwards; absent if there is none. */
  readonly after?: unknown
}

/** Writes a change into the audit log. */
export type Note = (change: Change) => Promise<void>
