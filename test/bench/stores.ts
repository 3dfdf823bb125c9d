/** The databases of the servers with limits and prices. */
import { createClient } from '@redis/client'
import { postgres } from 'modelhatch/postgres'
import { redis } from 'modelhatch/redis'
import type { StorageBundle } from 'modelhatch'
import { postgresPool, redisUrl } from '../servers.ts'
import type { Kind } from './subjects.ts'

interface Books {
  readonly storage: StorageBundle | undefined
  readonly close: () => Promise<void>
}

/** Storage in Postgres or Redis, or the gateway's own in memory. `name`: the schema or the key prefix. */
export async function booksOf(kind: Kind, name: string): Promise<Books> {
  if (kind === 'postgres') {
    const pool = postgresPool(10)
    return { storage: postgres(pool, { schema: name }), close: () => pool.end() }
  }
  if (kind === 'redis') {
    const client = createClient({ url: redisUrl })
    client.on('error', () => undefined)
    await client.connect()
    return { storage: redis(client, { prefix: name }), close: async () => client.destroy() }
  }
  return { storage: undefined, close: async () => undefined }
}

/** Deletes what the servers of a run have stored. */
export async function clear(kind: Kind, name: string): Promise<void> {
  if (kind === 'postgres') {
    const pool = postgresPool(1)
    await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
    await pool.end()
  }
  if (kind === 'redis') {
    const client = createClient({ url: redisUrl })
    await client.connect()
    for await (const keys of client.scanIterator({ MATCH: `*${name}*`, COUNT: 1_000 }))
      if (keys.length > 0) await client.unlink(keys)
    client.destroy()
  }
}
