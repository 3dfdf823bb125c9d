const windowMs = 10_000
/** Maximum number of lines of one kind, and of all, in a window. */
const [mostOfKind, mostOfAll] = [10, 100]
/** Maximum number of kinds that are remembered. */
const mostKinds = 1_000

interface Kind {
  count: number
  suppressed: number
}

/** Bounds the lines of a log, so that an outage does not flood it. */
export class LineLimit {
  readonly #now: () => number
  readonly #kinds = new Map<string, Kind>()
  #endsAt = -Infinity
  #count = 0

  /** `now`: milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts a line. Returns how many of its kind were suppressed since the last one; undefined if this one must be, too. */
  admit(name: string): number | undefined {
    const now = this.#now()
    if (now >= this.#endsAt) {
      this.#endsAt = now + windowMs
      this.#count = 0
      for (const each of this.#kinds.values()) each.count = 0
    }
    let kind = this.#kinds.get(name)
    if (kind === undefined) {
      if (this.#kinds.size >= mostKinds) this.#kinds.clear()
      this.#kinds.set(name, (kind = { count: 0, suppressed: 0 }))
    }
    if (kind.count >= mostOfKind || this.#count >= mostOfAll) {
      kind.suppressed++
      return undefined
    }
    kind.count++
    this.#count++
    const { suppressed } = kind
    kind.suppressed = 0
    return suppressed
  }
}
