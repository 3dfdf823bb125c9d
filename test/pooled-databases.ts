/** The servers, with data of their own for each test, whose handles share one pool or connection. */
import { describe } from 'vitest'
import { mysql } from '../adapters/stores/mysql/mysql.ts'
import { postgres } from '../adapters/stores/postgres/postgres.ts'
import { redis } from '../adapters/stores/redis/redis.ts'
import type { StorageBundle } from '../src/index.ts'
import type { Opened } from './bundles.ts'
import {
  dropKeys,
  dropTables,
  hasMysql,
  hasPostgres,
  hasRedis,
  mysqlPool,
  ownName,
  postgresPool,
  redisConnection,
} from './servers.ts'
import { statementMs } from './patience.ts'

export interface PooledDatabase {
  /** Opens another handle on the same data, as another process would. */
  readonly open: () => Opened['storage'] & Pick<StorageBundle, 'close'>
  /** Deletes the data, and closes the pool. */
  readonly clear: () => Promise<void>
}

/** Describes what holds on each server. Its tests are skipped where this is not here. `%s` in the title: its name. */
export function describeOnPooled(title: string, tests: (connect: () => PooledDatabase) => void): void {
  describe.skipIf(!hasPostgres)(title.replace('%s', 'Postgres'), () => tests(onPostgres))
  describe.skipIf(!hasMysql)(title.replace('%s', 'MySQL'), () => tests(onMysql))
  describe.skipIf(!hasRedis)(title.replace('%s', 'Redis'), () => tests(onRedis))
}

function onPostgres(): PooledDatabase {
  const [pool, schema] = [postgresPool(8), ownName()]
  return {
    open: () => postgres(pool, { schema, statementMs }),
    clear: async () => {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await pool.end()
    },
  }
}

function onMysql(): PooledDatabase {
  const [pool, prefix] = [mysqlPool(8), ownName()]
  return {
    open: () => mysql(pool, { prefix, statementMs }),
    clear: async () => {
      await dropTables(pool, prefix)
      await pool.end()
    },
  }
}

function onRedis(): PooledDatabase {
  const [connection, prefix] = [redisConnection(), ownName()]
  const send = async (...words: string[]) => (await connection).send(...words)
  return {
    open: () => redis(send, { prefix }),
    clear: async () => {
      await dropKeys({ send }, prefix)
      ;(await connection).close()
    },
  }
}
