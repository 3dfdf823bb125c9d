/**
 * What is told to a store after the answer, so that no client waits for it: in batches, repeated until it is taken. An
 * item that the store will not take goes round alone and holds up no other.
 */

export interface QueueOptions<T> {
  /** Takes a batch. May be called again with items of a batch that failed. */
  readonly send: (batch: readonly T[]) => Promise<void> | void
  /** What of an item is sent again after it failed. Default: the same. */
  readonly again?: (item: T) => T
  /** Items that wait at most. */
  readonly most: number
  /** Called once for each item that is given up, for want of room or of time. */
  readonly dropped: (item: T, why: unknown) => void
}

/** Items of one call at most. */
const largestBatch = 100
const firstPauseMs = 50
const longestPauseMs = 1_000

export class Queue<T> {
  readonly #options: QueueOptions<T>
  #waiting: T[] = []
  #sending: readonly T[] = []
  #batchSize = largestBatch
  #pauseMs = firstPauseMs
  #timer: NodeJS.Timeout | undefined
  #failure: unknown
  readonly #idle = new Set<() => void>()

  constructor(options: QueueOptions<T>) {
    this.#options = options
  }

  /** Items that are not taken yet. */
  get size(): number {
    return this.#waiting.length + this.#sending.length
  }

  get full(): boolean {
    return this.size >= this.#options.most
  }

  /** What is not taken yet, oldest first. */
  get left(): readonly T[] {
    return [...this.#sending, ...this.#waiting]
  }

  add(item: T): void {
    if (this.full) return this.#options.dropped(item, this.#failure ?? new Error('too many wait'))
    this.#waiting.push(item)
    if (this.#sending.length === 0 && this.#timer === undefined) this.#next()
  }

  /** Resolves when everything is taken, or after `ms`. */
  async idle(ms: number): Promise<void> {
    if (this.size === 0) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#idle.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#idle.add(done)
    })
  }

  /** Resolves when everything is taken. What is not after `ms` is dropped. */
  async drain(ms: number): Promise<void> {
    // A slow store has no time for one item after the other.
    this.#batchSize = largestBatch
    this.#pauseMs = firstPauseMs
    if (this.#timer !== undefined) this.#resume()
    await this.idle(ms)
    clearTimeout(this.#timer)
    const { left } = this
    // Also what is on its way: if the store refuses it later, it is not sent again.
    this.#sending = []
    this.#waiting = []
    for (const item of left) this.#options.dropped(item, this.#failure ?? new Error('the gateway was closed'))
  }

  #next(): void {
    // A store that answers at once is asked in a loop, not by recursion.
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchSize)
      this.#sending = batch
      try {
        const sent = this.#options.send(batch)
        if (sent instanceof Promise) return void sent.then(this.#taken, this.#refused)
      } catch (error) {
        return this.#refused(error)
      }
      this.#sending = []
    }
    for (const done of this.#idle) done()
  }

  readonly #taken = (): void => {
    this.#sending = []
    this.#pauseMs = firstPauseMs
    this.#batchSize = Math.min(this.#batchSize * 2, largestBatch)
    this.#next()
  }

  readonly #refused = (error: unknown): void => {
    const { again } = this.#options
    this.#failure = error
    const refused = again === undefined ? this.#sending : this.#sending.map(again)
    this.#waiting = refused.length > 1 ? [...refused, ...this.#waiting] : [...this.#waiting, ...refused]
    this.#sending = []
    this.#batchSize = 1
    this.#timer = setTimeout(() => this.#resume(), this.#pauseMs)
    this.#timer.unref()
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
  }

  #resume(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#sending.length === 0) this.#next()
  }
}
