/** The host's pool, with the schema made before the first use. */
import { migration, type Part } from './migration.ts'

/** The part of a pool or a client that is used. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A `pg.Pool`, told by what only it has. */
interface Pool extends Queryable {
  readonly totalCount: number
  on(event: 'error', listener: () => void): unknown
}

/**
 * Milliseconds after which `pg` gives up a query, and with it a connection that may be dead: for those that a call waits
 * for, and for those that read much.
 */
const queryMs = 2_000
const longQueryMs = 60_000

/** Codes for "try again": serialization failure, deadlock. */
const retryCodes = new Set(['40001', '40P01'])
const tries = 4

export class Database {
  readonly #pool: Queryable
  readonly #schema: string
  readonly #parts: readonly Part[]
  #ready: Promise<unknown> | undefined

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
    // Without a listener, an idle connection that dies takes the host's process with it.
    if (isPool(pool)) pool.on('error', () => undefined)
  }

  /** The rows of one statement, in which `@` stands for the schema. */
  async rows<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    await (this.#ready ??= this.#migrate())
    return this.#run<Row>(text, values, queryMs)
  }

  /** The same, for statements that may look at many rows. */
  async manyRows<Row>(text: string, values: unknown[]): Promise<readonly Row[]> {
    await (this.#ready ??= this.#migrate())
    return this.#run<Row>(text, values, longQueryMs)
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
        if (tried === tries || !retryCodes.has((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

  async #query(text: string, values: unknown[], ms: number): Promise<readonly unknown[]> {
    const pool = this.#pool
    if (!isPool(pool)) return (await pool.query(text, values)).rows
    const query = { text, values, query_timeout: ms }
    return (await pool.query(query as unknown as string)).rows
  }

  async #migrate(): Promise<void> {
    try {
      for (const statement of migration(this.#schema, this.#parts)) await this.#run(statement, [], longQueryMs)
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }
}

function isPool(pool: Queryable): pool is Pool {
  return typeof (pool as Partial<Pool>).totalCount === 'number' && typeof (pool as Partial<Pool>).on === 'function'
}
