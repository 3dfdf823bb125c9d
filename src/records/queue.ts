export interface QueueOptions<T> {
  /** Sends a batch. Called again with the items of a batch that failed. */
  readonly send: (batch: readonly T[]) => Promise<void> | void
  /** What to send again of an item that failed. Default: the same item. */
  readonly again?: (item: T) => T
  /**
   * Milliseconds from the start of one batch to that of the next, unless that one is full: fewer, larger batches cost less.
   * Default 5.
   */
  readonly paceMs?: number
  /** Milliseconds for which an item waits for more while all queued items may wait. Default `paceMs`. */
  readonly waitMs?: number
  /** Maximum number of queued items. */
  readonly most: number
  /** Called once for each item that is dropped because the queue is full or closed. */
  readonly dropped: (item: T, why: unknown) => void
}

/** Maximum number of items per call. */
const largestBatch = 100
const usualPaceMs = 5
const firstPauseMs = 50
const longestPauseMs = 1_000

/**
 * Sends items to a store in the background, in batches, until the store accepts them. After a failure items are sent one
 * by one, so that an item which the store rejects does not block the others.
 */
export class Queue<T> {
  readonly #options: QueueOptions<T>
  #waiting: T[] = []
  #sending: readonly T[] = []
  #batchSize = largestBatch
  #pauseMs = firstPauseMs
  #timer: NodeJS.Timeout | undefined
  /** Set while the next batch waits for its time. */
  #pacing: NodeJS.Timeout | undefined
  /** Whether an item waits that may not. */
  #hasUrgent = false
  /** Since when the oldest of the waiting items waits. */
  #waitsSince = 0
  /** When the last batch was sent to an asynchronous store; undefined for a synchronous one. */
  #sentAt: number | undefined
  #failure: unknown
  readonly #idle = new Set<() => void>()

  constructor(options: QueueOptions<T>) {
    this.#options = options
  }

  /** Number of items not accepted yet. */
  get size(): number {
    return this.#waiting.length + this.#sending.length
  }

  get full(): boolean {
    return this.size >= this.#options.most
  }

  /** Items not accepted yet, oldest first. */
  get left(): readonly T[] {
    return [...this.#sending, ...this.#waiting]
  }

  /** Whether the store has answered with a promise. */
  get isAsync(): boolean {
    return this.#sentAt !== undefined
  }

  /** `mayWait`: for `waitMs` instead of `paceMs`. */
  add(item: T, mayWait: boolean = false): void {
    if (this.full) return this.#options.dropped(item, this.#failure ?? new Error('the queue is full'))
    // A list of exactly one: `push` would make room for more, and a synchronous store never needs it.
    if (this.#waiting.length === 0) {
      this.#waiting = [item]
      if (mayWait) this.#waitsSince = performance.now()
    } else this.#waiting.push(item)
    if (!mayWait) return this.hurry()
    if (this.#sending.length === 0 && this.#timer === undefined) this.#paced()
  }

  /** What waits may wait no longer. */
  hurry(): void {
    if (this.#waiting.length === 0) return
    if (!this.#hasUrgent) {
      this.#hasUrgent = true
      clearTimeout(this.#pacing)
      this.#pacing = undefined
    }
    if (this.#sending.length === 0 && this.#timer === undefined) this.#paced()
  }

  /** Resolves when all items are accepted, or after `ms`. Meanwhile, batches are sent without a pause. */
  async idle(ms: number): Promise<void> {
    if (this.size === 0) return
    const accepted = new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#idle.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#idle.add(done)
    })
    if (this.#pacing !== undefined) this.#paced()
    await accepted
  }

  /** Resolves when all items are accepted. Drops the rest after `ms`. */
  async drain(ms: number): Promise<void> {
    // Full batches, because there may be no time to send items one by one.
    this.#batchSize = largestBatch
    this.#pauseMs = firstPauseMs
    if (this.#timer !== undefined) this.#resume()
    await this.idle(ms)
    clearTimeout(this.#timer)
    clearTimeout(this.#pacing)
    const { left } = this
    // Includes items being sent: if the store rejects them later, they are not sent again.
    this.#sending = []
    this.#waiting = []
    for (const item of left) this.#options.dropped(item, this.#failure ?? new Error('the gateway was closed'))
  }

  /** Sends the next batch when it is due. */
  #paced(): void {
    const { paceMs = usualPaceMs, waitMs: longMs = paceMs } = this.#options
    const sentAt = this.#sentAt
    const due = this.#hasUrgent ? (sentAt ?? 0) + paceMs : this.#waitsSince + longMs
    const waitMs = sentAt === undefined ? 0 : due - performance.now()
    if (waitMs > 0 && this.#waiting.length < this.#batchSize && this.#idle.size === 0) {
      this.#pacing ??= setTimeout(() => {
        this.#pacing = undefined
        this.#next()
      }, waitMs)
      return
    }
    clearTimeout(this.#pacing)
    this.#pacing = undefined
    this.#next()
  }

  #next(): void {
    // For a synchronous store a loop, because recursion could exceed the stack.
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      this.#sending = batch
      try {
        const sent = this.#options.send(batch)
        if (sent instanceof Promise) {
          this.#sentAt = performance.now()
          return void sent.then(this.#taken, this.#refused)
        }
      } catch (error) {
        return this.#refused(error)
      }
      this.#sending = []
    }
    for (const done of this.#idle) done()
  }

  /** Removes the items of the next batch. */
  #take(): readonly T[] {
    this.#hasUrgent = this.#waiting.length > this.#batchSize
    if (this.#waiting.length > this.#batchSize) return this.#waiting.splice(0, this.#batchSize)
    const all = this.#waiting
    this.#waiting = []
    return all
  }

  readonly #taken = (): void => {
    this.#sending = []
    this.#pauseMs = firstPauseMs
    this.#batchSize = Math.min(this.#batchSize * 2, largestBatch)
    if (this.#waiting.length === 0) this.#next()
    else this.#paced()
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
