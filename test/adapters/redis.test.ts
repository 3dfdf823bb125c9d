import { afterAll, describe, test } from 'vitest'
import { redis } from '../../adapters/redis.ts'
import { testKeyStore, testLedger, testLimitStore } from '../../src/testing/index.ts'
import { hasRedis, ownName, redisConnection } from '../servers.ts'

describe.skipIf(!hasRedis)('Redis keeps the contract of', async () => {
  const prefix = ownName()
  const [client, second] = hasRedis ? [await redisConnection(), await redisConnection()] : []
  afterAll(async () => {
    const keys = (await client?.send('KEYS', `{${prefix}}*`)) as string[]
    if (keys.length > 0) await client?.send('DEL', ...keys)
    client?.close()
    second?.close()
  })

  const storage = redis(async (...words) => client?.send(...words), { prefix })
  /** As another process would have it. */
  const other = redis(async (...words) => second?.send(...words), { prefix })

  testKeyStore(test, () => storage.keys, { reopen: () => other.keys })
  testLimitStore(test, () => storage.limits, { reopen: () => other.limits })
  testLedger(test, () => storage.ledger, { reopen: () => other.ledger })
})
