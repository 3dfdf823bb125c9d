/** The result of one poll for changed keys. */
export interface Poll {
  /** The store's current time. */
  readonly now: string
  /** The changes since `since`. May repeat changes of earlier polls. */
  readonly changes: readonly {
    readonly hash: string
    /** Identifies the change among all changes of the key. */
    readonly at: string
  }[]
}

const everyMs = 400

/**
 * Implements `KeyStore.watch` for stores that must be polled: reports each change once, until the returned function is
 * called. After a failed poll, the next one reports what it missed.
 */
export function watching(
  changed: (hash: string) => void,
  poll: (since: string | undefined) => Promise<Poll> | Poll,
): () => void {
  let since: string | undefined
  let reported = new Set<string>()
  let ended = false
  let timer: NodeJS.Timeout | undefined

  const once = async () => {
    try {
      const { now, changes } = await poll(since)
      if (ended) return
      const names = new Set(changes.map(({ hash, at }) => `${hash} ${at}`))
      for (const { hash, at } of changes) if (!reported.has(`${hash} ${at}`)) changed(hash)
      reported = names
      since = now
    } catch {
      // The store is down: the next poll asks for the same time range again.
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
