/** The host's pool, with the schema made before the first use. */
import { invalid } from '../../../src/errors.ts'
import { requireServed } from '../sql/code-version.ts'
import { creation, installedSql, missingOf, type Part } from './migration.ts'
import { Turns } from './turns.ts'
import { Upgrade } from './upgrade.ts'

/** The part of a pool or a client that is used. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A `pg.Pool`, told by what only it has. */
interface Pool extends Queryable {
  readonly totalCount: number
  readonly options?: { readonly max?: number }
  on(event: 'error', listener: () => void): unknown
}

/**
 * Milliseconds after which `pg` gives up a query, and with it a connection that may be dead: for those that a call waits
 * for, and for those that read much.
 */
const queryMs = 2_000
const longQueryMs = 60_000
/** For steps of an upgrade. One that is given up goes on in the server, and is found there. */
const upgradeQueryMs = 600_000

/** Codes for "try again": serialization failure, deadlock. */
const retryCodes = new Set(['40001', '40P01'])
const tries = 4
/** Codes of values that cannot be stored, by their first two characters: data exceptions, limits of the program. */
const valueCodes = new Set(['22', '54'])
/** Codes for "there is no such": table, column, function. Somebody has changed or removed the schema. */
const changedCodes = new Set(['42P01', '42703', '42883'])

export class Database {
  readonly #pool: Queryable
  readonly #schema: string
  readonly #parts: readonly Part[]
  readonly #turns: Turns
  #ready: Promise<unknown> | undefined
  #upgrade: Upgrade | undefined

  constructor(pool: Queryable, schema: string, parts: readonly Part[]) {
    if (typeof (pool as Partial<Queryable> | undefined)?.query !== 'function') {
      throw new TypeError('postgres: needs a pool or client with query(text, values), such as new pg.Pool()')
    }
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      throw new TypeError(`postgres: the schema "${schema}" must be of small letters, digits and "_"`)
    }
    this.#pool = pool
    this.#schema = schema
    this.#parts = parts
    const most = isPool(pool) ? (pool.options?.max ?? 10) : 1
    this.#turns = new Turns(Math.max(1, Math.floor(most / 2)))
    // Without a listener, an idle connection that dies takes the host's process with it.
    if (isPool(pool)) pool.on('error', () => undefined)
  }

  /** The rows of one statement, in which `@` stands for the schema. */
  async rows<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    return this.#run<Row>(text, values, queryMs)
  }

  /** The same, for statements that may look at many rows: they have more time, and at most half of the connections. */
  async manyRows<Row>(text: string, values: unknown[]): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    return this.#turns.take(() => this.#run<Row>(text, values, longQueryMs))
  }

  /** The result of one of the schema's functions, which give JSON. */
  async call<Result>(name: string, ...values: unknown[]): Promise<Result> {
    const places = values.map((_, index) => `$${index + 1}`).join(', ')
    const [row] = await this.rows<{ result: Result | string }>(`SELECT @.${name}(${places}) AS result`, values)
    // Some clients parse JSON, some leave it to us. What gives nothing gives no text.
    return (typeof row?.result === 'string' && row.result !== '' ? JSON.parse(row.result) : row?.result) as Result
  }

  async #run<Row>(text: string, values: unknown[], ms: number): Promise<readonly Row[]> {
    const statement = text.replaceAll('@.', `${this.#schema}.`)
    for (let tried = 1; ; tried++) {
      try {
        return (await this.#query(statement, values, ms)) as readonly Row[]
      } catch (error) {
        const { code = '' } = error as { code?: string }
        // The next call finds out what has become of the schema.
        if (changedCodes.has(code)) this.#ready = undefined
        // The database has answered: it is not down, and asking again would change nothing.
        if (valueCodes.has(code.slice(0, 2)))
          throw invalid('A value is out of range, too long or not a text.', undefined, error)
        if (tried === tries || !retryCodes.has(code)) throw error
      }
    }
  }

  async #query(text: string, values: unknown[], ms: number): Promise<readonly unknown[]> {
    const pool = this.#pool
    if (!isPool(pool)) return (await pool.query(text, values)).rows
    const query = { text, values, query_timeout: ms }
    return (await pool.query(query as unknown as string)).rows
  }

  /** Resolves when the schema has this version of a part; until then it is brought up to date behind the calls. */
  async has(part: string, version: number): Promise<void> {
    await (this.#ready ??= this.#prepare())
    await this.#upgrade?.has(part, version)
  }

  /** Ends the upgrade of the schema, which goes on with the next use. */
  async close(): Promise<void> {
    const upgrade = this.#upgrade
    this.#upgrade = undefined
    this.#ready = undefined
    await upgrade?.close()
  }

  async #prepare(): Promise<void> {
    try {
      await this.#run(creation(this.#schema, this.#parts), [], longQueryMs)
      const installed = await this.#run<Installed>(installedSql, [], queryMs)
      requireServed(`the schema "${this.#schema}"`, Math.max(...installed.map(({ serves }) => serves)))
      await this.#upgrade?.close()
      const run = (sql: string, values: unknown[] = []) => this.#run(sql, values, upgradeQueryMs)
      this.#upgrade = new Upgrade(run, missingOf(this.#parts, installed))
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }
}

interface Installed {
  readonly part: string
  readonly version: number
  readonly serves: number
}

function isPool(pool: Queryable): pool is Pool {
  return typeof (pool as Partial<Pool>).totalCount === 'number' && typeof (pool as Partial<Pool>).on === 'function'
}
