/** How many names are kept. */
const most = 1_000

/** Moving averages by name. Takes memory for the names that there are, unlike an LRU cache, which takes it for the most of them. */
export class Averages {
  /** Those that learned last at the end. */
  readonly #values = new Map<string, number>()
  readonly #earlier: number

  /** `earlier`: how many times as much as a new value the average of the earlier ones counts. */
  constructor(earlier: number) {
    this.#earlier = earlier
  }

  learn(name: string, value: number): void {
    const average = ((this.#values.get(name) ?? value) * this.#earlier + value) / (this.#earlier + 1)
    this.#values.delete(name)
    this.#values.set(name, average)
    if (this.#values.size > most) this.#values.delete(this.#values.keys().next().value as string)
  }

  /** Undefined before the first value. */
  of(name: string): number | undefined {
    return this.#values.get(name)
  }
}
