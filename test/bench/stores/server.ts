/** The database under load, and what it does when nothing of a gateway is in the way. */
import { createClient } from '@redis/client'
import { Pool } from 'pg'
import { postgres } from 'modelhatch/postgres'
import { redis } from 'modelhatch/redis'
import type { StorageBundle } from '../../../src/index.ts'
import { postgresUrl, redisUrl } from '../../servers.ts'

export type Kind = 'memory' | 'postgres' | 'redis'

export interface Server {
  readonly storage: StorageBundle | undefined
  /** By name, what a call is compared with: one command, answered when the database has done it. */
  readonly baselines: Readonly<Record<string, () => Promise<unknown>>>
  /** Removes what was stored. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** `name`: of the schema, or the prefix of all keys. `options`: of the bundle. */
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
