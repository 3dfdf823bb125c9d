/** Milliseconds after which a waiting statement fails. */
const maxWaitMs = 60_000

/** Limits how many statements that may read many rows run at once, so that calls keep the other connections of the pool. */
export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** `max`: how many may run at once. */
  constructor(max: number) {
    this.#free = max
  }

  /** Runs `act` when it is its turn. Rejects without running it if it has waited for more than 60 seconds. */
  async take<T>(act: () => Promise<T>): Promise<T> {
    const since = performance.now()
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      if (performance.now() - since > maxWaitMs) throw new Error('too many statements that read many rows were waiting')
      return await act()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
