import type { StorageBundle } from '../index.ts'
import { sqlStores } from '../sql/stores.ts'
import { age, checkKnown, count, flag, text, timer, type Rule } from '../../../src/records/known-options.ts'
import { Calls } from './calls.ts'
import { Database, type Queryable } from './database.ts'
import { batchedAdmission } from '../batched-admission.ts'
import { postgresLedger } from './ledger.ts'
import { postgresLimits } from './limits.ts'
import { tables } from './schema.ts'

export type { Queryable } from './database.ts'

/** Options of `postgres`. */
export interface PostgresOptions {
  /** The schema of the tables: lower-case letters, digits and `_`. Default `modelhatch`. */
  readonly schema?: string
  /** Milliseconds for which stored responses are kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
  /**
   * Whether a request waits until its hold is on disk. `full`: it waits. `relaxed`: it does not, which allows several times
   * as many requests a second with a shorter wait. If the database server then crashes (not the gateway), holds of the last
   * second may be lost: these requests are still charged when they end, but may take the balance below zero. Charges,
   * credits, video tasks and stored responses are always on disk before they are confirmed. Default `relaxed`.
   */
  readonly durability?: 'full' | 'relaxed'
  /**
   * Whether a `pg.Pool` prepares each statement once per connection. Set it to false behind a transaction pooler that does
   * not support prepared statements, such as PgBouncer before 1.21 or with `max_prepared_statements = 0`. Default true.
   */
  readonly preparedStatements?: boolean
  /**
   * Maximum number of connections of a `pg.Pool` that are used at once, so that many processes together do not exceed the
   * `max_connections` of the server; an upgrade of the tables takes one more. Default 2, at most the pool's `max`.
   */
  readonly connections?: number
  /** Milliseconds for which a call waits for a connection, and for its statement. `timeouts.storeMs` limits both together. Default 2,000. */
  readonly statementMs?: number
}

const durabilities: Rule = {
  is: (value) => value === 'full' || value === 'relaxed',
  must: "must be 'full' or 'relaxed'",
}

/** All stores, in one Postgres schema. */
export type PostgresStorage = Required<StorageBundle>

/**
 * Stores everything a gateway keeps in one Postgres schema, through a `pg.Pool`, a PGlite or anything else with
 * `query(text, values)`. The host opens and closes the pool. The tables are created and upgraded on first use, also by several
 * processes at once; expired rows are deleted in the background. Every call is one statement, so a transaction pooler works.
 * Throws a `TypeError` for invalid arguments or options.
 *
 * Set `connectionTimeoutMillis` of a `pg.Pool`, to 2,000 for example: without it, a server that accepts connections but never
 * responds blocks the pool's connections for ever.
 *
 * @example
 * ```ts
 * const pool = new Pool({ connectionString, connectionTimeoutMillis: 2_000 })
 * const gateway = createGateway({ storage: postgres(pool), ...options })
 * ```
 */
export function postgres(pool: Queryable, options: PostgresOptions = {}): PostgresStorage {
  checkKnown('postgres', options, {
    schema: text,
    responseAgeMs: age,
    durability: durabilities,
    preparedStatements: flag,
    connections: count,
    statementMs: timer,
  })
  const {
    schema = 'modelhatch',
    responseAgeMs = 30 * 86_400_000,
    durability = 'relaxed',
    preparedStatements = true,
    connections = 2,
    statementMs = 2_000,
  } = options
  const database = new Database(pool, { schema, preparedStatements, connections, statementMs }, tables)
  const calls = new Calls(database, durability === 'full')
  const limits = postgresLimits(database, calls)
  const ledger = postgresLedger(database, calls)
  return {
    ...sqlStores(calls.sql, responseAgeMs),
    limits,
    ledger,
    admission: batchedAdmission(calls, limits, ledger),
    close: () => database.close(),
  }
}
