/** The result of one query for changed keys, as `pollForChanges` expects it from a store. */
export interface KeyChanges {
  /** The time of this query by the store's clock. It is passed to the next query. */
  readonly now: string
  /**
   * The changes since the time passed to the query, in any order. Changes that the previous query returned may be repeated:
   * they are not passed on again.
   */
  readonly changes: readonly {
    /** The hash of the changed key. */
    readonly hash: string
    /** Distinguishes this change of the key from its other changes, such as the time of the change or its version. */
    readonly at: string
  }[]
}

/** Milliseconds between a query and the next one. */
const intervalMs = 400

/**
 * `KeyStore.watch` for a store that cannot push changes: queries it every 400 ms, and calls `changed` with the hash of each
 * changed key. `query` gets the time of the last successful query, at first `undefined`; if it fails, the next one gets the
 * same time. Returns a function that stops polling.
 *
 * @example watch: (changed) => pollForChanges(changed, (since) => changesSince(since))
 */
export function pollForChanges(
  changed: (hash: string) => void,
  query: (since: string | undefined) => Promise<KeyChanges> | KeyChanges,
): () => void {
  let since: string | undefined
  let reported = new Set<string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  const poll = async () => {
    try {
      const { now, changes } = await query(since)
      if (stopped) return
      const names = new Set(changes.map(({ hash, at }) => `${hash} ${at}`))
      for (const { hash, at } of changes) if (!reported.has(`${hash} ${at}`)) changed(hash)
      reported = names
      since = now
    } catch {
      // The next query gets the same time, so that it also returns the changes that this one missed.
    } finally {
      if (!stopped) {
        timer = setTimeout(() => void poll(), intervalMs)
        timer.unref()
      }
    }
  }
  void poll()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
