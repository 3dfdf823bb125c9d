import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { TableList } from '../sql/sql.ts'
import { changes, requireUsable, unknownLayout, type Change, type Layout } from '../layout.ts'

export type Row = Record<string, number | bigint | string | null>

/** Milliseconds for which a call retries while another process writes to the file. */
const maxWaitMs = 2_000
/** Milliseconds for which waiting transactions run as one, and so for which they block the event loop and other processes. */
const sliceMs = 8
/** SQLITE_BUSY: another connection is writing. */
const busy = 5
/** SQLITE_ERROR: among others, a statement does not match the tables, because another process has changed them. */
const genericError = 1

/** Runs what only reads, without a transaction. */
export type Read = <T>(act: () => T) => T | Promise<T>

/** A transaction that waits while another process is writing. */
interface Waiting {
  readonly act: () => unknown
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  readonly end: number
}

/** A SQLite file, opened on first use. While another process is writing, calls retry without blocking the event loop. */
export class Database {
  readonly #file: string | DatabaseSync
  readonly #durability: 'process' | 'full'
  readonly #tables: string
  readonly #changes: readonly Change[]
  readonly #statements = new Map<string, StatementSync>()
  /** Those that return lists. */
  readonly #listing = new Map<string, StatementSync>()
  /** In the order in which they run. */
  readonly #waiting: Waiting[] = []
  #open: DatabaseSync | undefined
  #ready = false
  #depth = 0
  /** How often the file was closed. */
  #closed = 0

  /** `tables`: those of version 1. `upgrades`: their changes since. */
  constructor(
    file: string | DatabaseSync,
    durability: 'process' | 'full',
    tables: string,
    upgrades: readonly Change[] = changes,
  ) {
    if (typeof file !== 'string' && typeof (file as Partial<DatabaseSync> | undefined)?.prepare !== 'function') {
      throw new TypeError('sqlite: expected the path of a file or a DatabaseSync of node:sqlite')
    }
    this.#file = file
    this.#durability = durability
    this.#tables = tables
    this.#changes = upgrades
  }

  /**
   * Runs `act` as one transaction: synchronously if no other process is writing, otherwise as soon as it can. Inside another
   * transaction it joins that one.
   */
  transaction<T>(act: () => T): T | Promise<T> {
    if (this.#depth > 0) return act()
    if (this.#waiting.length > 0) return this.#wait(act)
    return this.#whenFree(
      () => this.#inTransaction(act),
      () => this.#wait(act),
    )
  }

  /** Runs `act`, which only reads, without a transaction. */
  read<T>(act: () => T): T | Promise<T> {
    return this.#whenFree(act, () => this.#retry(act, performance.now() + maxWaitMs))
  }

  /** `read` for a question that takes several turns of the event loop. It throws once the file was closed, and does not open it again. */
  reading(): Read {
    const closed = this.#closed
    return (act) => {
      if (this.#closed !== closed) throw new Error('the SQLite file was closed during a question')
      return this.read(act)
    }
  }

  /** All rows of a statement. Integers are returned as bigint. */
  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[]
  }

  /** The rows of a statement as lists, which takes less time. Its integers are numbers: they must not exceed 2^53. */
  lists(sql: string, ...values: SQLInputValue[]): TableList[] {
    let statement = this.#listing.get(sql)
    if (statement === undefined) {
      statement = this.#database().prepare(sql)
      statement.setReturnArrays(true)
      this.#listing.set(sql, statement)
    }
    return statement.all(...values) as unknown as TableList[]
  }

  /** The first row of a statement. */
  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined
  }

  /** Runs a statement and returns the number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes)
  }

  /** Milliseconds since the epoch, by SQLite's clock. */
  now(): number {
    return Number(this.get(`SELECT unixepoch('subsec') * 1000.0 AS now`)?.['now'])
  }

  close(): void {
    this.#closed++
    this.#statements.clear()
    this.#listing.clear()
    if (typeof this.#file === 'string') this.#open?.close()
    this.#open = undefined
    this.#ready = false
  }

  #whenFree<T>(act: () => T, later: () => Promise<T>): T | Promise<T> {
    try {
      this.#prepare()
      return act()
    } catch (error) {
      if (codeOf(error) === genericError) this.#ready = false
      if (!isBusy(error)) throw error
      return later()
    }
  }

  #wait<T>(act: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ act, resolve, reject, end: performance.now() + maxWaitMs })
    if (this.#waiting.length === 1) void this.#runWaiting()
    return promise
  }

  async #runWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      await backoff()
      const ended: (() => void)[] = []
      try {
        this.#prepare()
        this.#inTransaction(() => this.#runSome(ended))
        this.#waiting.splice(0, ended.length)
      } catch (error) {
        // What has run was undone. While another process is writing, only those give up that have waited too long.
        const over = this.#waiting.filter(({ end }) => !isBusy(error) || performance.now() > end)
        ended.length = 0
        for (const each of over) {
          this.#waiting.splice(this.#waiting.indexOf(each), 1)
          ended.push(() => each.reject(error))
        }
      }
      for (const settle of ended) settle()
    }
  }

  /** Runs the first of the waiting transactions, each as a part of the current one. `ended` gets how each has ended. */
  #runSome(ended: (() => void)[]): void {
    const database = this.#database()
    const until = performance.now() + sliceMs
    for (const { act, resolve, reject } of this.#waiting) {
      database.exec('SAVEPOINT waiting')
      try {
        const result = act() as never
        ended.push(() => resolve(result))
      } catch (error) {
        // Some errors undo the whole transaction.
        if (!database.isTransaction) throw error
        database.exec('ROLLBACK TO waiting')
        ended.push(() => reject(error))
      }
      database.exec('RELEASE waiting')
      if (performance.now() > until) return
    }
  }

  async #retry<T>(act: () => T, end: number): Promise<T> {
    for (;;) {
      await backoff()
      try {
        this.#prepare()
        return act()
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error
      }
    }
  }

  #inTransaction<T>(act: () => T): T {
    const database = this.#database()
    database.exec('BEGIN IMMEDIATE')
    this.#depth++
    try {
      const result = act()
      database.exec('COMMIT')
      return result
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    } finally {
      this.#depth--
    }
  }

  #prepare(): void {
    if (this.#ready) return
    this.#inTransaction(() => this.#migrate())
    this.#ready = true
  }

  /** Creates the tables, or changes those of an earlier version. */
  #migrate(): void {
    const database = this.#database()
    const what = typeof this.#file === 'string' ? `the database "${this.#file}"` : 'the database'
    const remedy = 'pass another file to sqlite(), or move this one away'
    if (database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'modelhatch_layout'`).get() === undefined) {
      const other = database.prepare(`SELECT name FROM sqlite_master WHERE name GLOB 'modelhatch_*' LIMIT 1`).get()
      if (other !== undefined)
        throw unknownLayout(what, `a table "${String(other['name'])}" and no layout version`, remedy)
      database.exec('CREATE TABLE modelhatch_layout (version INTEGER PRIMARY KEY, serves INTEGER NOT NULL) STRICT')
      database.exec(`${this.#tables}; INSERT INTO modelhatch_layout VALUES (1, 1)`)
    }
    const sql = 'SELECT coalesce(max(version), 0) AS version, coalesce(max(serves), 0) AS serves FROM modelhatch_layout'
    const { version, serves } = database.prepare(sql).get() as unknown as Layout
    requireUsable(what, { version, serves }, { version: this.#changes.length + 1, oldest: 1, remedy })
    for (const change of this.#changes.slice(version - 1)) {
      database.exec(change.sqlite)
      database.exec(`INSERT INTO modelhatch_layout SELECT max(version) + 1, ${change.serves} FROM modelhatch_layout`)
    }
  }

  #database(): DatabaseSync {
    if (this.#open !== undefined) return this.#open
    if (typeof this.#file !== 'string') return (this.#open = this.#file)
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const database = new DatabaseSync(this.#file, { timeout: 0 })
    try {
      database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${this.#durability === 'full' ? 'FULL' : 'NORMAL'}`,
      )
    } catch (error) {
      database.close()
      throw error
    }
    return (this.#open = database)
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database().prepare(sql)
      statement.setReadBigInts(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** Waits for a random time, so that waiting processes do not retry simultaneously. */
function backoff(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
}

function isBusy(error: unknown): boolean {
  return codeOf(error) === busy
}

function codeOf(error: unknown): number | undefined {
  const { errcode } = Object(error) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

/** A number of a row; 0 for null. */
export function bigintOf(value: Row[string] | undefined): bigint {
  return typeof value === 'bigint' ? value : BigInt(value ?? 0)
}
