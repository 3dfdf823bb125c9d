/** The beat of streams that have been quiet: one timer for all of them, and none while there is no stream. */

export interface Beating {
  /** Ticks since something was written. Set to 0 with every write. */
  quiet: number
  /** Called when the stream was quiet for about the whole interval. */
  beat(): void
}

const ticks = 4

export class Heartbeat {
  readonly #intervalMs: number
  readonly #streams = new Set<Beating>()
  #timer: NodeJS.Timeout | undefined

  /** `intervalMs`: the longest silence, give or take a quarter. */
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
    if (this.#streams.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #tick(): void {
    for (const stream of this.#streams) {
      if (++stream.quiet < ticks) continue
      stream.quiet = 0
      stream.beat()
    }
  }
}
