/** The keys that changed since an earlier query, as `pollForChanges` expects them from a store. */
export interface KeyChanges {
  /** The store's time of this query; the next one is asked for changes since then. */
  readonly now: string
  /** Changes since then, in any order. Those reported before may be among them: each is passed on once. */
  readonly changes: readonly {
    /** The hash of the changed key. */
    readonly hash: string
    /** Distinguishes this change of the key from its other changes, such as the time of the change or its version. */
    readonly at: string
  }[]
}

const everyMs = 400

/**
 * `KeyStore.watch` for a store that cannot push changes: asks it every 400 ms, and calls `changed` with the hash of each key
 * that changed. A query that fails is repeated by the next one. Returns the function that stops it.
 *
 * @example watch: (changed) => pollForChanges(changed, (since) => changesSince(since))
 */
export function pollForChanges(
  changed: (hash: string) => void,
  query: (since: string | undefined) => Promise<KeyChanges> | KeyChanges,
): () => void {
  let since: string | undefined
  let reported = new Set<string>()
  let ended = false
  let timer: NodeJS.Timeout | undefined

  const once = async () => {
    try {
      const { now, changes } = await query(since)
      if (ended) return
      const names = new Set(changes.map(({ hash, at }) => `${hash} ${at}`))
      for (const { hash, at } of changes) if (!reported.has(`${hash} ${at}`)) changed(hash)
      reported = names
      since = now
    } catch {
      // The store is down, so no key can have changed in it. The next query reports what this one missed.
    } finally {
      if (!ended) {
        timer = setTimeout(() => void once(), everyMs)
        timer.unref()
      }
    }
  }
  void once()
  return () => {
    ended = true
    clearTimeout(timer)
  }
}
