/** How responses to requests with an `Idempotency-Key` are replayed. */
export interface IdempotencyOptions {
  /** Milliseconds for which a response can be replayed. Default 86,400,000 (a day). */
  readonly keepMs?: number
  /** Maximum bytes of a stored response; a larger one is sent but not stored. Default 4 MiB. */
  readonly maxBytes?: number
  /** Milliseconds after which keys held by a process that died become free. Default 30,000. */
  readonly leaseMs?: number
}
