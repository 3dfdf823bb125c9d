/** The host's pool, with the schema made before the first use. */
import { createHash } from 'node:crypto'
import { invalid } from '../../../src/errors.ts'
import { requireServed } from '../sql/code-version.ts'
import { creation, installedSql, missingOf, type Part } from './migration.ts'
import { Turns } from './turns.ts'
import { Upgrade } from './upgrade.ts'

/** The part of a pool or a client that is used. */
export interface Queryable {
  /** Runs one statement with its parameters. */
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
/**
 * Codes for a prepared statement that its connection does not know, or knows already, as behind a pooler; and for one whose
 * columns have changed since. From then on statements are sent as they are.
 */
const unpreparedCodes = new Set(['26000', '42P05', '0A000'])
/** Codes of values that cannot be stored, by their first two characters: data exceptions, limits of the program. */
const valueCodes = new Set(['22', '54'])
/** Codes for "there is no such": table, column, function. Somebody has changed or removed the schema. */
const changedCodes = new Set(['42P01', '42703', '42883'])

/** A statement in the schema. With a name it is one of a fixed set, worth preparing. */
interface Statement {
  readonly text: string
  readonly name?: string
}

export class Database {
  readonly #pool: Queryable
  readonly #schema: string
  readonly #parts: readonly Part[]
  readonly #turns: Turns
  /** Statements by their text, as they are sent. */
  readonly #statements = new Map<string, Statement>()
  #prepares: boolean
  #ready: Promise<unknown> | undefined
  #upgrade: Upgrade | undefined

  /** `prepares`: a `pg.Pool` may name statements. */
  constructor(pool: Queryable, schema: string, parts: readonly Part[], prepares: boolean) {
    if (typeof (pool as Partial<Queryable> | undefined)?.query !== 'function') {
      throw new TypeError('postgres: needs a pool or client with query(text, values), such as new pg.Pool()')
    }
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      throw new TypeError(`postgres: the schema "${schema}" must be of small letters, digits and "_"`)
    }
    this.#pool = pool
    this.#schema = schema
    this.#parts = parts
    this.#prepares = prepares
    const most = isPool(pool) ? (pool.options?.max ?? 10) : 1
    this.#turns = new Turns(Math.max(1, Math.floor(most / 2)))
    // Without a listener, an idle connection that dies takes the host's process with it.
    if (isPool(pool)) pool.on('error', () => undefined)
  }

  /** The rows of one statement, in which `@` stands for the schema. */
  async rows<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      const sent = this.#inSchema(text)
      // Named after its text: a connection that somebody else has used cannot know another statement by this name.
      const name = `modelhatch_${createHash('sha256').update(sent).digest('hex').slice(0, 32)}`
      this.#statements.set(text, (statement = { text: sent, name }))
    }
    return this.#run<Row>(statement, values, queryMs)
  }

  /** The same, for statements that may look at many rows: they have more time, and at most half of the connections. */
  async manyRows<Row>(text: string, values: unknown[]): Promise<readonly Row[]> {
    await (this.#ready ??= this.#prepare())
    return this.#turns.take(() => this.#run<Row>({ text: this.#inSchema(text) }, values, longQueryMs))
  }

  /** The result of one of the schema's functions, which give JSON. */
  async call<Result>(name: string, ...values: unknown[]): Promise<Result> {
    const places = values.map((_, index) => `$${index + 1}`).join(', ')
    return this.result<Result>(`SELECT @.${name}(${places}) AS result`, values)
  }

  /** The only `result` of a statement, which is JSON. */
  async result<Result>(text: string, values: unknown[]): Promise<Result> {
    const [row] = await this.rows<{ result: Result | string }>(text, values)
    // Some clients parse JSON, some leave it to us. What gives nothing gives no text.
    return (typeof row?.result === 'string' && row.result !== '' ? JSON.parse(row.result) : row?.result) as Result
  }

  #inSchema(text: string): string {
    return text.replaceAll('@.', `${this.#schema}.`)
  }

  async #run<Row>(statement: Statement, values: unknown[], ms: number): Promise<readonly Row[]> {
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
        if (unpreparedCodes.has(code)) this.#prepares = false
        if (tried === tries || !(retryCodes.has(code) || unpreparedCodes.has(code))) throw error
      }
    }
  }

  async #query({ text, name }: Statement, values: unknown[], ms: number): Promise<readonly unknown[]> {
    const pool = this.#pool
    if (!isPool(pool)) return (await pool.query(text, values)).rows
    const query = { text, values, query_timeout: ms, ...(this.#prepares && name !== undefined && { name }) }
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
      await this.#run({ text: this.#inSchema(creation(this.#schema, this.#parts)) }, [], longQueryMs)
      const installed = await this.#run<Installed>({ text: this.#inSchema(installedSql) }, [], queryMs)
      requireServed(`the schema "${this.#schema}"`, Math.max(...installed.map(({ serves }) => serves)))
      await this.#upgrade?.close()
      const run = (sql: string, values: unknown[] = []) =>
        this.#run({ text: this.#inSchema(sql) }, values, upgradeQueryMs)
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
