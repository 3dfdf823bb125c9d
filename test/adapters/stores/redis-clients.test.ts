/** What commands cost in node-redis: an `AbortSignal` only while there is no connection. */
import { createClient, createCluster, TimeoutError } from '@redis/client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { hasRedisServer, redisCluster, redisServer } from '../../redis-cluster.ts'
import { hasRedis, ownName, redisUrl } from '../../servers.ts'

/** The fewest signals with a timer that a look-up made: a client of a cluster connects to its nodes while it is used. */
async function signalsOf(client: Parameters<typeof redis>[0]): Promise<number> {
  const { ledger } = redis(client, { prefix: ownName() })
  await ledger.credit({ account: 'acme', amount: 1n, reference: 'start' })
  const made = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => made.mockRestore())
  const counts: number[] = []
  for (let times = 0; times < 5; times++) {
    made.mockClear()
    expect(await ledger.account('acme')).toMatchObject({ balance: 1n })
    counts.push(made.mock.calls.length)
  }
  return Math.min(...counts)
}

describe.skipIf(!hasRedis)('A command of a connected client of node-redis has no timer', () => {
  test('one server', async () => {
    const client = createClient({ url: redisUrl })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    expect(await signalsOf(client)).toBe(0)
  })

  test.skipIf(!hasRedisServer)('a cluster', { timeout: 60_000 }, async () => {
    const nodes = await redisCluster(15_000, { replicas: false })
    const cluster = createCluster({ rootNodes: nodes.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
    cluster.on('error', () => undefined)
    await cluster.connect()
    onTestFinished(async () => {
      cluster.destroy()
      await nodes.close()
    })
    expect(await signalsOf(cluster)).toBe(0)
  })
})

test.skipIf(!hasRedisServer)(
  'while there is no connection, node-redis drops commands after its own timeout',
  async () => {
    const server = await redisServer()
    const url = `redis://127.0.0.1:${server.port}`
    const client = createClient({ url, commandOptions: { timeout: 50 }, socket: { reconnectStrategy: () => 60_000 } })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    const { ledger } = redis(client, { prefix: ownName() })
    await ledger.credit({ account: 'acme', amount: 1n, reference: 'start' })
    const lost = new Promise((resolve) => client.once('reconnecting', resolve))
    await server.close()
    await lost
    await expect(ledger.account('acme')).rejects.toBeInstanceOf(TimeoutError)
  },
)
