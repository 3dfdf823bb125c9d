/** A table of labels that was small when Postgres analysed it, as autovacuum does once a minute at most, and has grown since. */
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool } from '../../../servers.ts'
import { usageRecord } from '../../../observe/usage/record.ts'
import { statementMs } from '../../../patience.ts'

function recordsOf(from: number, to: number, run: string) {
  return Array.from({ length: to - from }, (_, index) =>
    usageRecord({ id: `req_${run}_${from + index}`, user: `user_${from + index}`, startedAt: Date.UTC(2031, 0, 1) }),
  )
}

test.skipIf(!hasPostgres)('records find their labels by an index', async () => {
  const pool = postgresPool(1)
  const schema = ownName()
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  const { usage } = postgres(pool, { schema, statementMs })
  await usage.append(recordsOf(0, 20, 'first'))
  await pool.query(`ALTER TABLE ${schema}.usage_labels SET (autovacuum_enabled = false)`)
  await pool.query(`ANALYZE ${schema}.usage_labels`)
  // The plan of this is kept.
  await usage.append(recordsOf(0, 20, 'second'))
  await usage.append(recordsOf(0, 2_000, 'third'))
  const rowsScanned = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()')
    const read = `SELECT seq_tup_read AS rows FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'usage_labels'`
    const { rows } = await pool.query<{ rows: string }>(read, [schema])
    return Number(rows[0]?.rows)
  }
  const before = await rowsScanned()
  await usage.append(recordsOf(0, 100, 'fourth'))
  expect((await rowsScanned()) - before).toBe(0)
})
