import type { StorageBundle } from '../index.ts'
import { sqlStores } from '../sql/stores.ts'
import { age, checkKnown, count, text, timer } from '../../../src/records/known-options.ts'
import { batchedAdmission } from '../batched-admission.ts'
import { Calls } from './calls.ts'
import { Database, type MysqlPool } from './database.ts'
import { mysqlLedger } from './ledger.ts'
import { mysqlLimits } from './limits.ts'
import { tables } from './schema.ts'
import { mysqlSql } from './sql.ts'

export type { MysqlConnection, MysqlPool } from './database.ts'

/** Options of `mysql`. */
export interface MysqlOptions {
  /** The first part of the names of the tables: at most 32 lower-case letters, digits and `_`. Default `modelhatch`. */
  readonly prefix?: string
  /** Milliseconds for which stored responses are kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
  /**
   * Maximum number of connections of the pool that are used at once, so that many processes together do not exceed the
   * `max_connections` of the server. Default 3.
   */
  readonly connections?: number
  /** Milliseconds for which a call waits for a connection, and for its statement. `timeouts.storeMs` limits both together. Default 2,000. */
  readonly statementMs?: number
}

/** All stores, in the tables of one MySQL or MariaDB database. */
export type MysqlStorage = Required<StorageBundle>

/**
 * Stores everything a gateway keeps in tables of one MySQL or MariaDB database, through a pool of `mysql2` or `mariadb`. The host
 * opens and closes the pool. The tables are created on first use, also by several processes at once; expired rows are deleted
 * in the background. Throws a `TypeError` for invalid arguments or options; `gateway.ready()` rejects if the connections have
 * settings under which data would be changed or lost.
 *
 * Give it a pool of its own: transactions set variables of their session, and return them to the defaults of the server. Set
 * `connectTimeout` of the pool, to 2,000 for example.
 *
 * @example
 * ```ts
 * const pool = createPool({ uri, connectTimeout: 2_000 }) // of mysql2/promise
 * const gateway = createGateway({ storage: mysql(pool), ...options })
 * ```
 */
export function mysql(pool: MysqlPool, options: MysqlOptions = {}): MysqlStorage {
  checkKnown('mysql', options, { prefix: text, responseAgeMs: age, connections: count, statementMs: timer })
  const { prefix = 'modelhatch', responseAgeMs = 30 * 86_400_000, connections = 3, statementMs = 2_000 } = options
  const database = new Database(pool, { prefix, connections, statementMs }, tables)
  const sql = mysqlSql(database)
  const calls = new Calls(database)
  const limits = mysqlLimits(database, calls)
  const ledger = mysqlLedger(database, sql, calls)
  const stores = sqlStores(sql, responseAgeMs)
  return {
    ...stores,
    limits,
    ledger,
    admission: batchedAdmission(calls, limits, ledger),
    async close() {
      await Promise.all([ledger.close(), stores.idempotency.close(), stores.responses.close()])
    },
  }
}
