/** A stream that sends heartbeats. */
export interface Beating {
  /** Timer ticks since the last write. Set to 0 with every write. */
  quiet: number
  /** Called when nothing was written for about the whole interval. */
  beat(): void
}

const ticks = 4

/**
 * Calls `beat` on streams that have been idle. One timer serves all streams. It stops at the first tick without streams,
 * because starting one for each stream would cost more.
 */
export class Heartbeat {
  readonly #intervalMs: number
  readonly #streams = new Set<Beating>()
  #timer: NodeJS.Timeout | undefined

  /** `intervalMs`: milliseconds without a write before the heartbeat, accurate to a quarter. */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  add(stream: Beating): void {
    this.#streams.add(stream)
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#tick(), this.#intervalMs / ticks)
      this.#timer.unref()
    }
  }

  remove(stream: Beating): void {
    this.#streams.delete(stream)
  }

  /** Stops the timer. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    if (this.#streams.size === 0) this.close()
    for (const stream of this.#streams) {
      if (++stream.quiet < ticks) continue
      stream.quiet = 0
      stream.beat()
    }
  }
}
