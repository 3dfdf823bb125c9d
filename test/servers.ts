/**
 * The machine's database servers, for tests; each test uses names of its own. Without a server its tests are skipped, or
 * fail if MODELHATCH_REQUIRE_ALL is set.
 */
import { randomBytes } from 'node:crypto'
import { createClient } from '@redis/client'
import { Client, Pool } from 'pg'

const required = Boolean(process.env['MODELHATCH_REQUIRE_ALL'])

export const postgresUrl: string = process.env['MODELHATCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test'
export const redisUrl: string = process.env['MODELHATCH_REDIS'] ?? 'redis://127.0.0.1:6379'

async function answers(name: string, ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (required) throw new Error(`${name} is required here and does not answer`, { cause: error })
    return false
  }
}

/** Whether there is a Postgres: `describe.skipIf(!hasPostgres)`. */
export const hasPostgres: boolean = await answers('Postgres', async () => {
  const client = new Client({ connectionString: postgresUrl, connectionTimeoutMillis: 2_000 })
  await client.connect()
  await client.end()
})

export const hasRedis: boolean = await answers('Redis', async () => {
  const client = createClient({ url: redisUrl, socket: { connectTimeout: 2_000, reconnectStrategy: false } })
  client.on('error', () => undefined)
  await client.connect()
  client.destroy()
})

/** A unique prefix for names of tables and keys. */
export function ownName(): string {
  return `mh_${randomBytes(6).toString('hex')}_`
}

export function postgresPool(max = 5): Pool {
  const pool = new Pool({ connectionString: postgresUrl, max })
  pool.on('error', () => undefined)
  return pool
}

export interface RedisConnection {
  readonly send: (...words: string[]) => Promise<unknown>
  readonly close: () => void
}

export async function redisConnection(): Promise<RedisConnection> {
  const client = createClient({ url: redisUrl })
  client.on('error', () => undefined)
  await client.connect()
  return { send: (...words) => client.sendCommand(words), close: () => client.destroy() }
}
