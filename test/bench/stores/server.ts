/** Opens the database under test, with plain commands as baselines. */
import { createClient, createCluster } from '@redis/client'
import { Pool } from 'pg'
import { mysql } from 'modelhatch/mysql'
import { postgres } from 'modelhatch/postgres'
import { redis, type RedisClient } from 'modelhatch/redis'
import type { StorageBundle } from '../../../src/index.ts'
import { dropTables, mysqlPool, postgresUrl } from '../../servers.ts'

export type Kind = 'memory' | 'postgres' | 'mysql' | 'redis' | 'redis-cluster'

export interface Server {
  readonly storage: StorageBundle | undefined
  /** Commands that calls are compared with, by name. Each resolves when the database has executed it. */
  readonly baselines: Readonly<Record<string, () => Promise<unknown>>>
  /** Microseconds of CPU time of each server so far. Only for servers that this benchmark has started. */
  cpu(): Promise<readonly number[]>
  /** The number of statements sent so far, of Postgres. */
  readonly statements?: () => number
  /** Deletes all data. */
  clear(): Promise<void>
  close(): Promise<void>
}

export interface Opening {
  readonly kind: Kind
  /** The Postgres schema, or the prefix of MySQL tables or Redis keys. */
  readonly name: string
  /** Options of the bundle. */
  readonly options: object
  /** The ports of the Redis servers that were started for the benchmark. */
  readonly ports: readonly number[]
  /** How many caps a call counts for. Default none. */
  readonly caps?: number
  /** `billing.journalMs`, unless its default. */
  readonly journalMs?: number
  /** How many gateways the process has, each with connections of its own. Default one. */
  readonly gateways?: number
}

export async function openServer({ kind, name, options, ports }: Opening): Promise<Server> {
  switch (kind) {
    case 'memory':
      return { storage: undefined, baselines: {}, cpu: async () => [], clear: nothing, close: nothing }
    case 'postgres': {
      const pool = new Pool({ connectionString: postgresUrl, max: 10 })
      pool.on('error', () => undefined)
      let statements = 0
      const query = pool.query.bind(pool) as (...args: unknown[]) => unknown
      pool.query = ((...args: unknown[]) => {
        statements++
        return query(...args)
      }) as never
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
        cpu: async () => [],
        statements: () => statements,
        clear: async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)),
        async close() {
          await storage.close()
          await pool.end()
        },
      }
    }
    case 'mysql': {
      const pool = mysqlPool(10)
      const storage = mysql(pool, { prefix: name, ...options })
      await storage.keys.find('')
      await pool.query(`CREATE TABLE IF NOT EXISTS ${name}_baseline (id bigint AUTO_INCREMENT PRIMARY KEY, text text)`)
      return {
        storage,
        baselines: {
          'INSERT, committed': () => pool.query(`INSERT INTO ${name}_baseline (text) VALUES (?)`, [name]),
          'SELECT 1': () => pool.query('SELECT 1'),
        },
        cpu: async () => [],
        clear: () => dropTables(pool, name),
        async close() {
          await storage.close()
          await pool.end()
        },
      }
    }
    case 'redis':
    case 'redis-cluster': {
      const urls = ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }))
      const nodes = await Promise.all(urls.map(connected))
      const cluster = kind === 'redis' ? undefined : createCluster({ rootNodes: urls })
      cluster?.on('error', () => undefined)
      await cluster?.connect()
      const client: RedisClient = cluster ?? (nodes[0] as RedisClient)
      return {
        storage: redis(client, { prefix: name, ...options }),
        baselines: {
          SET: async () => {
            const command = ['SET', `${name}:baseline`, name]
            return cluster === undefined
              ? nodes[0]?.sendCommand(command)
              : cluster.sendCommand(command[1], false, command)
          },
        },
        cpu: () => Promise.all(nodes.map(async (node) => microseconds(await node.sendCommand(['INFO', 'cpu'])))),
        clear: nothing,
        async close() {
          cluster?.destroy()
          for (const node of nodes) node.destroy()
        },
      }
    }
  }
}

async function nothing(): Promise<void> {}

async function connected({ url }: { readonly url: string }) {
  const client = createClient({ url })
  client.on('error', () => undefined)
  return client.connect()
}

function microseconds(info: unknown): number {
  const seconds = [...(info as string).matchAll(/used_cpu_(?:user|sys):([\d.]+)/g)].map(([, each]) => Number(each))
  return seconds.reduce((sum, each) => sum + each, 0) * 1e6
}
