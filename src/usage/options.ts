/** How usage is recorded. */

export interface UsageOptions {
  /** Default: true with `storage` or `billing`. */
  readonly record?: boolean
  /** Records that wait for a slow store at most. Default 10,000. */
  readonly queue?: number
  /**
   * When as many wait: `drop` (the default) further records and count them, or `refuse` further calls with 503 until
   * there is room, so that no record is lost.
   */
  readonly whenFull?: 'drop' | 'refuse'
}
