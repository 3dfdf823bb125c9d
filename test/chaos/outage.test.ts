/** A store that goes away and comes back, under a gateway that is in use. */
import { createClient } from '@redis/client'
import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../adapters/stores/redis/redis.ts'
import type { StorageBundle } from '../../src/index.ts'
import { heapUsed } from '../heap.ts'
import { askChat } from '../hosted.ts'
import { scene, whole } from '../admission/scene.ts'
import { hasPostgres, hasRedis, ownName, postgresPool, redisConnection } from '../servers.ts'
import { Proxy, type Mode } from './proxy.ts'
import { sampleOf } from '../long.ts'
import { calmly, slowness } from '../cpu-time.ts'

const requests = 200
/** Far below what a call may take when its store is away; more where other processes have their share of the machine. */
const storeMs = Math.ceil(400 * slowness())

interface Line {
  readonly proxy: Proxy
  readonly storage: StorageBundle & Required<Pick<StorageBundle, 'ledger'>>
  end(): Promise<void>
}

async function postgresLine(): Promise<Line> {
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

async function redisLine(): Promise<Line> {
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
      const keys = (await direct.send('KEYS', `{${prefix}}*`)) as string[]
      if (keys.length > 0) await direct.send('DEL', ...keys)
      direct.close()
    },
  }
}

const lines: [string, Mode, boolean, () => Promise<Line>][] = [
  ['Postgres', 'refuse', hasPostgres, postgresLine],
  ['Postgres', 'stop', hasPostgres, postgresLine],
  ['Postgres', 'lose', hasPostgres, postgresLine],
  ['Redis', 'refuse', hasRedis, redisLine],
  ['Redis', 'stop', hasRedis, redisLine],
]

describe('a store that is away', () => {
  const ends: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const end of ends) await end()
  })

  test.each(sampleOf(lines, 2))(
    '%s, %s: 503 and no vendor called, nothing piled up, served again within a second',
    async (_, mode, there, open) => {
      if (!there) return
      const line = await open()
      ends.push(() => {
        line.proxy.mode = 'pass'
        return line.end()
      })
      const { ledger } = line.storage
      await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
      const { url, vendor, receipts } = await scene(whole, {
        billing: { currency: 'CNY' },
        groups: { default: { models: '*', rate: { requests: '100000/min', concurrent: 1_000 } } },
        timeouts: { storeMs },
        // Keys are of the options: what is tried here is money.
        keys: { 'sk-test': { account: 'acme' } },
        storage: line.storage,
      })
      expect((await askChat(url)).status).toBe(200)

      line.proxy.mode = mode
      const before = heapUsed()
      let slowest = 0
      for (let asked = 0; asked < requests; asked += 20) {
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

      line.proxy.mode = 'pass'
      const began = performance.now()
      while ((await askChat(url)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
      const backMs = performance.now() - began
      expect(calmly(backMs, 1_000)).toBeLessThan(1_000)

      // What was taken while nobody could tell is given back, and only what was answered is paid.
      const settled = async () => {
        const { balances, holds, settlements, faults } = await ledger.audit()
        return { balances, holds, settlements, faults }
      }
      const paid = BigInt(receipts.length) * 30n
      await expect.poll(settled).toEqual({ balances: 1_000_000n - paid, holds: 0n, settlements: paid, faults: [] })
    },
    60_000,
  )

  test.runIf(hasRedis)('limits in Redis that is away, money elsewhere: paid calls go on, and are charged', async () => {
    const line = await redisLine()
    ends.push(() => line.end())
    const { url, vendor, ledger, receipts } = await scene(whole, {
      billing: { currency: 'CNY' },
      limits: { whenDown: 'local' },
      groups: { default: { models: '*', rate: { requests: '100000/min', concurrent: 1_000 } } },
      timeouts: { storeMs },
      storage: { ...(line.storage.limits && { limits: line.storage.limits }) },
    })
    await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
    for (const mode of ['pass', 'refuse', 'stop', 'pass'] as const) {
      line.proxy.mode = mode
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
  })
})
