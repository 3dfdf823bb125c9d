/** The SQL servers, with data of their own for each test, whose handles share one pool. */
import { describe } from 'vitest'
import { mysql } from '../adapters/stores/mysql/mysql.ts'
import { postgres } from '../adapters/stores/postgres/postgres.ts'
import type { StorageBundle } from '../src/index.ts'
import { dropTables, hasMysql, hasPostgres, mysqlPool, ownName, postgresPool } from './servers.ts'

export interface PooledDatabase {
  /** Opens another handle on the same data, as another process would. */
  readonly open: () => Required<StorageBundle>
  /** Deletes the data, and closes the pool. */
  readonly clear: () => Promise<void>
}

/** Describes what holds on each server. Its tests are skipped where this is not here. `%s` in the title: its name. */
export function describeOnPooled(title: string, tests: (connect: () => PooledDatabase) => void): void {
  describe.skipIf(!hasPostgres)(title.replace('%s', 'Postgres'), () => tests(onPostgres))
  describe.skipIf(!hasMysql)(title.replace('%s', 'MySQL'), () => tests(onMysql))
}

function onPostgres(): PooledDatabase {
  const [pool, schema] = [postgresPool(8), ownName()]
  return {
    open: () => postgres(pool, { schema }),
    clear: async () => {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await pool.end()
    },
  }
}

function onMysql(): PooledDatabase {
  const [pool, prefix] = [mysqlPool(8), ownName()]
  return {
    open: () => mysql(pool, { prefix }),
    clear: async () => {
      await dropTables(pool, prefix)
      await pool.end()
    },
  }
}
