/** The functions for one call decide like those for batches. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Hold, LimitClaim, RateRule } from '../../../adapters/stores/index.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'

/** A generator of whole numbers below a bound, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    return Math.floor((state / 0x80_00_00_00) * below)
  }
}

/** A bundle whose short functions decline every call if `declined`, and the rows that calls leave behind. */
async function opened(declined: boolean) {
  const [pool, schema] = [postgresPool(2), ownName()]
  const decided = { short: 0, batch: 0, failed: 0 }
  const spy = new Proxy(pool, {
    get(target, name) {
      if (name === 'query') {
        return async (query: { text: string }) => {
          const isShort = /^SELECT \w+\.(?:admit|end)_call\(/.test(query.text)
          if (isShort && declined) return { rows: [{ result: null }] }
          const send = target.query.bind(target) as (query: unknown) => Promise<{ rows: { result: unknown }[] }>
          const result = await send(query).catch((error: unknown) => {
            decided.failed++
            throw error
          })
          const [row] = result.rows
          if (isShort && row?.result !== null) decided.short++
          if (/^SELECT \w+\.(?:admit|end)_calls\(/.test(query.text)) decided.batch++
          return result
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const storage = postgres(spy, { schema })
  onTestFinished(async () => {
    await storage.close()
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  const rows = async (sql: string) => (await pool.query(sql.replaceAll('@.', `${schema}.`))).rows as unknown[]
  const state = async () => ({
    accounts: await rows('SELECT id, balance FROM @.accounts ORDER BY id'),
    holds: await rows('SELECT id, account, amount FROM @.holds ORDER BY id'),
    entries: await rows('SELECT account, kind, reference, amount, overage FROM @.entries ORDER BY number'),
    places: await rows('SELECT bucket, holder FROM @.places ORDER BY bucket, holder'),
    slots: await rows('SELECT bucket, held FROM @.slots ORDER BY bucket'),
    buckets: await rows('SELECT name, round(used) AS used FROM @.buckets ORDER BY name'),
  })
  return { storage, state, decided }
}

describe.skipIf(!hasPostgres)('Postgres,', () => {
  test.each([1, 2])('calls one after the other have the same outcome as in batches (seed %i)', async (seed) => {
    const next = random(seed)
    const [short, batch] = [await opened(false), await opened(true)]
    const both = [short, batch]
    const accounts = ['acme', 'with "quotes" and \\', 'unlimited', 'unknown']
    for (const { storage } of both) {
      for (const account of accounts.slice(0, 2))
        await storage.ledger.credit({ account, amount: 3_000n, reference: account })
      await storage.ledger.open({ id: 'unlimited', unlimited: true })
    }
    const rate = (account: string, cost: number): RateRule => ({
      bucket: `rate ${account}`,
      cost,
      limit: 1,
      periodMs: 1e12,
      burst: 150,
    })
    const claimOf = (id: string, account: string): LimitClaim => ({
      id,
      rates: next(3) === 0 ? [] : [rate(account, next(8)), { ...rate(account, 1), bucket: 'rate of all' }],
      places:
        next(3) === 0
          ? []
          : [
              { bucket: `slots ${account}`, places: 6 },
              { bucket: 'slots of all', places: 12 },
            ],
      leaseMs: 600_000,
    })
    for (let step = 0; step < 200; step++) {
      const [id, account] = [`call ${next(90)}`, accounts[next(accounts.length)] as string]
      const claim = claimOf(id, account)
      const hold: Hold = { id, account, amount: BigInt(next(4) * 60), leaseMs: 600_000 }
      const amount = next(3) === 0 ? undefined : BigInt(next(300))
      const corrections = next(2) === 0 ? [] : [rate(account, next(9) - 4)]
      const returned = { id, places: claim.places.map(({ bucket }) => bucket), corrections }
      const kind = next(7)
      const [first, second] = await Promise.all(
        both.map(async ({ storage: { joint, ledger, limits } }) => {
          if (kind < 3) return joint.admit(claim, hold)
          if (kind === 3) return limits.take(claim)
          if (kind === 4) return amount === undefined ? ledger.release(hold) : ledger.settle({ id, account, amount })
          return joint.finish([{ returned, end: { id, account, ...(amount !== undefined && { amount }) } }])
        }),
      )
      expect(rounded(first), `step ${step}`).toEqual(rounded(second))
    }
    expect(await short.state()).toEqual(await batch.state())
    expect((await short.storage.ledger.audit()).faults).toEqual([])
    // A `pg.Pool` closes the connection of a statement that failed.
    expect(short.decided.failed).toBe(0)
    // Otherwise the test would compare the functions for batches with themselves.
    expect(short.decided.short).toBeGreaterThan(60)
    expect(batch.decided.short).toBe(0)
    expect(batch.decided.batch).toBeGreaterThan(150)
  })
})

/** A verdict without the little that rates refill between two statements. */
function rounded(verdict: unknown): unknown {
  return JSON.parse(
    JSON.stringify(verdict ?? null, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : typeof value === 'number' ? Math.round(value) : value,
    ),
  )
}
