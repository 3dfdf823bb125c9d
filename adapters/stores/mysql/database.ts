/** Runs statements on connections that the host's pool lends, and creates the tables before the first one. */
import { invalid } from '../../../src/errors.ts'
import { requireUsable, unknownLayout } from '../layout.ts'
import type { TableRow } from '../sql/sql.ts'
import { StatementSlots } from '../statement-slots.ts'
import { inTransaction, Sender, type Ask, type Result, type Send, type Statement } from './transaction.ts'

/** A connection that a pool lends. */
export interface MysqlConnection {
  /** Runs one statement. */
  query(statement: never, values?: never): Promise<unknown>
  /** Runs one statement that the server prepares. */
  execute(statement: never, values?: never): Promise<unknown>
  /** Gives the connection back to its pool. */
  release(): unknown
  /** Ends the connection at once. */
  destroy(): unknown
}

/** The part of a pool that `mysql` uses. A pool of `mysql2/promise` or `mariadb` fits as it is. */
export interface MysqlPool {
  /** Lends a connection. */
  getConnection(): Promise<MysqlConnection>
}

type Query = (statement: object, values: readonly unknown[]) => Promise<unknown>

/** Milliseconds after which a connection is given up, because it may be dead, for what may read or change many rows. */
const longMs = 60_000
const maxAttempts = 10

/** Codes after which a transaction is repeated: waited too long for a lock, deadlock, changed since it was read. */
const retryCodes: ReadonlySet<unknown> = new Set([1205, 1213, 1020])
const duplicate = 1062
/** Codes for values that cannot be stored: too large a packet, out of range, too long, not text, not JSON. */
const valueCodes: ReadonlySet<unknown> = new Set([1153, 1264, 1366, 1406, 3140, 4025])
/** Codes for an unknown table or column: the tables were changed or removed. */
const changedCodes: ReadonlySet<unknown> = new Set([1146, 1054])

/** As of `MysqlOptions`. */
interface DatabaseOptions {
  readonly prefix: string
  readonly connections: number
  readonly statementMs: number
}

export class Database {
  readonly #pool: MysqlPool
  readonly #prefix: string
  /** As of `MysqlOptions`. */
  readonly statementMs: number
  readonly #tables: readonly string[]
  readonly #slots: StatementSlots
  readonly #longSlots: StatementSlots
  #ready: Promise<void> | undefined
  /** The variable of the isolation level, which is called differently by MySQL and older versions of MariaDB. */
  #isolation = 'transaction_isolation'
  /** What several statements at once return: their results, or a pair of these and their columns. Undefined: not allowed. */
  #several: 'list' | 'pair' | undefined

  /** `tables`: the statements that create the tables. Throws a `TypeError` for an invalid pool or prefix. */
  constructor(pool: MysqlPool, { prefix, connections, statementMs }: DatabaseOptions, tables: readonly string[]) {
    const { promise, getConnection } = Object(pool) as { promise?: unknown; getConnection?: unknown }
    const lending =
      typeof promise === 'function' ? ((pool as unknown as { promise(): unknown }).promise() as MysqlPool) : pool
    if (typeof getConnection !== 'function')
      throw new TypeError('mysql: needs a pool of mysql2 or mariadb, such as createPool() of "mysql2/promise"')
    if (!/^[a-z_][a-z0-9_]{0,31}$/.test(prefix))
      throw new TypeError(`mysql: the prefix "${prefix}" must be of at most 32 lower-case letters, digits and "_"`)
    this.#pool = lending
    this.#prefix = `${prefix}_`
    this.statementMs = statementMs
    this.#tables = tables
    this.#slots = new StatementSlots(connections)
    this.#longSlots = new StatementSlots(Math.max(1, Math.floor(connections / 2)))
  }

  /** Runs `act` on a connection, again after a deadlock: it must be one statement, or only read. */
  async use<T>(act: (ask: Ask) => Promise<T>, length?: 'long'): Promise<T> {
    await (this.#ready ??= this.#prepare())
    return this.#retried((send) => act(new Sender(send).ask), length, retryCodes)
  }

  /** Runs `act` in one transaction, which is repeated after a deadlock and if another process has inserted the same key. */
  async transaction<T>(act: (ask: Ask) => Promise<T>, length?: 'long'): Promise<T> {
    await (this.#ready ??= this.#prepare())
    const codes = new Set([...retryCodes, duplicate])
    return this.#retried((send) => inTransaction(send, this.#isolation, act), length, codes)
  }

  isDuplicate(error: unknown): boolean {
    return codeOf(error) === duplicate
  }

  async #retried<T>(
    act: (send: Send) => Promise<T>,
    length: 'long' | undefined,
    codes: ReadonlySet<unknown>,
  ): Promise<T> {
    const ms = length === 'long' ? Math.max(longMs, this.statementMs) : this.statementMs
    const end = performance.now() + ms
    for (let attempt = 1; ; attempt++) {
      try {
        const run = () => this.#lent(act, ms)
        const within = () => this.#slots.take(run, ms)
        return await (length === undefined ? within() : this.#longSlots.take(within, ms))
      } catch (error) {
        const code = codeOf(error)
        if (changedCodes.has(code)) this.#ready = undefined
        if (valueCodes.has(code)) throw invalid('A value is out of range, too long or not a text.', undefined, error)
        if (!codes.has(code) || attempt === maxAttempts || performance.now() > end) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt))
      }
    }
  }

  /** Lends a connection to `act`. After `ms`, gives it up: a pool would lend it again. */
  async #lent<T>(act: (send: Send, connection: MysqlConnection) => Promise<T>, ms: number): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const lending = this.#pool.getConnection()
    let lent: MysqlConnection | undefined
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      lent?.destroy()
      reject(new Error('the database is too slow: a statement did not end in time'))
    }, ms)
    const giveBack = async (connection: MysqlConnection) => connection.release()
    try {
      lent = await Promise.race([lending, late])
      return await Promise.race([act(this.#sending(lent), lent), late])
    } finally {
      clearTimeout(timer)
      if (lent !== undefined && !isLate) await giveBack(lent)
      else if (lent === undefined) lending.then(giveBack).catch(() => undefined)
    }
  }

  #sending(connection: MysqlConnection): Send {
    const query = connection.query.bind(connection) as unknown as Query
    const execute = connection.execute.bind(connection) as unknown as Query
    const one = ({ text, values }: Statement) => {
      const sql = text.replaceAll('@.', this.#prefix)
      // Without writing large values into the text, which takes seconds.
      return values.some(isLarge) ? execute({ sql }, values) : query({ ...options, sql }, values)
    }
    return async (statements) => {
      const values = statements.flatMap((each) => each.values)
      if (statements.length > 1 && this.#several !== undefined && !values.some(isLarge)) {
        const answer = await one({ text: statements.map(({ text }) => text).join(';\n'), values })
        return ((this.#several === 'pair' ? (answer as unknown[])[0] : answer) as unknown[]).map(resultOf)
      }
      const results: Result[] = []
      for (const each of statements) results.push(resultOf(await one(each)))
      return results
    }
  }

  /** Finds out whether the pool allows several statements at once, and what they return. */
  async #findSeveral(connection: MysqlConnection): Promise<void> {
    try {
      const query = connection.query.bind(connection) as unknown as Query
      const answer = (await query({ ...options, sql: 'SELECT 1; SELECT 2; SELECT 3' }, [])) as unknown[]
      this.#several = answer.length === 3 ? 'list' : 'pair'
    } catch {
      this.#several = undefined
    }
  }

  async #prepare(): Promise<void> {
    try {
      await this.#lent(async (send, connection) => {
        const { ask } = new Sender(send)
        await requireSettings(ask)
        await this.#findSeveral(connection)
        const named = await ask("SHOW VARIABLES LIKE 'tx_isolation'")
        if (named.rows.length > 0) this.#isolation = 'tx_isolation'
        await this.#create(ask)
      }, longMs)
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  /** Creates the tables if there are none, under a lock: the server commits after each statement, so other processes could see only some tables. */
  async #create(ask: Ask): Promise<void> {
    const what = `the tables "${this.#prefix}…"`
    const remedy = 'pass another `prefix` to mysql(), or drop or rename these tables'
    const layout = () => this.#layout(ask)
    let found = await layout()
    if (found === undefined) {
      const name = `${this.#prefix}layout`
      const { rows } = await ask('SELECT get_lock(concat(database(), ?), 50) AS got', [name])
      if (rows[0]?.['got'] !== '1') throw new Error(`another process has been creating ${what} for too long`)
      try {
        found = await layout()
        if (found === undefined) {
          const others = await ask(
            'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() AND left(table_name, ?) = ? LIMIT 1',
            [this.#prefix.length, this.#prefix],
          )
          if (others.rows.length > 0)
            throw unknownLayout(what, `a table "${String(others.rows[0]?.['name'])}" and no layout version`, remedy)
          for (const text of this.#tables) await ask(text)
          found = { version: 1, serves: 1 }
        }
      } finally {
        await ask('SELECT release_lock(concat(database(), ?))', [name])
      }
    }
    requireUsable(what, found, { version: 1, oldest: 1, remedy })
  }

  async #layout(ask: Ask): Promise<{ readonly version: number; readonly serves: number } | undefined> {
    try {
      const { rows } = await ask('SELECT version, serves FROM @.layout')
      return { version: Number(rows[0]?.['version'] ?? 0), serves: Number(rows[0]?.['serves'] ?? 0) }
    } catch (error) {
      if (changedCodes.has(codeOf(error))) return undefined
      throw error
    }
  }
}

/** Rejects if the connection has settings under which values would be changed or writes never committed. */
async function requireSettings(ask: Ask): Promise<void> {
  const { rows } = await ask(
    'SELECT @@sql_mode AS mode, @@autocommit AS autocommit, @@character_set_connection AS letters',
  )
  const { mode, autocommit, letters } = rows[0] as Readonly<Record<string, string>>
  const modes = mode?.split(',') ?? []
  const wrong = [
    !modes.some((each) => each.startsWith('STRICT_')) && 'set STRICT_TRANS_TABLES in its sql_mode',
    modes.includes('NO_BACKSLASH_ESCAPES') && 'remove NO_BACKSLASH_ESCAPES from its sql_mode',
    autocommit !== '1' && 'set autocommit to 1',
    letters !== 'utf8mb4' && 'set the charset of the pool to utf8mb4',
  ].filter((each) => each !== false)
  if (wrong.length > 0) throw new Error(`mysql: cannot use this connection: ${wrong.join('; ')}`)
}

function isLarge(value: unknown): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length > 65_536
}

/** Of queries, whatever those of the pool. */
const options = { rowsAsArray: false, nestTables: false, typeCast: asText }

/** A value of a row, as both clients pass it on. */
interface Field {
  readonly name: string | (() => string)
  buffer(): Buffer | null
}

/** All values as text, so that large integers are exact; but those of the columns with bytes, which are called `body`. */
function asText(field: Field, next: () => unknown): unknown {
  const name = typeof field.name === 'function' ? field.name() : field.name
  return name === 'body' ? next() : (field.buffer()?.toString() ?? null)
}

/** The result of either client: `mysql2` returns a pair. */
function resultOf(answer: unknown): Result {
  const own =
    Array.isArray(answer) && (Array.isArray(answer[0]) || Object.hasOwn(Object(answer[0]), 'affectedRows'))
      ? answer[0]
      : answer
  if (Array.isArray(own)) return { rows: own as TableRow[], changed: 0 }
  return { rows: [], changed: (own as { affectedRows?: number } | undefined)?.affectedRows ?? 0 }
}

function codeOf(error: unknown): unknown {
  return (error as { errno?: unknown }).errno
}
