/** What becomes of a call whose client leaves before the end: rules differ, so this is an option and no constant. */

export interface DisconnectPolicy {
  /**
   * What the vendor is told. `abort` (the default): to stop, at once. `drain`: nothing; the answer is read to its end,
   * so that the vendor's own count is known, but no longer than `drainMs`.
   */
  readonly vendor?: 'abort' | 'drain'
  /**
   * What the client pays. `delivered` (the default): the tokens reported if the vendor has told them by then, else the
   * question and as much of the answer as was produced, estimated. `reported`: what the vendor has told, else nothing.
   * `none`: nothing.
   */
  readonly charge?: 'delivered' | 'reported' | 'none'
  /**
   * What a client pays that leaves before anything was answered. `prompt` (the default): the question, estimated, and the
   * images it asked for, once the vendor has been sent the whole request. `none`: nothing.
   */
  readonly unanswered?: 'prompt' | 'none'
  /** Milliseconds for which an answer nobody reads is read on. Default 60,000. */
  readonly drainMs?: number
}

export const disconnectDefaults: Required<DisconnectPolicy> = {
  vendor: 'abort',
  charge: 'delivered',
  unanswered: 'prompt',
  drainMs: 60_000,
}
