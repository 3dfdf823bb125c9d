/** Calls whose keys are on several nodes of a cluster of three masters: limits and money of the account first, then what is shared. */
import { createCluster } from '@redis/client'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { accountOf, slicePrefix, type LimitClaim } from '../../../adapters/stores/index.ts'
import { KeyBases } from '../../../adapters/stores/redis/key-bases.ts'
import { redis, type RedisStorage } from '../../../adapters/stores/redis/redis.ts'
import { ownedBy } from '../../../src/money/limits/bucket.ts'
import { amountsOf, capOf } from '../../../src/testing/ledger-caps.ts'
import { fresh, oddNames } from '../../../src/testing/kit.ts'
import { hasRedisServer, redisCluster } from '../../redis-cluster.ts'
import { ownName } from '../../servers.ts'
import type { Spending } from './redis-spender.ts'

const leaseMs = 60_000
const periodMs = 1e12
const slow = { limit: 1, periodMs, cost: 1 }
const floors = (left: readonly number[]) => left.map((each) => Math.floor(each + 0.001))

/** Two limits of the account and two that it shares. */
function claimOf(account: string, shared: string, id: string): LimitClaim {
  return {
    id,
    leaseMs,
    rates: [
      { ...slow, bucket: ownedBy(account, 'rate'), burst: 10 },
      { ...slow, bucket: `${shared} rate`, burst: 5 },
    ],
    places: [
      { bucket: ownedBy(account, 'places'), places: 10 },
      { bucket: `${shared} places`, places: 1 },
    ],
  }
}

test('buckets of an account are kept with its balance, whatever its name', () => {
  const layout = new KeyBases('p')
  for (const account of [...oddNames, '', '"', '\\', '\\"', 'a" b', '}{', '\n', '\u2028']) {
    const bucket = ownedBy(account, 'group "x" requests')
    expect(accountOf(bucket)).toBe(account)
    expect(layout.baseOfBucket(bucket)).toBe(layout.baseOf(account))
  }
  for (const bucket of [
    'group "x" requests',
    'account',
    'account "a',
    'account a b',
    'account "\\x" y',
    ' account "a" b',
  ]) {
    expect(accountOf(bucket)).toBeUndefined()
    expect(layout.baseOfBucket(bucket)).toBe('{p:2:shared}:')
  }
})

describe.skipIf(!hasRedisServer)('On a Redis cluster,', async () => {
  if (!hasRedisServer) return
  const servers = await redisCluster(15_000, { replicas: false })
  const cluster = createCluster({ rootNodes: servers.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
  cluster.on('error', () => undefined)
  await cluster.connect()
  afterAll(async () => {
    cluster.destroy()
    await servers.close()
  })

  async function funded({ ledger }: RedisStorage, amount = 100n): Promise<string> {
    const account = fresh('account')
    await ledger.credit({ account, amount, reference: fresh('r') })
    return account
  }

  /** What the limits have left of a claim, without drawing from them. */
  async function leftOf({ limits }: RedisStorage, { rates, places }: LimitClaim) {
    const none = rates.map((rule) => ({ ...rule, cost: 0 }))
    const { left } = await limits.take({ id: fresh('look'), rates: none, places: [], leaseMs })
    const free = await Promise.all(
      places.map(async ({ bucket, places: most }) => {
        const id = fresh('look')
        const verdict = await limits.take({ id, rates: [], places: [{ bucket, places: most }], leaseMs })
        await limits.give({ id, places: verdict.admitted ? [bucket] : [], corrections: [] })
        return (verdict.free[0] as number) + (verdict.admitted ? 1 : 0)
      }),
    )
    return [floors(left), free]
  }

  test('limits that accounts share are exact over two processes', async () => {
    const prefix = ownName()
    const storage = redis(cluster, { prefix })
    const accounts = await Promise.all(Array.from({ length: 12 }, async () => funded(storage, 20n)))
    const layout = new KeyBases(prefix)
    expect(new Set(accounts.map((account) => layout.baseOf(account))).size).toBeGreaterThan(6)
    const shared = {
      rates: [{ ...slow, bucket: 'model "m" requests', burst: 90 }],
      places: [{ bucket: 'model "m" places', places: 70 }],
    }
    const spend = async (name: string) => {
      const child = fork(fileURLToPath(new URL('redis-spender.ts', import.meta.url)))
      onTestFinished(() => child.disconnect())
      const spending: Spending = { ports: servers.ports, prefix, accounts, calls: 120, name, shared }
      child.send(spending)
      return ((await once(child, 'message')) as [string[]])[0]
    }
    const admitted = (await Promise.all([spend('first'), spend('second')])).flat()
    expect(admitted).toHaveLength(70)
    expect(await leftOf(storage, { ...claimOf('', '', ''), ...shared })).toEqual([[20], [0]])
    const { balances, holds, faults } = await storage.ledger.audit()
    expect([balances, holds, faults]).toEqual([170n, 70n, []])
    await storage.admission.finish(
      admitted.map((id, index) => ({
        returned: { id, places: ['model "m" places'], corrections: [] },
        end: {
          id,
          account: accounts[Number(id.split(' ')[1]) % accounts.length] as string,
          ...(index % 2 === 0 && { amount: 1n }),
        },
      })),
    )
    expect(await leftOf(storage, { ...claimOf('', '', ''), ...shared })).toEqual([[20], [70]])
    expect(await storage.ledger.audit()).toMatchObject({ balances: 205n, holds: 0n, settlements: 35n, faults: [] })
  })

  test('if a shared limit rejects a call, its account gets back exactly what it gave', async () => {
    const storage = redis(cluster, { prefix: ownName() })
    const [account, other, shared] = [await funded(storage), await funded(storage), fresh('shared')]
    const first = claimOf(other, shared, fresh('call'))
    await storage.admission.admit(first, { id: first.id, account: other, amount: 1n, leaseMs })
    const claim = claimOf(account, shared, fresh('call'))
    const rejected = await storage.admission.admit(claim, { id: claim.id, account, amount: 60n, leaseMs })
    expect(rejected.hold).toBeUndefined()
    const { admitted, left, free } = rejected.limits
    expect([admitted, floors(left), free]).toEqual([false, [10, 4], [10, 0]])
    expect(await leftOf(storage, claim)).toEqual([
      [10, 4],
      [10, 0],
    ])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 100n, held: 0n })
    expect((await storage.ledger.entries?.(account, {}))?.items).toHaveLength(1)
    // The id of a rejected call can be used again.
    await storage.limits.give({ id: first.id, places: [`${shared} places`], corrections: [] })
    const retried = await storage.admission.admit(claim, { id: claim.id, account, amount: 60n, leaseMs })
    expect([retried.limits.admitted, retried.hold]).toEqual([true, { outcome: 'held', balance: 40n }])
    // A repetition that is rejected does not end what the call has held before.
    const dear = { ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: 4 })) }
    const repeated = await storage.admission.admit(dear, { id: claim.id, account, amount: 60n, leaseMs })
    expect([repeated.limits.admitted, repeated.limits.free]).toEqual([false, [10, 1]])
    expect(await leftOf(storage, claim)).toEqual([
      [9, 3],
      [9, 0],
    ])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 40n, held: 60n })
  })

  test('a slice that may have been drawn goes back, though calls with shared limits draw none', async () => {
    const storage = redis(cluster, { prefix: ownName() })
    const [account, shared] = [await funded(storage), fresh('shared')]
    const claim = claimOf(account, shared, fresh('call'))
    await storage.admission.admit(claim, { id: claim.id, account, amount: 10n, leaseMs })
    const places = claim.places.map(({ bucket }) => bucket)
    const ending = { returned: { id: claim.id, places, corrections: [] }, end: { id: claim.id, account, amount: 4n } }
    const returns = [{ id: `${slicePrefix}${fresh('s')}`, account, places, corrections: [] }]
    await storage.admission.finish([ending], { draws: [], returns })
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 96n, held: 0n })
    expect((await leftOf(storage, claim))[1]).toEqual([10, 1])
  })

  test('an account without money draws nothing from shared limits', async () => {
    const storage = redis(cluster, { prefix: ownName() })
    const [account, shared] = [await funded(storage, 5n), fresh('shared')]
    const claim = claimOf(account, shared, fresh('call'))
    const { limits, hold } = await storage.admission.admit(claim, { id: claim.id, account, amount: 6n, leaseMs })
    expect([limits.admitted, floors(limits.left), limits.free]).toEqual([true, [10, 5], [10, 1]])
    expect(hold).toEqual({ outcome: 'insufficient', balance: 5n })
    expect(await leftOf(storage, claim)).toEqual([
      [10, 5],
      [10, 1],
    ])
  })

  test('a call that does not fit a cap gives back what its account gave, and its shared limits are not drawn', async () => {
    const storage = redis(cluster, { prefix: ownName() })
    const [account, shared] = [await funded(storage), fresh('shared')]
    const cap = capOf({ money: 70n })
    const claim = claimOf(account, shared, fresh('call'))
    const dear = { id: claim.id, account, amount: 71n, leaseMs, caps: [cap] }
    const { limits, hold } = await storage.admission.admit(claim, dear)
    expect([limits.admitted, floors(limits.left), limits.free]).toEqual([true, [10, 5], [10, 1]])
    expect(hold).toMatchObject({ outcome: 'capped', balance: 100n, caps: [{ held: amountsOf(0, 0, 0) }] })
    expect(await leftOf(storage, claim)).toEqual([
      [10, 5],
      [10, 1],
    ])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 100n, held: 0n })
    const fits = await storage.admission.admit(claim, { ...dear, amount: 70n, tokens: 3n })
    expect(fits.hold).toMatchObject({ outcome: 'held', balance: 30n, caps: [{ held: amountsOf(70, 3, 1) }] })
    await storage.admission.finish([{ end: { id: claim.id, account } }])
    expect(await storage.ledger.caps?.read([cap])).toMatchObject([{ held: amountsOf(0, 0, 0) }])
  })

  test('a settlement of a process that dies before its caps count it is counted by another one, once', async () => {
    const prefix = ownName()
    const storage = redis(cluster, { prefix })
    const [account, cap] = [await funded(storage), capOf({})]
    const layout = new KeyBases(prefix)
    let dead = false
    const dying = redis(
      {
        masters: [],
        async sendCommand(key, isReadonly, args) {
          if (dead) throw new Error('the process is dead')
          const reply = await cluster.sendCommand(key, isReadonly ?? false, args)
          if (key === layout.baseOf(account)) dead = true
          return reply
        },
      },
      { prefix },
    )
    const spend = async (ending: typeof storage) => {
      const hold = { id: fresh('h'), account, amount: 10n, leaseMs, caps: [cap] }
      const { caps = [] } = await storage.ledger.hold(hold)
      const thresholds = [{ id: fresh('mark'), at: 12n, notice: 'reached', measure: 'money' as const }]
      const balanceThresholds = [{ id: fresh('mark'), at: 90n, notice: 'low' }]
      const counted = caps.map((each) => ({ ...each, thresholds }))
      await ending.ledger.settle({ id: hold.id, account, amount: 6n, tokens: 2n, caps: counted, balanceThresholds })
    }
    // The script is known to the server, so that the settlement is one command.
    await spend(storage)
    await expect(spend(dying)).rejects.toThrow('dead')
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 88n, held: 0n })
    expect(await storage.ledger.caps?.read([cap])).toMatchObject([
      { settled: amountsOf(6, 2, 1), held: amountsOf(10, 0, 1) },
    ])
    const counted = async () => {
      const other = redis(cluster, { prefix })
      const [id, caps] = [fresh('h'), await other.ledger.caps?.read([cap])]
      await other.ledger.settle({ id, account, amount: 0n, ...(caps && { caps }) })
      onTestFinished(() => other.ledger.close?.())
      return (await storage.ledger.caps?.read([cap]))?.[0]
    }
    await expect.poll(counted, { timeout: 20_000, interval: 1_000 }).toMatchObject({
      settled: { money: 12n, tokens: 4n },
      held: amountsOf(0, 0, 0),
    })
    expect(await counted()).toMatchObject({ settled: { money: 12n, tokens: 4n } })
    const notices = (await storage.ledger.caps?.claimNotices(10, leaseMs)) ?? []
    expect(new Map(notices.map(({ notice, value }) => [notice, value]))).toEqual(
      new Map([
        ['low', 88n],
        ['reached', 12n],
      ]),
    )
    expect(notices).toHaveLength(2)
  })

  test('what a process leaves that dies between two steps ends with its lease', async () => {
    const prefix = ownName()
    const storage = redis(cluster, { prefix })
    const [account, shared] = [await funded(storage), fresh('shared')]
    const accountBase = new KeyBases(prefix).baseOf(account)
    const dying = redis(
      {
        masters: [],
        async sendCommand(key, isReadonly, args) {
          if (key === `{${prefix}:layout}`) return cluster.sendCommand(key, isReadonly ?? false, args)
          if (key !== accountBase || dead) throw new Error('the process is dead')
          const reply = await cluster.sendCommand(key, isReadonly ?? false, args)
          dead = true
          return reply
        },
      },
      { prefix },
    )
    let dead = false
    const claim = { ...claimOf(account, shared, fresh('call')), leaseMs: 1_000 }
    // Both scripts are known to the servers, so that each step is one command.
    const known = claimOf(account, shared, fresh('call'))
    await storage.admission.admit(known, { id: known.id, account, amount: 1n, leaseMs })
    await storage.admission.finish([
      { returned: { id: known.id, places: known.places.map(({ bucket }) => bucket), corrections: [] } },
      { end: { id: known.id, account } },
    ])
    await expect(dying.admission.admit(claim, { id: claim.id, account, amount: 60n, leaseMs: 1_000 })).rejects.toThrow(
      'dead',
    )
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 40n, held: 60n })
    await expect
      .poll(async () => storage.ledger.account(account), { timeout: 5_000 })
      .toMatchObject({ balance: 100n, held: 0n })
    expect(await leftOf(storage, claim)).toEqual([
      [8, 4],
      [10, 1],
    ])
    expect((await storage.ledger.audit()).faults).toEqual([])
  })

  test('a function that sends commands needs no option', async () => {
    const storage = redis(async (...args) => cluster.sendCommand(args[3], false, args), { prefix: ownName() })
    const accounts = await Promise.all(Array.from({ length: 20 }, async () => funded(storage, 3n)))
    const shared = fresh('shared')
    const admitted = await Promise.all(
      accounts.map(async (account) => {
        const claim = { ...claimOf(account, shared, fresh('call')), places: [] }
        return storage.admission.admit(claim, { id: claim.id, account, amount: 2n, leaseMs })
      }),
    )
    expect(admitted.filter(({ hold }) => hold?.outcome === 'held')).toHaveLength(5)
    expect(await storage.ledger.audit()).toMatchObject({ balances: 50n, holds: 10n, faults: [] })
    expect((await storage.ledger.accounts?.({ limit: 15 }))?.items.map(({ id }) => id)).toEqual(
      [...accounts].sort().slice(0, 15),
    )
  })
})
