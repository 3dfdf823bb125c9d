/** How repetitions of a request are answered. */

export interface IdempotencyOptions {
  /** Milliseconds for which an answer is given again. Default 86,400,000: a day. */
  readonly keepMs?: number
  /** Bytes of an answer that is kept at most; a larger one is given once. Default 4 MiB. */
  readonly maxBytes?: number
  /** Milliseconds after which the keys of a process that died are free again. Default 30,000. */
  readonly leaseMs?: number
}
