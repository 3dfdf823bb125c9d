import { createClient } from '@redis/client'
import { afterAll, describe, test } from 'vitest'
import { redis } from '../../adapters/redis.ts'
import { testKeyStore, testLedger, testLimitStore } from '../../src/testing/index.ts'
import { hasRedis, ownName, redisAddress } from './servers.ts'

describe.skipIf(!hasRedis)('Redis keeps the contract of', async () => {
  const prefix = ownName()
  const client = createClient({ socket: redisAddress })
  const second = createClient({ socket: redisAddress })
  if (hasRedis) await Promise.all([client.connect(), second.connect()])
  afterAll(async () => {
    const keys = await client.keys(`{${prefix}}*`)
    if (keys.length > 0) await client.del(keys)
    await Promise.all([client.close(), second.close()])
  })

  const storage = redis((...words) => client.sendCommand(words), { prefix })
  /** As another process would have it. */
  const other = redis((...words) => second.sendCommand(words), { prefix })

  testKeyStore(test, () => storage.keys, { reopen: () => other.keys })
  testLimitStore(test, () => storage.limits, { reopen: () => other.limits })
  testLedger(test, () => storage.ledger, { reopen: () => other.ledger })
})
