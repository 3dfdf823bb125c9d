/** What happens to a request whose client disconnects before the end of the response. */
export interface DisconnectPolicy {
  /**
   * `abort`: aborts the vendor's response at once. `drain`: reads it to its end, but at most for `drainMs`, so that the
   * vendor's own token counts are known. `auto` (the default): drains what cannot be estimated, which are responses of
   * models that reason unseen, and prompts with files by reference, and aborts all others.
   */
  readonly vendor?: 'auto' | 'abort' | 'drain'
  /**
   * What the client pays. `delivered` (the default): the tokens reported by the vendor, if it has reported any; otherwise
   * an estimate of the prompt and of the response so far. `reported`: only what the vendor has reported. `none`: nothing.
   */
  readonly charge?: 'delivered' | 'reported' | 'none'
  /**
   * What the client pays if it disconnects before the vendor has responded. `prompt` (the default): an estimate of the
   * prompt, and the requested images, once the whole request was sent to the vendor. `none`: nothing.
   */
  readonly unanswered?: 'prompt' | 'none'
  /** Maximum time in milliseconds to read a response after its client has disconnected. Default 60,000. */
  readonly drainMs?: number
}

export const disconnectDefaults: Required<DisconnectPolicy> = {
  vendor: 'auto',
  charge: 'delivered',
  unanswered: 'prompt',
  drainMs: 60_000,
}
