/** Sends items to a store in batches. */

/** Maximum number of items in a batch. */
const maxBatch = 100
/** Maximum number of waiting items; further ones are rejected at once. */
const maxWaiting = 10_000
/** Milliseconds after which a batch without a result leaves its lane to the next one: its connection may be lost. */
const laneMs = 500

export interface BatchesOptions<Item, Result> {
  /** Performs the items of a batch in their order. Resolves to one result per item, in the same order. */
  readonly perform: (items: readonly Item[]) => Promise<readonly Result[]>
  /** The ids of an item. Items that share an id are never in the same batch. */
  readonly ids: (item: Item) => readonly string[]
  /** Whether an error proves that the batch had no effect, so that its items can be sent again, one by one. */
  readonly isUndone: (error: unknown) => boolean
  /** Maximum number of concurrent batches. A batch without a result after 500 ms no longer counts. */
  readonly lanes: number
  /** Milliseconds for which an item may wait to be sent. Then it is rejected: its caller has timed out. Default 2,000. */
  readonly maxWaitMs?: number
}

interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item
  readonly since: number
}

/**
 * Groups items into batches: those added in the same turn of the event loop, and those added while all lanes are busy.
 * An item without an id in common with an earlier one may be sent before it.
 */
export class Batches<Item, Result> {
  readonly #options: BatchesOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #running = 0
  #scheduled = false

  constructor(options: BatchesOptions<Item, Result>) {
    this.#options = options
  }

  /** Resolves to the result of the item. Rejects if it is not sent in time, or if its batch fails. */
  add(item: Item): Promise<Result> {
    if (this.#waiting.length >= maxWaiting) return Promise.reject(new Error('the database has too many pending calls'))
    const waiting = { item, since: performance.now(), ...Promise.withResolvers<Result>() }
    this.#waiting.push(waiting)
    this.#schedule()
    return waiting.promise
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#running >= this.#options.lanes) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const batch = this.#next()
      if (batch.length > 0) void this.#send(batch)
      this.#schedule()
    })
  }

  /** The items that have waited longest. One that shares an id with an earlier waiting item stays for a later batch. */
  #next(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = []
    const later: Waiting<Item, Result>[] = []
    const seen = new Set<string>()
    const late = performance.now() - (this.#options.maxWaitMs ?? 2_000)
    let index = 0
    for (; index < this.#waiting.length && batch.length < maxBatch; index++) {
      const waiting = this.#waiting[index] as Waiting<Item, Result>
      const ids = this.#options.ids(waiting.item)
      if (waiting.since < late) waiting.reject(new Error('the database is too slow: the call was not sent to it'))
      else if (ids.some((id) => seen.has(id))) later.push(waiting)
      else batch.push(waiting)
      for (const id of ids) seen.add(id)
    }
    this.#waiting = [...later, ...this.#waiting.slice(index)]
    return batch
  }

  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    let inLane = true
    const leaveLane = () => {
      if (!inLane) return
      inLane = false
      this.#running--
      this.#schedule()
    }
    this.#running++
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

/** Items per statement: few enough for each to end well within its timeout. */
const mostItems = 1_000

/** Calls `act` with one part of the items after the other. Rejects with its first error, after all parts. */
export async function inParts<T>(items: readonly T[], act: (part: readonly T[]) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (let from = 0; from < items.length; from += mostItems) {
    await act(items.slice(from, from + mostItems)).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
