/**
 * The machine's database servers, for tests; each test uses names of its own. Without a server its tests are skipped, or
 * fail if MODELHATCH_REQUIRE_ALL is set.
 */
import { randomBytes } from 'node:crypto'
import { createClient } from '@redis/client'
import { createPool as createMariadbPool, type Pool as MariadbPool, type PoolConfig as MariadbOptions } from 'mariadb'
import { createConnection, createPool, type Pool as MysqlPool } from 'mysql2/promise'
import { Client, Pool } from 'pg'

const required = Boolean(process.env['MODELHATCH_REQUIRE_ALL'])

/** A busy machine may need long for a server that must be there. */
const connectTimeout = required ? 30_000 : 2_000

export const postgresUrl: string = process.env['MODELHATCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test'
export const mysqlUrl: string = process.env['MODELHATCH_MYSQL'] ?? 'mysql://root@127.0.0.1:3306/test'
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
  const client = new Client({ connectionString: postgresUrl, connectionTimeoutMillis: connectTimeout })
  await client.connect()
  await client.end()
})

export const hasMysql: boolean = await answers('MySQL or MariaDB', async () => {
  const connection = await createConnection({ uri: mysqlUrl, connectTimeout })
  // The default of MariaDB is too small for the largest values that stores must keep. That of MySQL is this one.
  await connection.query('SET GLOBAL max_allowed_packet = greatest(@@GLOBAL.max_allowed_packet, 67108864)')
  await connection.end()
})

export const hasRedis: boolean = await answers('Redis', async () => {
  const client = createClient({ url: redisUrl, socket: { connectTimeout, reconnectStrategy: false } })
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

export function mysqlPool(max = 5): MysqlPool {
  return createPool({ uri: mysqlUrl, connectionLimit: max, multipleStatements: true })
}

/** A pool of the other client. */
export function mariadbPool(max = 5, options: MariadbOptions = { multipleStatements: true }): MariadbPool {
  const { hostname: host, port, username: user, password, pathname } = new URL(mysqlUrl)
  const database = pathname.slice(1)
  return createMariadbPool({
    host,
    port: Number(port || 3306),
    user,
    password,
    database,
    connectionLimit: max,
    ...options,
  })
}

/** Drops the tables with a prefix. */
export async function dropTables(pool: MysqlPool, prefix: string): Promise<void> {
  const connection = await pool.getConnection()
  try {
    const [tables] = await connection.query(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() AND left(table_name, ?) = ?',
      [prefix.length, prefix],
    )
    const names = (tables as { name: string }[]).map(({ name }) => name)
    await connection.query('SET foreign_key_checks = 0')
    if (names.length > 0) await connection.query(`DROP TABLE ${names.join(', ')}`)
    await connection.query('SET foreign_key_checks = 1')
  } finally {
    connection.release()
  }
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

/** Deletes the keys with a prefix. */
export async function dropKeys({ send }: Pick<RedisConnection, 'send'>, prefix: string): Promise<void> {
  const keys = (await send('KEYS', `{${prefix}:*`)) as string[]
  if (keys.length > 0) await send('DEL', ...keys)
}
