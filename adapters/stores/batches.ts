/** Calls that leave in batches: those of one turn of the event loop together, and those that come while one is under way. */

/** Calls of one batch at most. */
const largest = 100
/** Calls that wait at most; further ones are rejected at once. */
const mostWaiting = 10_000
/** Milliseconds for which a call waits to be sent: after that, its caller has given up. */
const longestWaitMs = 2_000
/** Milliseconds after which a batch without a result leaves its lane to the next one: its connection may be lost. */
const laneMs = 500

export interface BatchesOptions<Item, Result> {
  /** Performs a batch in its order, and resolves to one result for each item. */
  readonly perform: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Ids of an item. Items that share one are never in the same batch. */
  readonly ids: (item: Item) => readonly string[]
  /** Whether an error proves that nothing of the batch was done, and may be due to one of its items alone. */
  readonly isUndone: (error: unknown) => boolean
  /** Batches under way at once. */
  readonly lanes: number
}

interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item
  readonly since: number
}

export class Batches<Item, Result> {
  readonly #options: BatchesOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #underWay = 0
  #planned = false

  constructor(options: BatchesOptions<Item, Result>) {
    this.#options = options
  }

  add(item: Item): Promise<Result> {
    if (this.#waiting.length >= mostWaiting) return Promise.reject(new Error('too many calls wait for the database'))
    const waiting = { item, since: performance.now(), ...Promise.withResolvers<Result>() }
    this.#waiting.push(waiting)
    this.#plan()
    return waiting.promise
  }

  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#underWay >= this.#options.lanes) return
    this.#planned = true
    setImmediate(() => {
      this.#planned = false
      const batch = this.#next()
      if (batch.length > 0) void this.#send(batch)
      this.#plan()
    })
  }

  /** The calls that have waited longest, of those with one id the first. */
  #next(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = []
    const later: Waiting<Item, Result>[] = []
    const known = new Set<string>()
    const late = performance.now() - longestWaitMs
    let index = 0
    for (; index < this.#waiting.length && batch.length < largest; index++) {
      const waiting = this.#waiting[index] as Waiting<Item, Result>
      const ids = this.#options.ids(waiting.item)
      if (waiting.since < late) waiting.reject(new Error('the database is too slow: the call was not sent to it'))
      else if (ids.some((id) => known.has(id))) later.push(waiting)
      else batch.push(waiting)
      for (const id of ids) known.add(id)
    }
    this.#waiting = [...later, ...this.#waiting.slice(index)]
    return batch
  }

  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    let inLane = true
    const leaveLane = () => {
      if (!inLane) return
      inLane = false
      this.#underWay--
      this.#plan()
    }
    this.#underWay++
    const timer = setTimeout(leaveLane, laneMs)
    timer.unref()
    try {
      await this.#perform(batch)
    } finally {
      clearTimeout(timer)
      leaveLane()
    }
  }

  async #perform(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.perform(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result))
    } catch (error) {
      if (batch.length === 1 || !this.#options.isUndone(error)) for (const { reject } of batch) reject(error)
      else for (const each of batch) await this.#perform([each])
    }
  }
}
