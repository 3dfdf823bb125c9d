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
}
