/** How many statements that read much run at once: the other connections of the pool are left to calls. */

/** Milliseconds after which a page that waits for its turn fails. */
const longestWaitMs = 60_000

export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#free = most
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    const since = performance.now()
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      if (performance.now() - since > longestWaitMs) throw new Error('too many statements that read much were waiting')
      return await act()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
