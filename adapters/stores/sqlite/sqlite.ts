import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { StorageBundle } from '../index.ts'
import { sqlStores } from '../sql/stores.ts'
import { age, checkKnown, elsewhere } from '../../../src/records/known-options.ts'
import { Database } from './database.ts'
import { sqliteAdmission } from './admission.ts'
import { sqliteLedger } from './ledger.ts'
import { sqliteLimits } from './limits.ts'
import { tables } from './schema.ts'
import { sqliteSql } from './sql.ts'

/** Options of `sqlite`. */
export interface SqliteOptions {
  /**
   * What a completed write survives. `process`: a crash of the process. `full`: also a power failure, at the cost of a
   * disk sync per write. Default `process`.
   */
  readonly durability?: 'process' | 'full'
  /** Milliseconds for which stored responses are kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
}

/** All stores of a gateway in one SQLite file; see `sqlite`. */
export type SqliteStorage = Required<StorageBundle>

/**
 * Stores everything a gateway keeps in one SQLite file, through `node:sqlite`. For one machine: several processes on it may
 * share the file. The file and its tables are created on first use; expired rows are deleted in the background.
 *
 * Throws a `TypeError` for invalid options, or if the file's folder does not exist.
 *
 * @param file A path, or a `DatabaseSync` that the host configures and closes itself.
 * @example
 * ```ts
 * const gateway = createGateway({ storage: sqlite('gateway.db'), ...options })
 * ```
 */
export function sqlite(file: string | DatabaseSync, options: SqliteOptions = {}): SqliteStorage {
  const { durability = 'process', responseAgeMs = 30 * 86_400_000 } = options
  checkKnown('sqlite', options, { durability: elsewhere, responseAgeMs: age })
  if (durability !== 'process' && durability !== 'full') {
    throw new TypeError(`sqlite: the durability "${String(durability)}" must be "process" or "full"`)
  }
  if (typeof file === 'string') requireFolder(file)
  const database = new Database(file, durability, tables)
  const sql = sqliteSql(database)
  const limits = sqliteLimits(database)
  const ledger = sqliteLedger(database)
  const stores = sqlStores(sql, responseAgeMs)
  return {
    ...stores,
    limits,
    ledger,
    admission: sqliteAdmission(database, limits, ledger),
    async close() {
      // A running sweep would open the file again.
      await Promise.all([ledger.close(), stores.idempotency.close(), stores.responses.close()])
      database.close()
    },
  }
}

/** SQLite creates the file on first use, but not its folder. */
function requireFolder(file: string): void {
  if (file === '') throw new TypeError('sqlite: the path is empty. Is an environment variable unset?')
  if (file === ':memory:' || file.startsWith('file:')) return
  const folder = dirname(resolve(file))
  if (existsSync(folder)) return
  throw new TypeError(`sqlite: the folder "${folder}" of the file "${file}" does not exist. Create it first.`)
}
