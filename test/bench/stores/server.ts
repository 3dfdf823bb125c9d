/** Opens the database under test, with plain commands as baselines. */
import { createClient } from '@redis/client'
import { Pool } from 'pg'
import { postgres } from 'modelhatch/postgres'
import { redis } from 'modelhatch/redis'
import type { StorageBundle } from '../../../src/index.ts'
import { postgresUrl, redisUrl } from '../../servers.ts'

export type Kind = 'memory' | 'postgres' | 'redis'

export interface Server {
  readonly storage: StorageBundle | undefined
  /** Commands that calls are compared with, by name. Each resolves when the database has executed it. */
  readonly baselines: Readonly<Record<string, () => Promise<unknown>>>
  /** Deletes all data. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** `name` is the Postgres schema or the Redis key prefix; `options` are those of the bundle. */
export async function openServer(kind: Kind, name: string, options: object): Promise<Server> {
  switch (kind) {
    case 'memory':
      return { storage: undefined, baselines: {}, clear: async () => undefined, close: async () => undefined }
    case 'postgres': {
      const pool = new Pool({ connectionString: postgresUrl, max: 10 })
      pool.on('error', () => undefined)
      const storage = postgres(pool, { schema: name, ...options })
      await storage.keys.find('')
      await pool.query(
        `CREATE TABLE IF NOT EXISTS ${name}.baseline (id bigint GENERATED ALWAYS AS IDENTITY, text text)`,
      )
      return {
        storage,
        baselines: {
          'INSERT, committed': () => pool.query(`INSERT INTO ${name}.baseline (text) VALUES ($1)`, [name]),
          'SELECT 1': () => pool.query('SELECT 1'),
        },
        clear: async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)),
        async close() {
          await storage.close()
          await pool.end()
        },
      }
    }
    case 'redis': {
      const client = createClient({ url: redisUrl })
      client.on('error', () => undefined)
      await client.connect()
      return {
        storage: redis(client, { prefix: name, ...options }),
        baselines: { SET: () => client.sendCommand(['SET', `${name}:baseline`, name]) },
        async clear() {
          for await (const keys of client.scanIterator({ MATCH: `*${name}*`, COUNT: 1_000 }))
            if (keys.length > 0) await client.unlink(keys)
        },
        close: async () => client.destroy(),
      }
    }
  }
}
