/** What is true of every bundle beside the contracts of its stores. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import type { AdmissionStore, Ledger, LimitClaim } from '../../../adapters/stores/index.ts'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { Database } from '../../../adapters/stores/sqlite/database.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import type { StorageBundle } from '../../../src/index.ts'
import { mostMicros } from '../../../src/money/money.ts'
import { usageRecord } from '../../observe/usage/record.ts'
import { fresh } from '../../../src/testing/kit.ts'
import {
  dropKeys,
  dropTables,
  hasMysql,
  hasPostgres,
  hasRedis,
  mysqlPool,
  ownName,
  postgresPool,
  redisConnection,
} from '../../servers.ts'
import { statementMs } from '../../patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
afterAll(() => rmSync(folder, { recursive: true }))
const pool = hasPostgres ? postgresPool(10) : undefined
const mysqlPools = mysqlPool(10)
const connection = hasRedis ? await redisConnection() : undefined
const name = ownName()
afterAll(async () => {
  await pool?.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  await pool?.end()
  if (hasMysql) await dropTables(mysqlPools, name)
  await mysqlPools.end()
  if (connection !== undefined) await dropKeys(connection, name)
  connection?.close()
})

type Bundle = StorageBundle & Required<Pick<StorageBundle, 'ledger' | 'limits' | 'admission'>>

const bundles: [string, boolean, () => Bundle][] = [
  ['SQLite', true, () => sqlite(join(folder, 'bundle.db'))],
  ['Postgres', hasPostgres, () => postgres(pool as NonNullable<typeof pool>, { schema: name, statementMs })],
  ['MySQL', hasMysql, () => mysql(mysqlPools, { prefix: name, statementMs })],
  ['Redis', hasRedis, () => redis(async (...words) => connection?.send(...words), { prefix: name })],
]

function claimOf(cost: number, bucket: string): LimitClaim {
  const rates = [{ bucket, cost, limit: 10, periodMs: 3_600_000, burst: 10 }]
  return { id: fresh('call'), rates, places: [{ bucket: `${bucket} places`, places: 2 }], leaseMs: 60_000 }
}

const floors = (left: readonly number[]) => left.map((each) => Math.floor(each + 0.001))

describe.each(bundles)('%s: limits and money in one step', (_, there, open) => {
  const storage = there ? open() : undefined
  const { admission, ledger, limits } = (storage ?? {}) as Bundle

  async function admitted(admission: AdmissionStore, cost: number, amount: bigint, account: string, bucket: string) {
    const claim = claimOf(cost, bucket)
    return { claim, ...(await admission.admit(claim, { id: claim.id, account, amount, leaseMs: 60_000 })) }
  }

  test.skipIf(!there)('are taken together, or not at all', async () => {
    const [account, bucket] = [fresh('account'), fresh('bucket')]
    await ledger.credit({ account, amount: 10n, reference: fresh('r') })
    const first = await admitted(admission, 4, 6n, account, bucket)
    expect([first.limits.admitted, floors(first.limits.left), first.limits.free]).toEqual([true, [6], [1]])
    expect(first.hold).toEqual({ outcome: 'held', balance: 4n })
    const poor = await admitted(admission, 4, 5n, account, bucket)
    expect([poor.limits.admitted, floors(poor.limits.left), poor.limits.free]).toEqual([true, [6], [1]])
    expect(poor.hold).toEqual({ outcome: 'insufficient', balance: 4n })
    const fast = await admitted(admission, 7, 1n, account, bucket)
    expect([fast.limits.admitted, fast.hold]).toEqual([false, undefined])
    expect(await ledger.account(account)).toMatchObject({ balance: 4n, held: 6n })
    const free = await limits.take(claimOf(6, bucket))
    expect([free.admitted, floors(free.left), free.free]).toEqual([true, [0], [0]])
  })

  test.skipIf(!there)(
    'are given back together, any number of calls at once, and a repetition changes no money',
    async () => {
      const [account, bucket] = [fresh('account'), fresh('bucket')]
      await ledger.credit({ account, amount: 100n, reference: fresh('r') })
      const calls = [
        await admitted(admission, 4, 30n, account, bucket),
        await admitted(admission, 4, 30n, account, bucket),
      ]
      const endings = calls.map(({ claim }, index) => ({
        returned: {
          id: claim.id,
          places: claim.places.map((rule) => rule.bucket),
          corrections: claim.rates.map((rule) => ({ ...rule, cost: -3 })),
        },
        end: { id: claim.id, account, ...(index === 0 && { amount: 11n }) },
      }))
      await admission.finish(endings)
      await admission.finish(endings.map(({ end }) => ({ end })))
      expect(await ledger.account(account)).toMatchObject({ balance: 89n, held: 0n })
      const after = await limits.take(claimOf(0, bucket))
      expect([floors(after.left), after.free]).toEqual([[8], [1]])
    },
  )

  test.skipIf(!there)('a cap that refuses the hold draws nothing; endings count for caps', async () => {
    const { caps } = ledger as Required<Pick<Ledger, 'caps'>>
    const [account, bucket] = [fresh('account'), fresh('bucket')]
    await ledger.credit({ account, amount: 100n, reference: fresh('r') })
    const cap = { name: fresh('cap'), window: 'always', periods: { boundaries: [0, 8e15] }, limits: { money: 50n } }
    const admit = async (amount: bigint) => {
      const claim = claimOf(4, bucket)
      const hold = { id: claim.id, account, amount, tokens: 9n, leaseMs: 60_000, caps: [cap] }
      return { ...(await admission.admit(claim, hold)), id: claim.id }
    }
    const first = await admit(30n)
    expect(first.hold).toMatchObject({ outcome: 'held', balance: 70n, caps: [{ held: { money: 30n, calls: 1n } }] })
    const second = await admit(21n)
    expect([second.limits.admitted, floors(second.limits.left), second.limits.free]).toEqual([true, [6], [1]])
    expect(second.hold).toMatchObject({ outcome: 'capped', balance: 70n, caps: [{ limits: { money: 50n } }] })
    const mark = { id: fresh('mark'), at: 10n, notice: '{}', measure: 'money' as const }
    const charges = first.hold?.caps?.map((state) => ({ ...state, thresholds: [mark] })) ?? []
    const third = await admit(20n)
    await admission.finish([
      { end: { id: first.id, account, amount: 11n, tokens: 5n, caps: charges } },
      { end: { id: third.id, account } },
    ])
    const [state] = await caps.read([cap])
    expect(state).toMatchObject({
      settled: { money: 11n, tokens: 5n, calls: 1n },
      held: { money: 0n, tokens: 0n, calls: 0n },
    })
    const notices = await caps.claimNotices(1_000, 60_000)
    expect(notices.find(({ id }) => id === mark.id)).toMatchObject({ settlement: first.id, account, value: 11n })
  })

  test.skipIf(!there)('admit exactly what the balance covers when many ask at once', async () => {
    const account = fresh('account')
    await ledger.credit({ account, amount: 1_000n, reference: fresh('r') })
    const asked = Array.from({ length: 200 }, async (_, index) =>
      admitted(admission, 0, 7n, account, fresh(`bucket ${index}`)),
    )
    const held = (await Promise.all(asked)).filter(({ hold }) => hold?.outcome === 'held')
    expect(held).toHaveLength(142)
    expect(await ledger.account(account)).toMatchObject({ balance: 6n, held: 994n })
  })
})

describe.skipIf(!hasPostgres)('Postgres', () => {
  test('is set up once, although ten processes begin at once', async () => {
    const pools = Array.from({ length: 10 }, () => postgresPool(1))
    const schema = ownName()
    const reads = pools.map(async (each) => postgres(each, { schema, statementMs }).keys.find('0'.repeat(64)))
    expect(await Promise.all(reads)).toEqual(pools.map(() => undefined))
    const versions = await pools[0]?.query(`SELECT version, serves FROM ${schema}.modelhatch_layout`)
    expect(versions?.rows).toEqual([{ version: 1, serves: 1 }])
    await pools[0]?.query(`DROP SCHEMA ${schema} CASCADE`)
    await Promise.all(pools.map((each) => each.end()))
  })

  test('loses a connection, and the host lives: the next call is served', async () => {
    const own = postgresPool(1)
    own.removeAllListeners('error')
    const { ledger } = postgres(own, { schema: name, statementMs })
    await ledger.account('unknown')
    const { rows } = await own.query('SELECT pg_backend_pid() AS pid')
    await pool?.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
    const served = async () => {
      try {
        await ledger.account('unknown')
        return true
      } catch {
        return false
      }
    }
    await expect.poll(served).toBe(true)
    await own.end()
  })

  test('takes names of models that no database would', async () => {
    const { usage } = postgres(pool as NonNullable<typeof pool>, { schema: name, statementMs })
    const account = fresh('account')
    await usage.append([usageRecord({ id: fresh('r'), account, model: 'a\0b\uD800c', cost: 1n })])
    expect((await usage.list({ account })).items[0]?.model).toBe('a\uFFFDb\uFFFDc')
  })

  test('wants a pool, and a schema that needs no quotes', () => {
    expect(() => postgres({} as never)).toThrow(/needs a pool/)
    expect(() => postgres(pool as NonNullable<typeof pool>, { schema: 'a"; DROP' })).toThrow(/lower-case letters/)
  })
})

describe.skipIf(!hasRedis)('Redis', () => {
  test('learns a script again when it has forgotten it', async () => {
    const { ledger } = redis(async (...words) => connection?.send(...words), { prefix: name })
    await ledger.account('unknown')
    await connection?.send('SCRIPT', 'FLUSH')
    expect(await ledger.account('unknown')).toBeUndefined()
  })

  test('forgets buckets that are full and places that are free', async () => {
    const prefix = ownName()
    const { limits } = redis(async (...words) => connection?.send(...words), { prefix })
    const rates = [{ bucket: 'b', cost: 1, limit: 1_000, periodMs: 1_000, burst: 10 }]
    await limits.take({ id: 'c', rates, places: [{ bucket: 'p', places: 1 }], leaseMs: 50 })
    const keys = (await connection?.send('KEYS', `*${prefix}*`)) as string[]
    const kept = `{${prefix}:layout}`
    expect(keys.sort()).toEqual([`{${prefix}:2:shared}:places:p`, `{${prefix}:2:shared}:rate:b`, kept])
    for (const key of keys.filter((name) => name !== kept))
      expect(await connection?.send('PTTL', key)).toBeGreaterThan(0)
    await connection?.send('DEL', ...keys)
  })

  test('counts a balance to the unit beyond 10^18, although the numbers of its scripts end at 2^53', async () => {
    const { ledger } = redis(async (...words) => connection?.send(...words), { prefix: name })
    const account = fresh('account')
    const credits = Array.from({ length: 112 }, () => ({ account, amount: mostMicros, reference: fresh('r') }))
    await Promise.all(credits.map(async (credit) => ledger.credit(credit)))
    const balance = mostMicros * 112n
    expect(balance).toBeGreaterThan(10n ** 18n)
    expect(await ledger.credit({ account, amount: 1n, reference: fresh('r') })).toEqual({
      outcome: 'credited',
      balance: balance + 1n,
    })
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 3n, leaseMs: 60_000 })
    await ledger.settle({ id, account, amount: 2n })
    expect(await ledger.account(account)).toMatchObject({ balance: balance - 1n, held: 0n })
    expect((await ledger.audit()).faults).toEqual([])
  })
})

describe('SQLite', () => {
  test('uses a database of the host, and leaves it open', async () => {
    const database = new DatabaseSync(':memory:')
    const storage = sqlite(database)
    await storage.ledger.credit({ account: 'a', amount: 5n, reference: 'r' })
    await storage.close()
    expect(database.prepare('SELECT balance FROM modelhatch_accounts').get()).toEqual({ balance: 5 })
    database.close()
  })

  test('waits for another process that is writing, without blocking the event loop', async () => {
    const file = join(folder, 'busy.db')
    const storage = sqlite(file)
    await storage.ledger.open({ id: 'a' })
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const crediting = storage.ledger.credit({ account: 'a', amount: 5n, reference: 'r' })
    // The event loop turns, or this would never be reached.
    await new Promise((resolve) => setTimeout(resolve, 20))
    other.exec('COMMIT')
    expect(await crediting).toEqual({ outcome: 'credited', balance: 5n })
    other.close()
    await storage.close()
  })

  test('runs what has waited for another process in its order, and undoes only what fails', async () => {
    const file = join(folder, 'waiting.db')
    const [other, database] = [new DatabaseSync(file), new Database(file, 'process', '')]
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (number INTEGER PRIMARY KEY)')
    await database.transaction(() => undefined)
    other.exec('BEGIN IMMEDIATE')
    const ended: number[] = []
    const waiting = Array.from({ length: 1_500 }, async (_, number) => {
      await database.transaction(() => {
        database.run('INSERT INTO t VALUES (?)', number)
        if (number % 3 === 1) throw new Error('undo')
      })
      ended.push(number)
    })
    other.exec('COMMIT')
    const failed = (await Promise.allSettled(waiting)).filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(500)
    const kept = Array.from({ length: 1_500 }, (_, number) => number).filter((number) => number % 3 !== 1)
    expect(ended).toEqual(kept)
    expect(other.prepare('SELECT number FROM t').all()).toEqual(kept.map((number) => ({ number })))
    database.close()
    other.close()
  })

  test('gives up after two seconds while another process keeps writing', async () => {
    const file = join(folder, 'locked.db')
    const storage = sqlite(file)
    await storage.ledger.open({ id: 'a' })
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const credit = async (reference: string) => storage.ledger.credit({ account: 'a', amount: 5n, reference })
    const given = await Promise.allSettled([credit('first'), credit('second')])
    expect(given.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    other.exec('COMMIT')
    expect(await credit('third')).toEqual({ outcome: 'credited', balance: 5n })
    other.close()
    await storage.close()
  })

  test('keeps completed writes when it is closed and opened again', async () => {
    const file = join(folder, 'again.db')
    const first = sqlite(file)
    await first.ledger.credit({ account: 'a', amount: 5n, reference: 'r' })
    await first.close()
    const second = sqlite(file)
    expect(await second.ledger.account('a')).toMatchObject({ balance: 5n })
    await second.close()
  })
})
