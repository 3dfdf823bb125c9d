/** Opens shared storage by name, so that a test and its child processes use the same data. */
import { mysql } from '../adapters/stores/mysql/mysql.ts'
import { postgres } from '../adapters/stores/postgres/postgres.ts'
import { redis } from '../adapters/stores/redis/redis.ts'
import { sqlite } from '../adapters/stores/sqlite/sqlite.ts'
import type { StorageBundle } from '../src/index.ts'
import { dropKeys, dropTables, mysqlPool, postgresPool, redisConnection } from './servers.ts'
import { statementMs } from './patience.ts'

export type Kind = 'SQLite' | 'Postgres' | 'MySQL' | 'Redis'

export interface Place {
  readonly kind: Kind
  /** The path of the SQLite file, the name of the Postgres schema, or the prefix of MySQL tables or Redis keys. */
  readonly name: string
  readonly responseAgeMs?: number
}

export interface Opened {
  readonly storage: StorageBundle & Required<Omit<StorageBundle, 'usage' | 'content' | 'contentKeys' | 'close'>>
  /** Deletes all data. Does nothing for SQLite, where the test deletes the file. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openBundle({ kind, name, ...options }: Place): Promise<Opened> {
  switch (kind) {
    case 'SQLite': {
      const storage = sqlite(name, options)
      return { storage, clear: async () => undefined, close: async () => storage.close() }
    }
    case 'Postgres': {
      const pool = postgresPool(8)
      return {
        storage: postgres(pool, { schema: name, statementMs, ...options }),
        clear: async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)),
        close: () => pool.end(),
      }
    }
    case 'MySQL': {
      const pool = mysqlPool(8)
      const storage = mysql(pool, { prefix: name, statementMs, ...options })
      // On a busy disk, the tables take longer to make than a request may wait.
      await storage.keys.find('')
      return {
        storage,
        clear: () => dropTables(pool, name),
        close: () => pool.end(),
      }
    }
    case 'Redis': {
      const connection = await redisConnection()
      return {
        storage: redis(connection.send, { prefix: name, ...options }),
        clear: () => dropKeys(connection, name),
        close: async () => connection.close(),
      }
    }
  }
}
