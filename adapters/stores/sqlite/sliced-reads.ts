import { where, type Condition } from './conditions.ts'
import type { Database } from './database.ts'

/** Milliseconds that a slice is meant to take, so that it blocks the event loop only briefly. */
const sliceMs = 5

/** Divides a question about many rows into slices, between which other calls run. */
export class SlicedReads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Calls `take` with conditions on the labels `l`, which together select the labels given, until it returns false. Default:
   * all labels.
   */
  async ofLabels(labels: readonly bigint[] | undefined, take: (some: Condition) => unknown): Promise<void> {
    const size = new SliceSize(10)
    const count = labels?.length ?? (await this.#database.read(() => lastLabel(this.#database)))
    for (let from = 0; from < count;) {
      const end = from + size.value
      const some: Condition =
        labels === undefined
          ? ['l.label > ? AND l.label <= ?', from, end]
          : ['l.label IN (SELECT value FROM json_each(?))', `[${labels.slice(from, end).join(',')}]`]
      if ((await this.take(size, () => take(some))) === false) return
      from = end
    }
  }

  /** Calls `take` with conditions on the time of requests `c`, which together select the range. `filter`: on single requests. */
  async ofTimes(
    filter: readonly Condition[],
    begin: number,
    end: number,
    take: (some: Condition) => void,
  ): Promise<void> {
    const size = new SliceSize(500)
    for (let from = begin; from < end;) {
      const next = await this.#database.read(() => this.#after(filter, from, end, size.value))
      await this.take(size, () => take(['started_at >= ? AND started_at < ?', from, next]))
      from = next
    }
  }

  /** Reads one slice, and adapts the size of the next one to the time it took. */
  async take<T>(size: SliceSize, act: () => T): Promise<T> {
    let ms = 0
    const result = await this.#database.read(() => {
      const began = performance.now()
      const read = act()
      ms = performance.now() - began
      return read
    })
    size.adapt(ms)
    if (ms > 1) await new Promise(setImmediate)
    return result
  }

  /** The time up to which there are `count` requests from `begin` on, or more if these have the same time. */
  #after(filter: readonly Condition[], begin: number, end: number, count: number): number {
    const timeOf = (from: Condition, skipped: number) => {
      const { text, values } = where([...filter, from, ['started_at < ?', end]])
      const sql = `SELECT started_at FROM modelhatch_calls c ${text} ORDER BY started_at LIMIT 1 OFFSET ?`
      return (this.#database.get(sql, ...values, skipped)?.['started_at'] as number | undefined) ?? end
    }
    const next = timeOf(['started_at >= ?', begin], count)
    return next > begin ? next : timeOf(['started_at > ?', begin], 0)
  }
}

/** The number of rows of the next slice, by the time that the last one took. */
export class SliceSize {
  value: number

  constructor(value: number) {
    this.value = value
  }

  adapt(ms: number): void {
    const factor = Math.min(2, sliceMs / Math.max(ms, 0.1))
    this.value = Math.min(50_000, Math.max(1, Math.floor(this.value * factor)))
  }
}

function lastLabel(database: Database): number {
  return Number(database.get('SELECT max(label) AS last FROM modelhatch_usage_labels')?.['last'] ?? 0)
}
