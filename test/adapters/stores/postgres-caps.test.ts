/** Caps in Postgres under concurrency, and next to gateways of an earlier version. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CapClaim, CapLimits, CapState, Hold, LedgerCaps } from '../../../adapters/stores/index.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'

const leaseMs = 60_000

/** Bundles over one schema, each with a pool of its own as in another process, and the codes of their failed statements. */
async function opened(processes = 1) {
  const [schema, codes] = [ownName(), new Array<string | undefined>()]
  const all = Array.from({ length: processes }, () => {
    const pool = postgresPool(4)
    const query = pool.query.bind(pool)
    const watched = new Proxy(pool, {
      get(target, name) {
        if (name !== 'query') return Reflect.get(target, name) as unknown
        return async (text: string) =>
          query(text).catch((error: { code?: string }) => {
            codes.push(error.code)
            throw error
          })
      },
    })
    return { pool, storage: postgres(watched, { schema }) }
  })
  const [first] = all as [(typeof all)[number]]
  onTestFinished(async () => {
    for (const { storage } of all) await storage.close()
    await first.pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    for (const { pool } of all) await pool.end()
  })
  await first.storage.keys.find('')
  const caps = first.storage.ledger.caps as LedgerCaps
  const used = async (claim: CapClaim) => {
    const [{ settled, held }] = (await caps.read([claim])) as [CapState]
    return { settled, held }
  }
  const sql = async (text: string, values?: unknown[]) => (await first.pool.query(text, values)).rows
  return { ...first, all, schema, codes, caps, used, sql }
}

function capOf(name: string, limits: CapLimits): CapClaim {
  return { name, window: 'always', periods: { boundaries: [0, 8e15] }, limits }
}

function holdOf(account: string, caps: readonly CapClaim[], changes: Partial<Hold> = {}): Hold {
  return { id: randomUUID(), account, amount: 2n, tokens: 3n, leaseMs, caps, ...changes }
}

/** A number below `below` that depends only on `seed`. */
function chosen(seed: number, below: number): number {
  return ((seed * 2_654_435_761) >>> 7) % below
}

describe.skipIf(!hasPostgres)('caps in Postgres', () => {
  test('200 callers in two processes never pass a cap of several accounts, and no statement fails', async () => {
    const { all, codes, used, storage } = await opened(2)
    const accounts = Array.from({ length: 12 }, (_, index) => `account ${index}`)
    for (const account of accounts) await storage.ledger.credit({ account, amount: 10_000n, reference: account })
    const group = capOf('z group', { money: 601n })
    const model = capOf('a model', { tokens: 1_000n })
    const own = new Map(accounts.map((account) => [account, capOf(`m ${account}`, { calls: 60n })]))
    const held: Hold[] = []
    const stop = new AbortController()
    const renewing = all.map(async ({ storage: { ledger } }) => {
      while (!stop.signal.aborted) {
        await ledger.renew(held.slice(-500), leaseMs)
        await setImmediate()
      }
    })
    const outcomes = new Map<string, number>()
    const call = async (caller: number, round: number) => {
      const seed = caller * 31 + round
      const { ledger, admission } = (all[caller % 2] as (typeof all)[number]).storage
      const account = accounts[chosen(seed, accounts.length)] as string
      const claims = [own.get(account) as CapClaim, group, model]
      const hold = holdOf(account, seed % 2 === 0 ? claims : claims.toReversed())
      const verdict = await ledger.hold(hold)
      outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
      for (const { settled, held: reserved, limits } of verdict.caps ?? []) {
        for (const measure of ['money', 'tokens', 'calls'] as const) {
          const limit = limits[measure]
          if (limit !== undefined) expect(settled[measure] + reserved[measure]).toBeLessThanOrEqual(limit)
        }
      }
      if (verdict.outcome !== 'held') return
      held.push(hold)
      const { id } = hold
      const settlement = { id, account, amount: BigInt(chosen(seed, 3)), tokens: 1n, caps: verdict.caps ?? [] }
      await admission.finish([{ end: seed % 5 === 0 ? { id, account } : settlement }])
    }
    await Promise.all(
      Array.from({ length: 200 }, async (_, caller) => {
        for (let round = 0; round < 5; round++) await call(caller, round)
      }),
    )
    stop.abort()
    await Promise.all(renewing)

    const [ofGroup, ofModel] = [await used(group), await used(model)]
    const { settlements, faults } = await storage.ledger.audit()
    expect(faults).toEqual([])
    expect(ofGroup.settled.money).toBe(settlements)
    expect(settlements).toBeLessThanOrEqual(601n)
    for (const { held: reserved } of [ofGroup, ofModel, ...(await Promise.all([...own.values()].map(used)))]) {
      expect(reserved).toEqual({ money: 0n, tokens: 0n, calls: 0n })
    }
    expect(outcomes.get('held')).toBeGreaterThan(100)
    expect(outcomes.get('capped')).toBeGreaterThan(0)
    expect(codes).toEqual([])
  }, 60_000)

  test('a hold renewed for a shorter time counts no longer than that', async () => {
    const { storage, used } = await opened()
    await storage.ledger.credit({ account: 'acme', amount: 100n, reference: 'start' })
    const claim = capOf('cap', { calls: 1n })
    const hold = holdOf('acme', [claim])
    await storage.ledger.hold(hold)
    await storage.ledger.renew([hold], 1)
    await expect.poll(async () => (await used(claim)).held.calls).toBe(0n)
  })

  test('an expired hold of a cap is not returned while it is being renewed', async () => {
    const { storage, schema, pool, used } = await opened()
    await storage.ledger.credit({ account: 'acme', amount: 100n, reference: 'start' })
    const claim = capOf('cap', { calls: 1n })
    const hold = holdOf('acme', [claim], { leaseMs: 300 })
    await storage.ledger.hold(hold)
    const other = await pool.connect()
    onTestFinished(() => other.release())
    await other.query('BEGIN')
    await other.query(`UPDATE ${schema}.holds SET ends = now() + interval '1 hour'`)
    await other.query('SELECT pg_sleep(0.4)')
    const reading = used(claim)
    await expect
      .poll(
        async () => (await pool.query(`SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()`)).rowCount,
      )
      .toBeGreaterThan(0)
    await other.query('COMMIT')
    expect((await reading).held.calls).toBe(1n)
  })

  test('a renewal does not wait for holds and places that are ending', async () => {
    const { storage, schema, pool, sql } = await opened()
    await storage.ledger.credit({ account: 'acme', amount: 100n, reference: 'start' })
    const holds = [holdOf('acme', []), holdOf('acme', [])] as const
    const bucket = 'slots'
    const holders = holds.map(({ id }) => ({ id, places: [bucket] }))
    for (const hold of holds) {
      const claim = { id: hold.id, rates: [], places: [{ bucket, places: 9 }], leaseMs }
      await storage.admission.admit(claim, hold)
    }
    const other = await pool.connect()
    onTestFinished(() => other.release())
    await other.query('BEGIN')
    for (const [table, column] of [
      ['holds', 'id'],
      ['places', 'holder'],
    ])
      await other.query(`SELECT FROM ${schema}.${table} WHERE ${column} = $1 FOR UPDATE`, [holds[0].id])
    await storage.ledger.renew(holds, 3_600_000)
    await storage.limits.renew(holders, 3_600_000)
    await other.query('ROLLBACK')
    for (const [table, column] of [
      ['holds', 'id'],
      ['places', 'holder'],
    ]) {
      const rows = await sql(
        `SELECT ${column} AS id FROM ${schema}.${table} WHERE ends > now() + interval '10 minutes'`,
      )
      expect(rows).toEqual([{ id: holds[1].id }])
    }
  })
})
