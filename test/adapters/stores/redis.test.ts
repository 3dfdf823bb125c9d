import { createClient } from '@redis/client'
import { Redis } from 'ioredis'
import { afterAll, describe, test } from 'vitest'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { hasRedis, ownName, redisUrl } from '../../servers.ts'
import { testStores } from './kits.ts'

describe.skipIf(!hasRedis)('Redis conforms to the contract', async () => {
  const prefix = ownName()
  const client = createClient({ url: redisUrl })
  const other = new Redis(redisUrl, { lazyConnect: true })
  for (const each of [client, other]) each.on('error', () => undefined)
  if (hasRedis) await Promise.all([client.connect(), other.connect()])
  afterAll(async () => {
    const keys = await client.keys(`{${prefix}:*`)
    if (keys.length > 0) await client.del(keys)
    client.destroy()
    other.disconnect()
  })
  // As two processes, one with node-redis and one with ioredis.
  testStores(test, redis(client, { prefix }), redis(other, { prefix }))
})
