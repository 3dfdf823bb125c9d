/** A key that is revoked on one instance while another one has it in its cache. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mysql } from '../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../adapters/stores/sqlite/sqlite.ts'
import type { GatewayOptions, StorageBundle } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { whole } from '../admission/scene.ts'
import { askChat, hostedWith, vendorFor, type Hosted } from '../hosted.ts'
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
} from '../servers.ts'
import { calmly } from '../cpu-time.ts'
import { statementMs } from '../patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
const name = ownName()
const pool = hasPostgres ? postgresPool() : undefined
const mysqlPools = mysqlPool()
const connection = hasRedis ? await redisConnection() : undefined
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await pool?.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  await pool?.end()
  if (hasMysql) await dropTables(mysqlPools, name)
  await mysqlPools.end()
  if (connection !== undefined) await dropKeys(connection, name)
  connection?.close()
})

const bundles: [string, boolean, () => StorageBundle][] = [
  ['SQLite', true, () => sqlite(join(folder, 'keys.db'))],
  ['Postgres', hasPostgres, () => postgres(pool as NonNullable<typeof pool>, { schema: name, statementMs })],
  ['MySQL', hasMysql, () => mysql(mysqlPools, { prefix: name, statementMs })],
  ['Redis', hasRedis, () => redis(async (...words) => connection?.send(...words), { prefix: name })],
]

/** A gateway whose only keys are those of the storage, which has its tables. */
async function instance(options: GatewayOptions, storage: StorageBundle): Promise<Hosted> {
  const made = await hostedWith({ ...options, storage, keys: {} })
  await made.gateway.ready()
  return made
}

describe('a key in the cache of another instance', () => {
  test.each(bundles)(
    'is rejected there within a second of its revocation and from then on: %s',
    async (_, there, storage) => {
      if (!there) return
      const vendor = await vendorFor(whole)
      const models = { m: openai({ baseURL: vendor.baseURL }) }
      // Without `watch`, the cache would keep the key for the whole test.
      const options = { models, keyCache: { ageMs: 60_000 } }
      const [here, other] = [await instance(options, storage()), await instance(options, storage())]
      const { key, record } = await here.gateway.admin.keys.create({ account: 'acme', group: 'default' })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const ask = async () => (await askChat(other.url, {}, { headers })).status
      expect(await ask()).toBe(200)
      // Gives the watch time to start.
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(await ask()).toBe(200)
      await here.gateway.admin.keys.revoke('acme', record.id)
      const revokedAt = performance.now()
      while ((await ask()) === 200) {
        expect(calmly(performance.now() - revokedAt, 1_000)).toBeLessThan(1_000)
      }
      for (let sent = 0; sent < 5; sent++) expect(await ask()).toBe(401)
    },
  )
})
