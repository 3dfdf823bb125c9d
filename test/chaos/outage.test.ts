/** A store that fails and recovers while the gateway is in use. */
import { createClient } from '@redis/client'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { mysql } from '../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../adapters/stores/redis/redis.ts'
import type { StorageBundle } from '../../src/index.ts'
import { heapUsed } from '../heap.ts'
import { askChat } from '../hosted.ts'
import { scene, whole } from '../admission/scene.ts'
import {
  dropKeys,
  dropTables,
  hasMysql,
  hasPostgres,
  hasRedis,
  mysqlPool,
  mysqlUrl,
  ownName,
  postgresPool,
  redisConnection,
} from '../servers.ts'
import { Proxy, type Mode } from './proxy.ts'
import { sampleOf } from '../long.ts'
import { calmly, slowness } from '../cpu-time.ts'

const requests = 200
/** Far below what a call may take when its store is away; more where other processes have their share of the machine. */
const storeMs = Math.ceil(400 * slowness())

interface Connection {
  readonly proxy: Proxy
  readonly storage: StorageBundle & Required<Pick<StorageBundle, 'ledger'>>
  end(): Promise<void>
}

async function postgresThroughProxy(): Promise<Connection> {
  const proxy = new Proxy(5432)
  const pool = new Pool({
    host: '127.0.0.1',
    port: await proxy.listen(),
    user: 'postgres',
    database: 'test',
    max: 10,
    connectionTimeoutMillis: 0.75 * storeMs,
  })
  const schema = ownName()
  return {
    proxy,
    storage: postgres(pool, { schema }),
    async end() {
      await proxy.close()
      await pool.end()
      const direct = postgresPool(1)
      await direct.query(`DROP SCHEMA ${schema} CASCADE`)
      await direct.end()
    },
  }
}

async function mysqlThroughProxy(): Promise<Connection> {
  const proxy = new Proxy(3306)
  const url = new URL(mysqlUrl)
  url.port = String(await proxy.listen())
  const pool = createPool({
    uri: url.href,
    connectionLimit: 10,
    multipleStatements: true,
    connectTimeout: 0.75 * storeMs,
  })
  const prefix = ownName()
  return {
    proxy,
    storage: mysql(pool, { prefix }),
    async end() {
      await proxy.close()
      // The connections that the outage has cut cannot be ended in order.
      await pool.end().catch(() => undefined)
      const direct = mysqlPool(1)
      await dropTables(direct, prefix)
      await direct.end()
    },
  }
}

async function redisThroughProxy(): Promise<Connection> {
  const proxy = new Proxy(6379)
  const socket = { host: '127.0.0.1', port: await proxy.listen(), reconnectStrategy: 100 }
  const client = createClient({ socket, disableOfflineQueue: true })
  client.on('error', () => undefined)
  await client.connect()
  const prefix = ownName()
  return {
    proxy,
    storage: redis((...words) => client.sendCommand(words), { prefix }),
    async end() {
      client.destroy()
      await proxy.close()
      const direct = await redisConnection()
      await dropKeys(direct, prefix)
      direct.close()
    },
  }
}

const outages: [string, Mode, boolean, () => Promise<Connection>][] = [
  ['Postgres', 'refuse', hasPostgres, postgresThroughProxy],
  ['Postgres', 'stop', hasPostgres, postgresThroughProxy],
  ['Postgres', 'lose', hasPostgres, postgresThroughProxy],
  ['MySQL', 'refuse', hasMysql, mysqlThroughProxy],
  ['MySQL', 'stop', hasMysql, mysqlThroughProxy],
  ['MySQL', 'lose', hasMysql, mysqlThroughProxy],
  ['Redis', 'refuse', hasRedis, redisThroughProxy],
  ['Redis', 'stop', hasRedis, redisThroughProxy],
]

describe('a store that is down', () => {
  const ends: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const end of ends) await end()
  })

  test.each(sampleOf(outages, 2))(
    '%s, %s: requests get a 503 without a vendor call, memory does not grow, and service returns as soon as connections do',
    async (_, mode, there, open) => {
      if (!there) return
      const connection = await open()
      ends.push(() => {
        connection.proxy.mode = 'pass'
        return connection.end()
      })
      const { ledger } = connection.storage
      await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
      const { url, vendor, receipts } = await scene(whole, {
        billing: { currency: 'CNY' },
        groups: { default: { models: '*', rate: { requests: '100000/min', concurrent: 1_000 } } },
        timeouts: { storeMs },
        // Keys come from the options, because this test is about money.
        keys: { 'sk-test': { account: 'acme' } },
        storage: connection.storage,
      })
      expect((await askChat(url)).status).toBe(200)

      connection.proxy.mode = mode
      const before = heapUsed()
      let slowest = 0
      for (let sent = 0; sent < requests; sent += 20) {
        const began = performance.now()
        const answers = await Promise.all(Array.from({ length: 20 }, async () => askChat(url)))
        slowest = Math.max(slowest, performance.now() - began)
        for (const answer of answers) {
          expect(answer.status).toBe(503)
          expect(answer.headers.get('retry-after')).toBe('1')
          await answer.body?.cancel()
        }
      }
      expect(vendor.requests).toHaveLength(1)
      expect(calmly(slowest - storeMs, 1_500)).toBeLessThan(1_500)
      expect(heapUsed() - before).toBeLessThan(10 * 1024 * 1024)

      connection.proxy.mode = 'pass'
      const began = performance.now()
      while ((await askChat(url)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
      // A lost connection reports no error. Stores abandon its statement after two seconds; that of Postgres then waits one second
      // more before it sends another, because the server may still execute the first one.
      const limitMs = mode === 'lose' ? 3_500 : 1_000
      expect(calmly(performance.now() - began, limitMs)).toBeLessThan(limitMs)

      // Holds placed during the outage are released, and only successful requests are charged.
      const settled = async () => {
        const { balances, holds, settlements, faults } = await ledger.audit()
        return { balances, holds, settlements, faults }
      }
      const paid = BigInt(receipts.length) * 30n
      await expect.poll(settled).toEqual({ balances: 1_000_000n - paid, holds: 0n, settlements: paid, faults: [] })
    },
    60_000,
  )

  test.runIf(hasRedis)(
    'limits in a Redis that is down, money elsewhere: paid requests continue and are charged',
    async () => {
      const connection = await redisThroughProxy()
      ends.push(() => connection.end())
      const { url, vendor, ledger, receipts } = await scene(whole, {
        billing: { currency: 'CNY' },
        limits: { whenDown: 'local' },
        groups: { default: { models: '*', rate: { requests: '100000/min', concurrent: 1_000 } } },
        timeouts: { storeMs },
        storage: { ...(connection.storage.limits && { limits: connection.storage.limits }) },
      })
      await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
      for (const mode of ['pass', 'refuse', 'stop', 'pass'] as const) {
        connection.proxy.mode = mode
        for (let round = 0; round < 3; round++) {
          const answers = await Promise.all(Array.from({ length: 10 }, async () => askChat(url)))
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
          for (const answer of answers) await answer.body?.cancel()
        }
      }
      expect(vendor.requests).toHaveLength(120)
      await expect.poll(() => receipts.length).toBe(120)
      const settled = async () => {
        const { holds, settlements, faults } = await ledger.audit()
        return { holds, settlements, faults }
      }
      await expect.poll(settled).toEqual({ holds: 0n, settlements: 3_600n, faults: [] })
    },
  )
})
