import { where, type Owner, type Source, type Values } from '../sql/sql.ts'
import { labelRows } from '../sql/usage-labels.ts'
import type { Read, Row } from './database.ts'

/** Milliseconds that a slice is meant to take, so that it blocks the event loop only briefly. */
const sliceMs = 5
/** Number of labels up to which they are read one by one. */
const fewLabels = 2_000

export type Query = (text: string, values: Values) => readonly Row[]

/** Passes on the rows of the part of a source that `some` selects. Ends the reading if it returns false. */
export type Take = (some: readonly string[], values: Values) => boolean | void

/** Divides one question about many rows into slices, between which other calls run. */
export class SlicedReads {
  readonly #read: Read
  readonly #all: Query
  /** When other calls could run for the last time. */
  #resumed = 0

  constructor(read: Read, all: Query) {
    this.#read = read
    this.#all = all
  }

  /** Calls `take` for one part of the source after the other. */
  async read({ times }: Source, owner: Owner, values: Values, take: Take): Promise<void> {
    const labels = await this.labelsOf(owner, values)
    if (times === undefined) return this.ofLabels(labels, take)
    const { filter, from, to } = times
    // With a session, its requests are fewer than those of its labels.
    if (labels === undefined || values['session'] !== undefined) return this.ofTimes(filter, values, [from, to], take)
    for (const label of labels) {
      const own = 'c.label = :partLabel'
      await this.ofTimes([own, ...filter], { ...values, partLabel: label }, [from, to], (some, more) =>
        take([own, ...some], { ...more, partLabel: label }),
      )
    }
  }

  /** Calls `take` with conditions on labels `l`, which together select the labels given. Default: all. */
  async ofLabels(labels: readonly number[] | undefined, take: Take): Promise<void> {
    // The first labels are those of all accounts, which have the most sums.
    const size = new SliceSize(1)
    const count = labels?.length ?? (await this.#read(() => this.#lastLabel()))
    for (let from = 0; from < count;) {
      const end = from + size.value
      const act = () =>
        labels === undefined
          ? take(['l.label > :partBegin', 'l.label <= :partEnd'], { partBegin: from, partEnd: end })
          : take(['l.label IN (SELECT value FROM json_each(:partLabels))'], {
              partLabels: JSON.stringify(labels.slice(from, end)),
            })
      if ((await this.take(size, act)) === false) return
      from = end
    }
  }

  /** Calls `take` with conditions on the time of requests `c`, which together select the range. `filter`: on single requests. */
  async ofTimes(
    filter: readonly string[],
    values: Values,
    [begin, end]: readonly [begin: number, end: number],
    take: Take,
  ): Promise<void> {
    const size = new SliceSize(500)
    for (let from = begin; from < end;) {
      const next = await this.#read(() => this.#after(filter, values, [from, end], size.value))
      const part = { partBegin: from, partEnd: next }
      await this.take(size, () => take(['started_at >= :partBegin', 'started_at < :partEnd'], part))
      from = next
    }
  }

  /**
   * The newest rows that meet conditions which no index supports: looks at slices of the newest rows until enough of them do.
   * `from`: the table.
   */
  async newest(
    columns: string,
    from: string,
    isWanted: string,
    indexed: readonly string[],
    values: Values,
    most: number,
  ): Promise<Row[]> {
    const size = new SliceSize(100)
    const order = 'ORDER BY started_at DESC, id DESC'
    const found: Row[] = []
    for (let last: Row | undefined; found.length < most;) {
      const before = last === undefined ? [] : ['(started_at, id) < (:partAt, :partId)']
      const part = { partAt: last?.['started_at'], partId: last?.['id'], partMost: size.value }
      const text = `SELECT started_at, id, iif(${isWanted}, 1, 0) AS wanted FROM ${from} ${where([...indexed, ...before])}
        ${order} LIMIT :partMost`
      const rows = await this.take(size, () => this.#all(text, { ...values, ...part }))
      const ids = rows.filter(({ wanted }) => wanted === 1n).map(({ id }) => id)
      const whole = `SELECT ${columns} FROM ${from} WHERE id IN (SELECT value FROM json_each(:partIds)) ${order}`
      const partIds = JSON.stringify(ids.slice(0, most - found.length))
      if (ids.length > 0) found.push(...(await this.#read(() => this.#all(whole, { partIds }))))
      last = rows.at(-1)
      if (last === undefined) break
    }
    return found
  }

  /** Reads one slice, and adapts the size of the next one to the time it took. */
  async take<T>(size: SliceSize, act: () => T): Promise<T> {
    let ms = 0
    const result = await this.#read(() => {
      const began = performance.now()
      const read = act()
      ms = performance.now() - began
      return read
    })
    size.adapt(ms)
    // Of many short slices, several run in one turn of the event loop.
    if (performance.now() - this.#resumed > 1) {
      await new Promise(setImmediate)
      this.#resumed = performance.now()
    }
    return result
  }

  /** The labels of an owner. Undefined: too many to read them one by one. */
  async labelsOf({ conditions, isScan, isWhole }: Owner, values: Values): Promise<readonly number[] | undefined> {
    if (conditions.length === 0 || isWhole === true) return undefined
    const found: number[] = []
    const read: Take = (some, part) => {
      const text = `${labelRows('label', conditions)(some)} LIMIT ${fewLabels + 1}`
      for (const { label } of this.#all(text, { ...values, ...part })) found.push(Number(label))
      return found.length <= fewLabels
    }
    if (isScan) await this.ofLabels(undefined, read)
    else await this.#read(() => read([], {}))
    return found.length > fewLabels ? undefined : found
  }

  /** The time up to which there are `count` requests from `begin` on, or more if these have the same time. */
  #after(filter: readonly string[], values: Values, [begin, end]: readonly number[], count: number): number {
    const timeOf = (from: string, skipped: number) => {
      const text = `SELECT started_at FROM @.calls c ${where([...filter, from, 'started_at < :partEnd'])}
        ORDER BY started_at LIMIT 1 OFFSET :skipped`
      const [row] = this.#all(text, { ...values, partBegin: begin, partEnd: end, skipped })
      return (row?.['started_at'] ?? end) as number
    }
    const next = timeOf('started_at >= :partBegin', count)
    return next > (begin as number) ? next : timeOf('started_at > :partBegin', 0)
  }

  #lastLabel(): number {
    return Number(this.#all('SELECT max(label) AS last FROM @.usage_labels', {})[0]?.['last'] ?? 0)
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
