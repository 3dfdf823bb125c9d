/** Which commands admissions and settlements send to Redis. */
import { createClient } from '@redis/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Hold, LimitClaim } from '../../../adapters/stores/index.ts'
import { redis, type RedisStorage } from '../../../adapters/stores/redis/redis.ts'
import { amountText } from '../../../adapters/stores/redis/amounts-text.ts'
import { seeded } from '../../../src/testing/random.ts'
import { hasRedisServer, redisServer } from '../../redis-cluster.ts'
import { dropKeys, hasRedis, ownName, redisConnection } from '../../servers.ts'

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
    await dropKeys({ send }, prefix)
    close()
  })
  await storage.ledger.credit({ account, amount: 1_000n, reference: 'start' })
  // The first use of a script takes a second command, which loads it.
  await storage.admission.admit(claimOf('first', 0), holdOf('first', 0n))
  sent.length = 0
  return { storage, sent }
}

describe.skipIf(!hasRedis)('Redis:', () => {
  test('requests of one turn of the event loop are admitted in one command, in order', async () => {
    const { storage, sent } = await opened()
    const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`)
    const admitted = await Promise.all(ids.map(async (id) => storage.admission.admit(claimOf(id), holdOf(id, 7n))))
    expect(admitted.map(({ hold }) => hold?.balance)).toEqual(ids.map((_, index) => 993n - 7n * BigInt(index)))
    expect(admitted.map(({ limits }) => limits.free)).toEqual(ids.map((_, index) => [9_998 - index]))
    expect(sent).toHaveLength(1)
    await storage.admission.finish(ids.map((id) => ({ end: { id, account, amount: 2n } })))
    expect(sent.slice(1).filter(([command]) => command === 'EVALSHA')).toHaveLength(1)
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 960n, held: 0n })
  })

  test.each([false, true])('a client may repeat what draws and returns a slice, with caps: %s', async (isCapped) => {
    const { storage } = await opened()
    const slice = { id: 'slice', calls: 8, ms: 1 }
    const always = { name: 'cap', window: 'always', periods: { boundaries: [0, 8.64e15] }, limits: { money: 1_000n } }
    const hold: Hold = { ...holdOf('call'), tokens: 3n, caps: isCapped ? [always] : [] }
    const left = async () => {
      const { left: units } = await storage.limits.take({ ...claimOf('look', 0), places: [] })
      const { balance = 0n, held = 0n } = (await storage.ledger.account(account)) ?? {}
      const [cap] = (await storage.ledger.caps?.read([always])) ?? []
      const counted = { money: held, tokens: 3n * held, calls: held }
      expect(cap?.held).toEqual(isCapped ? counted : { money: 0n, tokens: 0n, calls: 0n })
      return { balance, held, units: Math.round(units[0] ?? 0) }
    }
    const drawn = await storage.admission.admit(claimOf('call'), hold, slice)
    const again = await storage.admission.admit(claimOf('call'), hold, slice)
    const held = await left()
    expect([drawn.ahead, again.ahead, held.held]).toEqual([8, 8, 9n])
    const corrections = claimOf('', -8).rates
    const returns = [{ id: 'slice', account, places: ['slots'], corrections }]
    await storage.admission.finish([], { draws: [], returns })
    const returned = await left()
    expect(returned).toMatchObject({ balance: 999n, held: 1n, units: held.units + 8 })
    await storage.admission.finish([], { draws: [], returns })
    expect(await left()).toEqual(returned)
  })

  test('slices are drawn where few calls share a script', async () => {
    const { storage } = await opened()
    const aheadOf = async (name: string, calls: number) => {
      const ids = Array.from({ length: calls }, (_, index) => `${name} ${index}`)
      const admit = async (id: string) =>
        storage.admission.admit(claimOf(id), holdOf(id), { id: `slice ${id}`, calls: 2, ms: 1 })
      return (await Promise.all(ids.map(admit))).map(({ ahead = 0 }) => ahead)
    }
    expect(await aheadOf('few', 3)).toEqual([2, 2, 2])
    expect(new Set(await aheadOf('many', 30))).toEqual(new Set([0]))
  })

  test('a client may repeat the end of a call', async () => {
    const { storage } = await opened()
    const left = async () => (await storage.limits.take({ ...claimOf('look', 0), places: [] })).left[0]
    await storage.admission.admit(claimOf('call', 8), holdOf('call'))
    const before = (await left()) as number
    const end = { id: 'call', account, amount: 1n }
    const returned = { id: 'call', places: ['slots'], corrections: claimOf('', -4).rates }
    for (let sent = 0; sent < 2; sent++) {
      await storage.admission.finish([{ returned, end }])
      expect(Math.round((await left()) as number)).toBe(Math.round(before) + 4)
    }
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
    const verdicts = await Promise.allSettled(
      attempts.map(async ([, claim, hold]) => storage.admission.admit(claim, hold)),
    )
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

/** A server of its own, whose commands are counted. */
async function counted() {
  const server = await redisServer()
  const client = createClient({ url: `redis://127.0.0.1:${server.port}` })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(async () => {
    client.destroy()
    await server.close()
  })
  const storage = redis(client)
  await storage.ledger.credit({ account, amount: 1_000_000n, reference: 'start' })
  /** The commands of `act`, and of the scripts it runs, by name. */
  const commandsOf = async (act: () => Promise<unknown>) => {
    await client.sendCommand(['CONFIG', 'RESETSTAT'])
    await act()
    const stats = (await client.sendCommand(['INFO', 'commandstats'])) as string
    const counts = [...stats.matchAll(/^cmdstat_([a-z]+):calls=(\d+)/gm)].map(([, name, calls]) => [
      name,
      Number(calls),
    ])
    return Object.fromEntries(counts.filter(([name]) => name !== 'config')) as Record<string, number>
  }
  const send = (args: string[]): Promise<unknown> => client.sendCommand(args)
  return { storage, commandsOf, send }
}

test.skipIf(!hasRedisServer)('the accounts of a batch are written in one command', async () => {
  const { storage, commandsOf } = await counted()
  const accounts = Array.from({ length: 20 }, (_, index) => `account ${index}`)
  for (const each of accounts) await storage.ledger.credit({ account: each, amount: 10n, reference: each })
  const admitAll = (round: string) =>
    Promise.all(accounts.map(async (each) => storage.ledger.hold({ ...holdOf(`${each} ${round}`), account: each })))
  await admitAll('first')
  // One SET for each hold.
  expect(await commandsOf(() => admitAll('second'))).toMatchObject({ evalsha: 1, set: 20, mset: 1 })
})

const openIds = Array.from({ length: 5_000 }, (_, index) => `open ${index}`)

async function begin({ admission }: RedisStorage, ids: readonly string[], amount = 1n): Promise<void> {
  for (let from = 0; from < ids.length; from += 200) {
    await Promise.all(ids.slice(from, from + 200).map(async (id) => admission.admit(claimOf(id), holdOf(id, amount))))
  }
}

const leases = (ids: readonly string[]) => ids.map((id) => ({ id, account, places: ['slots'] }))

describe.skipIf(!hasRedisServer)('With thousands of calls under way, Redis', () => {
  test('is told what slices have admitted before it is told how these calls have ended', async () => {
    const { storage } = await counted()
    const { admission, ledger, limits } = storage
    const slices = Array.from({ length: 20 }, (_, index) => ({ id: `slice ${index}`, calls: 63, ms: 1 }))
    for (const slice of slices) {
      const first = `first of ${slice.id}`
      expect((await admission.admit(claimOf(first), holdOf(first), slice)).ahead).toBe(63)
    }
    const draws = slices.flatMap(({ id: slice }) =>
      Array.from({ length: 63 }, (_, index) => `${slice} call ${index}`).map((id) => {
        return { slice, claim: claimOf(id), hold: holdOf(id) }
      }),
    )
    const ended = draws.slice(-99).map(({ hold: { id } }) => {
      return { returned: { id, places: ['slots'], corrections: [] }, end: { id, account, amount: 1n } }
    })
    const returns = slices.map(({ id }) => ({ id, account, places: ['slots'], corrections: [] }))
    await admission.finish(ended, { draws, returns })
    expect(await ledger.account(account)).toMatchObject({ balance: 998_720n, held: 1_181n })
    expect((await limits.take(claimOf('slot', 0))).free).toEqual([10_000 - 1_181 - 1])
    const { items } = (await ledger.entries?.(account, { limit: 100 })) ?? { items: [] }
    expect(items.filter(({ overage }) => overage > 0n)).toEqual([])
    expect((await ledger.audit()).faults).toEqual([])
  })

  test('forgets the places of a process that has died, though a slice held all of them before', async () => {
    const { storage, send } = await counted()
    const slice = { id: 'slice', calls: 8, ms: 1 }
    await storage.admission.admit(claimOf('first'), holdOf('first'), slice)
    await storage.admission.finish([{ returned: { id: 'first', places: ['slots'], corrections: [] } }])
    const draws = [{ slice: 'slice', claim: claimOf('second'), hold: holdOf('second') }]
    const returns = [{ id: 'slice', account, places: ['slots'], corrections: [] }]
    await storage.admission.finish([], { draws, returns })
    const [name = ''] = (await send(['KEYS', '*places:slots'])) as string[]
    expect(Number(await send(['PTTL', name]))).toBeGreaterThan(leaseMs - 1_000)
  })

  test('executes for another call no more commands than without them', async () => {
    const { storage, commandsOf } = await counted()
    const call = async (id: string) => {
      await storage.admission.admit(claimOf(id), holdOf(id))
      await storage.admission.finish([
        { returned: { id, places: ['slots'], corrections: [] }, end: { id, account, amount: 1n } },
      ])
      await storage.ledger.account(account)
    }
    await call('first')
    await storage.admission.admit(claimOf('another'), holdOf('another'))
    const alone = await commandsOf(async () => call('alone'))
    await begin(storage, openIds)
    expect(await commandsOf(async () => call('one more'))).toEqual(alone)
    expect(await storage.ledger.account(account)).toMatchObject({ held: 5_001n })
  })

  test('renews their leases in few commands, and returns expired ones a few at a time', async () => {
    const { storage, commandsOf } = await counted()
    const ids = openIds
    await begin(storage, ids, 200n)
    const renewed = await commandsOf(async () => {
      await storage.ledger.renew(leases(ids), leaseMs)
      await storage.limits.renew(leases(ids), leaseMs)
    })
    expect(renewed['evalsha']).toBeLessThanOrEqual(22)
    expect(renewed['zadd']).toBe(20)
    // A lease that is renewed for a shorter time ends earlier.
    await storage.ledger.renew(leases(ids), 1)
    await storage.limits.renew(leases(ids), 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const one = await commandsOf(async () => storage.admission.admit(claimOf('poor', 0), holdOf('poor', 1_000_000n)))
    expect(one['evalsha']).toBe(5)
    expect(one['zremrangebyrank']).toBeLessThanOrEqual(5)
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 0n, held: 1_000_000n })
    const { free } = await storage.limits.take(claimOf('slot', 0))
    expect(free).toEqual([9_998])
    expect((await storage.ledger.audit()).faults).toEqual([])
  })
})

test.skipIf(!hasRedisServer)('calls that reach a replica are sent again until it is the master', async () => {
  const { storage, send } = await counted()
  await storage.admission.admit(claimOf('first'), holdOf('first'))
  // Its master is never there.
  await send(['REPLICAOF', '127.0.0.1', '1'])
  const admitted = storage.admission.admit(claimOf('second'), holdOf('second'))
  const ended = storage.admission.finish([{ end: { id: 'first', account, amount: 3n } }])
  const rejected = async () => /errorstat_READONLY:count=[2-9]/.test((await send(['INFO', 'errorstats'])) as string)
  await expect.poll(rejected, { interval: 10 }).toBe(true)
  await send(['REPLICAOF', 'NO', 'ONE'])
  expect((await admitted).hold?.outcome).toBe('held')
  await ended
  expect(await storage.ledger.account(account)).toMatchObject({ balance: 999_996n, held: 1n })
})

test.skipIf(!hasRedisServer)('a server that evicts keys is refused, until it no longer does', async () => {
  const { send } = await counted()
  await send(['CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'volatile-lru'])
  const { ledger } = redis((...args) => send(args), { prefix: 'other' })
  await expect(ledger.account(account)).rejects.toThrow(/evicts keys.*maxmemory-policy.*volatile-lru/)
  await send(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
  expect(await ledger.account(account)).toBeUndefined()
})

test('while the server does not reply, few commands wait in the client, and a bounded number of calls', async () => {
  let sent = 0
  const storage = redis(() => {
    sent++
    return new Promise(() => undefined)
  })
  let rejected = 0
  const calls = Array.from({ length: 12_000 }, async (_, index) =>
    storage.admission.admit(claimOf(`${index}`), holdOf(`${index}`)),
  )
  for (const call of calls) call.catch(() => rejected++)
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  expect(rejected).toBe(2_000)
  expect(sent).toBe(1)
})

test.skipIf(!hasRedis)('amounts in scripts are added, subtracted and compared exactly', async () => {
  const { send, close } = await redisConnection()
  onTestFinished(close)
  const random = seeded(7)
  const digits = [1, 8, 9, 10, 14, 15, 16, 17, 18, 21]
  const amounts = Array.from({ length: 2_000 }, () => {
    const size = 10n ** BigInt(digits[Math.floor(random() * digits.length)] as number)
    const value = (BigInt(Math.floor(random() * 2 ** 53)) * size) / 2n ** 53n
    return random() < 0.5 ? -value : value
  })
  const edges = [
    0n,
    1n,
    -1n,
    10n ** 9n,
    9n * 10n ** 15n,
    9n * 10n ** 15n - 1n,
    -9n * 10n ** 15n,
    999_999_999_999_999n,
    2n ** 53n,
    -(2n ** 53n),
  ]
  const pairs = [
    ...edges.flatMap((left) => edges.map((right) => [left, right] as const)),
    ...amounts.map((left, index) => [left, amounts.at(-1 - index) as bigint] as const),
  ]
  const script = `${amountText}
    local found = {}
    for i = 1, #ARGV, 2 do
      local a, b = amount(ARGV[i]), amount(ARGV[i + 1])
      table.insert(found, text_of(plus(a, b)) .. ' ' .. text_of(minus(a, b)) .. ' ' .. tostring(less(a, b)))
    end
    return found`
  const found = (await send('EVAL', script, '0', ...pairs.flat().map(String))) as string[]
  expect(found).toEqual(pairs.map(([left, right]) => `${left + right} ${left - right} ${left < right}`))
})
