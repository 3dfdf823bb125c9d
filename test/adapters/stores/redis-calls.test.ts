/** Which commands admissions and settlements send to Redis. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Hold, LimitClaim } from '../../../adapters/stores/index.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { hasRedis, ownName, redisConnection } from '../../servers.ts'

const account = 'acme'
const leaseMs = 60_000

function claimOf(id: string, cost = 1): LimitClaim {
  const rates = [{ bucket: 'rate', cost, limit: 1, periodMs: 1e9, burst: 10_000 }]
  return { id, rates, places: [{ bucket: 'slots', places: 10_000 }], leaseMs }
}

function holdOf(id: string, amount = 1n): Hold {
  return { id, account, amount, leaseMs }
}

async function opened() {
  const [{ send, close }, prefix] = [await redisConnection(), ownName()]
  const sent: string[][] = []
  const spy = (...args: string[]) => {
    sent.push(args)
    return send(...args)
  }
  const storage = redis(spy, { prefix })
  onTestFinished(async () => {
    const keys = (await send('KEYS', `{${prefix}}*`)) as string[]
    if (keys.length > 0) await send('DEL', ...keys)
    close()
  })
  await storage.ledger.credit({ account, amount: 1_000n, reference: 'start' })
  // The first use of a script takes a second command, which loads it.
  await storage.joint.admit(claimOf('first', 0), holdOf('first', 0n))
  sent.length = 0
  return { storage, sent }
}

describe.skipIf(!hasRedis)('Redis:', () => {
  test('requests of one turn of the event loop are admitted in one command, in order', async () => {
    const { storage, sent } = await opened()
    const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`)
    const admitted = await Promise.all(ids.map(async (id) => storage.joint.admit(claimOf(id), holdOf(id, 7n))))
    expect(admitted.map(({ hold }) => hold?.balance)).toEqual(ids.map((_, index) => 993n - 7n * BigInt(index)))
    expect(admitted.map(({ limits }) => limits.free)).toEqual(ids.map((_, index) => [9_998 - index]))
    expect(sent).toHaveLength(1)
    await storage.joint.finish(ids.map((id) => ({ end: { id, account, amount: 2n } })))
    expect(sent.slice(1).filter(([command]) => command === 'EVALSHA')).toHaveLength(1)
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 960n, held: 0n })
  })

  test('a request that is rejected or fails does not affect the others in its batch', async () => {
    const { storage, sent } = await opened()
    const broken = { ...claimOf('x'), rates: [{ ...claimOf('x').rates[0], cost: 'none' }] } as unknown as LimitClaim
    const attempts: [string, LimitClaim, Hold][] = [
      ['held', claimOf('a'), holdOf('a', 600n)],
      ['insufficient', claimOf('b'), holdOf('b', 600n)],
      ['limited', claimOf('c', 20_000), holdOf('c', 1n)],
      ['failed', broken, holdOf('x')],
      ['held', claimOf('e', 9_998), holdOf('e', 400n)],
      ['limited', claimOf('f', 2), holdOf('f', 0n)],
    ]
    const verdicts = await Promise.allSettled(attempts.map(async ([, claim, hold]) => storage.joint.admit(claim, hold)))
    const outcomes = verdicts.map((verdict) => {
      if (verdict.status === 'rejected') return 'failed'
      return verdict.value.limits.admitted ? verdict.value.hold?.outcome : 'limited'
    })
    expect(outcomes).toEqual(attempts.map(([outcome]) => outcome))
    expect(sent).toHaveLength(1)
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 0n, held: 1_000n })
    expect((await storage.ledger.audit()).faults).toEqual([])
  })
})
