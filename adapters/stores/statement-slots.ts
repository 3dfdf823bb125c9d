/** Limits how many statements run at once. */
export class StatementSlots {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** `max`: how many may run at once. */
  constructor(max: number) {
    this.#free = max
  }

  /**
   * Runs `act` as soon as a slot is free. Rejects without running it if it has waited for more than `maxWaitMs`. `restMs`: for how
   * long its slot is kept after an error.
   */
  async take<T>(act: () => Promise<T>, maxWaitMs: number, restMs: (error: unknown) => number = () => 0): Promise<T> {
    const since = performance.now()
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let rest = 0
    try {
      if (performance.now() - since > maxWaitMs)
        throw new Error('the database is too slow: a statement was not sent to it')
      return await act()
    } catch (error) {
      rest = restMs(error)
      throw error
    } finally {
      if (rest > 0) setTimeout(() => this.#pass(), rest).unref()
      else this.#pass()
    }
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
