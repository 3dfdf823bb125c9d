/** Postgres while calls arrive faster than it can take them: here, because another transaction locks their account. */
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool, postgresUrl } from '../../servers.ts'

const account = 'acme'

/** As many bundles as processes, each with a pool of its own, and the greatest number of connections that they had at once. */
async function opened(processes: number) {
  const schema = ownName()
  const direct = postgresPool(2)
  const pools = Array.from({ length: processes }, () => {
    const pool = new Pool({ connectionString: postgresUrl, application_name: schema, max: 10 })
    pool.on('error', () => undefined)
    return pool
  })
  const storages = pools.map((pool) => postgres(pool, { schema }))
  let most = 0
  const over = new AbortController()
  const count = async () => {
    const sql = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $1'
    while (!over.signal.aborted) most = Math.max(most, (await direct.query(sql, [schema])).rows[0]?.count as number)
  }
  await storages[0]?.ledger.credit({ account, amount: 1_000_000n, reference: 'start' })
  const counting = count()
  onTestFinished(async () => {
    over.abort()
    await counting
    for (const storage of storages) await storage.close()
    await Promise.all(pools.map((pool) => pool.end()))
    await direct.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await direct.end()
  })
  let made = 0
  /** Makes calls of every bundle at once. Resolves to the number of those admitted. */
  const calls = async (each: number) => {
    const all = storages.flatMap(({ ledger }) =>
      Array.from({ length: each }, async () =>
        ledger.hold({ id: `call ${made++}`, account, amount: 1n, leaseMs: 600_000 }),
      ),
    )
    const settled = await Promise.allSettled(all)
    return settled.filter((one) => one.status === 'fulfilled' && one.value.outcome === 'held').length
  }
  const rows = async (sql: string) => (await direct.query(sql.replaceAll('@', schema))).rows as unknown[]
  return { direct, schema, calls, rows, connections: () => most }
}

describe.skipIf(!hasPostgres)('Postgres under overload', () => {
  test('serves every call as soon as it can, holds nothing for callers that have given up, and takes two connections a process', async () => {
    const { direct, schema, calls, rows, connections } = await opened(6)
    expect(await calls(1)).toBe(6)
    const blocker = await direct.connect()
    await blocker.query('BEGIN')
    await blocker.query(`SELECT FROM ${schema}.accounts FOR UPDATE`)
    for (let wave = 0; wave < 3; wave++) expect(await calls(150)).toBe(0)
    await blocker.query('COMMIT')
    blocker.release()
    expect(await calls(50)).toBe(300)
    expect(await rows('SELECT count(*)::int AS count FROM @.holds')).toEqual([{ count: 306 }])
    expect(connections()).toBeLessThanOrEqual(6 * 2)
  }, 60_000)
})
