/** A real cluster (three masters with a replica each), with the cluster clients of node-redis and ioredis. */
import { createCluster } from '@redis/client'
import { Cluster } from 'ioredis'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { KeyBases } from '../../../adapters/stores/redis/key-bases.ts'
import { redis, type RedisClient } from '../../../adapters/stores/redis/redis.ts'
import { testTaskStore } from '../../../src/testing/index.ts'
import { scene, whole } from '../../admission/scene.ts'
import { askChat } from '../../hosted.ts'
import { long } from '../../long.ts'
import { hasRedisServer, redisCluster, type RedisCluster } from '../../redis-cluster.ts'
import { ownName } from '../../servers.ts'
import { testStores } from './kits.ts'

interface Connected {
  readonly client: RedisClient
  readonly end: () => void
}

const clients: [string, (cluster: RedisCluster) => Promise<Connected>][] = [
  [
    'node-redis',
    async ({ ports }) => {
      const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
      client.on('error', () => undefined)
      await client.connect()
      return { client, end: () => client.destroy() }
    },
  ],
  [
    'ioredis',
    async ({ ports }) => {
      const client = new Cluster(
        ports.map((port) => ({ host: '127.0.0.1', port })),
        { lazyConnect: true },
      )
      client.on('error', () => undefined)
      await client.connect()
      return { client, end: () => client.disconnect() }
    },
  ],
]

describe.skipIf(!hasRedisServer)('A Redis cluster conforms to the contract', async () => {
  if (!hasRedisServer) return
  const cluster = await redisCluster(15_000)
  const [first, second] = await Promise.all(clients.map(async ([, connect]) => connect(cluster)))
  if (first === undefined || second === undefined) throw new Error('two clients are needed')
  afterAll(async () => {
    first.end()
    second.end()
    await cluster.close()
  })
  testStores(test, redis(first.client), redis(second.client))
  test.each(clients)(
    '%s: while its slot moves to another node, an account is not taken for a new one',
    async (_, connect) => {
      const { client, end } = await connect(cluster)
      onTestFinished(end)
      const [account, prefix] = ['acme', ownName()]
      const { ledger } = redis(client, { prefix })
      await ledger.credit({ account, amount: 100n, reference: 'first' })
      const moving = await cluster.beginMoving(new KeyBases(prefix).baseOf(account))
      const credited = ledger.credit({ account, amount: 5n, reference: 'second' })
      const held = ledger.hold({ id: 'h', account, amount: 30n, leaseMs: 60_000 })
      await expect.poll(() => moving.refused(), { interval: 10 }).toBeGreaterThan(1)
      await moving.end()
      await credited
      expect((await held).outcome).toBe('held')
      expect(await ledger.account(account)).toMatchObject({ balance: 75n, held: 30n })
    },
  )
  let made = 0
  testTaskStore(test, () => redis(first.client, { prefix: `tasks${made++}` }).tasks)
})

describe.skipIf(!hasRedisServer || !long)('while a replica takes over from the master that has the account,', () => {
  test.each(clients)('with %s, paid requests fail only until the failover is complete', async (_, connect) => {
    const cluster = await redisCluster(1_000)
    onTestFinished(() => cluster.close())
    const { client, end } = await connect(cluster)
    onTestFinished(end)
    const storage = redis(client)
    await storage.ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
    const { url } = await scene(whole, {
      billing: { currency: 'CNY' },
      groups: { default: { models: '*', rate: { requests: '100000/min', concurrent: 1_000 } } },
      storage,
    })
    const requests: Promise<number>[] = []
    let killed: Promise<void> | undefined
    for (let sent = 0; sent < 300; sent++) {
      if (sent === 60) killed = cluster.killMasterOf(new KeyBases('modelhatch').baseOf('acme'))
      requests.push(askChat(url).then(async (response) => (await response.body?.cancel(), response.status)))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await killed
    const statuses = await Promise.all(requests)
    const failed = statuses.filter((status) => status !== 200)
    expect(new Set(failed)).toEqual(new Set(failed.length === 0 ? [] : [503]))
    expect(failed.length).toBeLessThanOrEqual(33)
    expect(statuses.slice(-100)).toEqual(Array.from({ length: 100 }, () => 200))
    const { faults } = await storage.ledger.audit()
    expect(faults).toEqual([])
  })
})
