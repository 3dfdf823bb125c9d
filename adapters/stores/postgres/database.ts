/** Runs statements through the host's pool, and creates the schema before the first one. */
import { createHash } from 'node:crypto'
import { invalid } from '../../../src/errors.ts'
import { changes, requireUsable, unknownLayout, type Change, type Layout } from '../layout.ts'
import { creation } from './migration.ts'
import { StatementSlots } from '../statement-slots.ts'
import { Upgrade } from './upgrade.ts'

/** The part of a database pool or client that `postgres` uses. A `pg.Pool` and a PGlite fit as they are. */
export interface Queryable {
  /** Runs one statement with its parameters. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A `pg.Pool`, recognised by its `totalCount` and `on`. */
interface Pool extends Queryable {
  readonly totalCount: number
  readonly options?: { readonly max?: number }
  on(event: 'error', listener: () => void): unknown
}

/** Milliseconds after which `pg` abandons a query that may read many rows, because its connection may be dead. */
const longQueryMs = 60_000
/** The same for steps of an upgrade. The server continues an abandoned index build, which the next attempt detects. */
const upgradeQueryMs = 600_000

/** SQLSTATE codes after which a statement is repeated: serialization failure, deadlock. */
const retryCodes = new Set(['40001', '40P01'])
const maxAttempts = 4
/**
 * Codes for a prepared statement that the connection does not know, or already knows, as behind a transaction pooler; and
 * for one whose result columns have changed. From then on, statements are sent unprepared.
 */
const unpreparedCodes = new Set(['26000', '42P05', '0A000'])
/** Classes (first two characters) of the codes for values that cannot be stored: data exception, program limit exceeded. */
const valueCodes = new Set(['22', '54'])
/** Codes for a table or a function that already exists. */
const existingCodes = new Set(['42P07', '42723'])
/** Codes for an undefined table, column or function: the schema was changed or removed. */
const changedCodes = new Set(['42P01', '42703', '42883'])

/** A statement with its schema name filled in. Only statements of a fixed set have a name, under which they are prepared. */
interface Statement {
  readonly text: string
  readonly name?: string
}

/** As of `PostgresOptions`. */
interface DatabaseOptions {
  readonly schema: string
  readonly preparedStatements: boolean
  readonly connections: number
  readonly statementMs: number
}

/** Creates and upgrades the schema on first use. Statements are repeated after errors that another attempt can solve. */
export class Database {
  readonly #pool: Queryable
  readonly #schema: string
  /** As of `PostgresOptions`. */
  readonly statementMs: number
  readonly #longMs: number
  readonly #tables: string
  readonly #changes: readonly Change[]
  /** For all statements but those of upgrades, and for those of them that may read many rows. */
  readonly #slots: StatementSlots
  readonly #longSlots: StatementSlots
  /** The statements to send, by their text before the schema is filled in. */
  readonly #statements = new Map<string, Statement>()
  #prepares: boolean
  #ready: Promise<unknown> | undefined
  #upgrade: Upgrade | undefined

  /**
   * `tables`: those of version 1. `upgrades`: their changes since.
   * Throws a `TypeError` for an invalid pool or schema.
   */
  constructor(
    pool: Queryable,
    { schema, preparedStatements, connections, statementMs }: DatabaseOptions,
    tables: string,
    upgrades: readonly Change[] = changes,
  ) {
    if (typeof (pool as Partial<Queryable> | undefined)?.query !== 'function') {
      throw new TypeError('postgres: needs a pool or client with query(text, values), such as new pg.Pool()')
    }
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      throw new TypeError(`postgres: the schema "${schema}" must be of lower-case letters, digits and "_"`)
    }
    this.#pool = pool
    this.#schema = schema
    this.#tables = tables
    this.#changes = upgrades
    this.#prepares = preparedStatements
    this.statementMs = statementMs
    this.#longMs = Math.max(longQueryMs, statementMs)
    const most = isPool(pool) ? Math.min(connections, pool.options?.max ?? 10) : Infinity
    this.#slots = new StatementSlots(most)
    this.#longSlots = new StatementSlots(isPool(pool) ? Math.max(1, Math.floor(most / 2)) : 1)
    // Without a listener, the error of an idle connection would end the host's process.
    if (isPool(pool)) pool.on('error', () => undefined)
  }

  /** The rows of one statement. `@.` in its text is replaced by the schema; the text is one of a fixed set. */
  async rows<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      const filled = this.#inSchema(text)
      // A hash of the text, so that no connection knows another statement by the same name.
      const name = `modelhatch_${createHash('sha256').update(filled).digest('hex').slice(0, 32)}`
      this.#statements.set(text, (statement = { text: filled, name }))
    }
    const sent = statement
    return this.#slots.take(() => this.#run<Row>(sent, values, this.statementMs), this.statementMs, restMsAfter)
  }

  /** The same for statements that may read many rows: they have more time, and at most half of the connections. */
  async manyRows<Row>(text: string, values: unknown[]): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    const run = () => this.#run<Row>({ text: this.#inSchema(text) }, values, this.#longMs)
    return this.#longSlots.take(() => this.#slots.take(run, this.#longMs, restMsAfter), this.#longMs)
  }

  /** Calls one of the schema's functions that return JSON. Resolves to the parsed result. */
  async call<Result>(name: string, ...values: unknown[]): Promise<Result> {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ')
    return this.result<Result>(`SELECT @.${name}(${parameters}) AS result`, values)
  }

  /** Runs a statement that returns one row with JSON in `result`, and resolves to it, parsed. */
  async result<Result>(text: string, values: unknown[]): Promise<Result> {
    const [row] = await this.rows<{ result: Result | string }>(text, values)
    // Not every client parses JSON. A function that returns void has an empty text.
    return (typeof row?.result === 'string' && row.result !== '' ? JSON.parse(row.result) : row?.result) as Result
  }

  #inSchema(text: string): string {
    return text.replaceAll('@.', `${this.#schema}.`)
  }

  async #run<Row>(statement: Statement, values: unknown[], ms: number): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#query(statement, values, ms)) as readonly Row[]
      } catch (error) {
        const { code = '' } = error as { code?: string }
        // The next call creates the schema again, or reports why it cannot be used.
        if (changedCodes.has(code)) this.#ready = undefined
        // Invalid input rather than an outage: another attempt would fail in the same way.
        if (valueCodes.has(code.slice(0, 2)))
          throw invalid('A value is out of range, too long or not a text.', undefined, error)
        if (unpreparedCodes.has(code)) this.#prepares = false
        if (attempt === maxAttempts || !(retryCodes.has(code) || unpreparedCodes.has(code))) throw error
      }
    }
  }

  async #query({ text, name }: Statement, values: unknown[], ms: number): Promise<readonly unknown[]> {
    const pool = this.#pool
    if (!isPool(pool)) return (await pool.query(text, values)).rows
    const query = { text, values, query_timeout: ms, ...(this.#prepares && name !== undefined && { name }) }
    return (await pool.query(query as unknown as string)).rows
  }

  /** Resolves once the tables have this version. The upgrade runs in the background. */
  async has(version: number): Promise<void> {
    await (this.#ready ??= this.#prepare())
    await this.#upgrade?.has(version)
  }

  /** Stops the upgrade of the schema; the next use resumes it. */
  async close(): Promise<void> {
    const upgrade = this.#upgrade
    this.#upgrade = undefined
    this.#ready = undefined
    await upgrade?.close()
  }

  async #prepare(): Promise<void> {
    try {
      const found = await this.#layout()
      await this.#upgrade?.close()
      const run = (sql: string, values: unknown[] = []) =>
        this.#run({ text: this.#inSchema(sql) }, values, upgradeQueryMs)
      this.#upgrade = new Upgrade(run, found.version, this.#changes)
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  /** Creates the tables if there are none. Rejects if they have a layout that this code cannot use. */
  async #layout(): Promise<Layout> {
    const what = `the schema "${this.#schema}"`
    const remedy = 'pass another `schema` to postgres(), or drop or rename this one'
    try {
      await this.#run({ text: this.#inSchema(creation(this.#schema, this.#tables, this.#changes)) }, [], this.#longMs)
    } catch (error) {
      const { code = '', message = '' } = error as { code?: string; message?: string }
      if (!existingCodes.has(code)) throw error
      throw unknownLayout(what, `no layout version, and tables of its own (${message})`, remedy)
    }
    const text =
      this.#inSchema(`SELECT coalesce(max(version), 0)::int AS version, coalesce(max(serves), 0)::int AS serves
      FROM @.modelhatch_layout`)
    const [found] = await this.#run<Layout>({ text }, [], this.statementMs)
    requireUsable(what, found as Layout, { version: this.#changes.length + 1, oldest: 1, remedy })
    return found as Layout
  }
}

/** Milliseconds for which the server may continue a statement that `pg` has abandoned: no other takes its place until then. */
function restMsAfter(error: unknown): number {
  return (error as { message?: unknown }).message === 'Query read timeout' ? 1_000 : 0
}

function isPool(pool: Queryable): pool is Pool {
  return typeof (pool as Partial<Pool>).totalCount === 'number' && typeof (pool as Partial<Pool>).on === 'function'
}
