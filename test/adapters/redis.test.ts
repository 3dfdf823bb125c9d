import { afterAll, describe, test } from 'vitest'
import { redis } from '../../adapters/redis.ts'
import { hasRedis, ownName, redisConnection } from '../servers.ts'
import { testStores } from './kits.ts'

describe.skipIf(!hasRedis)('Redis keeps the contract of', async () => {
  const prefix = ownName()
  const [client, second] = hasRedis ? [await redisConnection(), await redisConnection()] : []
  afterAll(async () => {
    const keys = (await client?.send('KEYS', `{${prefix}}*`)) as string[]
    if (keys.length > 0) await client?.send('DEL', ...keys)
    client?.close()
    second?.close()
  })
  testStores(
    test,
    redis(async (...words) => client?.send(...words), { prefix }),
    redis(async (...words) => second?.send(...words), { prefix }),
  )
})
