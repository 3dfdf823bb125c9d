/** A process of the tests of a Redis cluster: makes as many calls as it is asked for, all at once. */
import { createCluster } from '@redis/client'
import type { LimitClaim } from '../../../adapters/stores/index.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'

export interface Spending {
  readonly ports: readonly number[]
  readonly prefix: string
  /** The accounts, which take turns. */
  readonly accounts: readonly string[]
  readonly calls: number
  /** Distinguishes the calls of this process. */
  readonly name: string
  /** The claim of each call, whose id and own buckets differ. */
  readonly shared: Pick<LimitClaim, 'rates' | 'places'>
}

process.on('message', (spending: Spending) => {
  void spend(spending).then((ids) => process.send?.(ids))
})
process.on('disconnect', () => process.exit())

/** Resolves to the ids of the calls that were admitted. */
async function spend({ ports, prefix, accounts, calls, name, shared }: Spending): Promise<string[]> {
  const cluster = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
  cluster.on('error', () => undefined)
  await cluster.connect()
  const { admission } = redis(cluster, { prefix })
  const admitted = Array.from({ length: calls }, async (_, index) => {
    const id = `${name} ${index}`
    const account = accounts[index % accounts.length] as string
    const claim = { id, ...shared, leaseMs: 60_000 }
    const { limits, hold } = await admission.admit(claim, { id, account, amount: 1n, leaseMs: 60_000 })
    return limits.admitted && hold?.outcome === 'held' ? [id] : []
  })
  return (await Promise.all(admitted)).flat()
}
