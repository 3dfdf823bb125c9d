/** Notices of changed keys, for stores that have to be asked. */

/** One look: the store's time now, and what has changed since `since`, some of it perhaps told before. */
export interface Look {
  readonly now: string
  readonly changes: readonly {
    readonly hash: string
    /** Tells this change of the key from its others. */
    readonly at: string
  }[]
}

const everyMs = 400

/** Looks for changes until the function that is returned is called. A look that fails is made good by the next. */
export function watching(
  changed: (hash: string) => void,
  look: (since: string | undefined) => Promise<Look> | Look,
): () => void {
  let since: string | undefined
  let told = new Set<string>()
  let ended = false
  let timer: NodeJS.Timeout | undefined

  const once = async () => {
    try {
      const { now, changes } = await look(since)
      if (ended) return
      const names = new Set(changes.map(({ hash, at }) => `${hash} ${at}`))
      for (const { hash, at } of changes) if (!told.has(`${hash} ${at}`)) changed(hash)
      told = names
      since = now
    } catch {
      // The store is down. What it holds changes nothing meanwhile.
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
