/** No statement that requests, video tasks or sweeps wait for reads a whole table, on a Postgres server and on PGlite. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../../adapters/stores/postgres/postgres.ts'
import { long } from '../../../long.ts'
import { hasPostgres, ownName } from '../../../servers.ts'
import { load } from './load.ts'
import { operate, watched } from './operations.ts'
import { explainedPglite, explainedPool, scansOf, type Explained } from './postgres.ts'

/** Tables that may be read whole, because they have few rows. */
const small = ['modelhatch_layout', 'upgrades', 'vendor_key_changes']
/** Postgres plans a prepared statement for its values five times, before it considers a generic plan. */
const rounds = long ? 7 : 1

const rows = long ? 200_000 : 2_000

/** PGlite takes seconds to start, so the short run uses it only without a server. */
const kinds: [string, boolean, () => Promise<Explained> | Explained][] = [
  ['Postgres', hasPostgres, explainedPool],
  ['PGlite', long || !hasPostgres, explainedPglite],
]

describe.each(kinds)('%s', (_, available, open) => {
  test.skipIf(!available)(
    'reads no whole table in any statement of the stores',
    { timeout: long ? 1_800_000 : 60_000 },
    async () => {
      const explained = await open()
      const schema = ownName()
      onTestFinished(async () => {
        await explained.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
        await explained.close()
      })
      const { bundle, missed } = watched(postgres(explained, { schema }))
      await bundle.keys.find('')
      await load(explained, schema, rows)
      // For small tables the planner prefers a scan. With scans disabled, it still uses one if no index fits.
      if (!long) await explained.query('SET enable_seqscan = off')
      explained.plans()

      const scans = new Map<string, string[]>()
      const collectScans = () => {
        for (const [text, plan] of explained.plans()) {
          const found = scansOf(plan, small)
          if (found.length > 0) scans.set(text.replaceAll(/\s+/g, ' '), found)
        }
      }
      const watching = Promise.withResolvers<void>()
      const stop = bundle.keys.watch?.(() => watching.resolve())
      for (let round = 0; round < rounds; round++) await operate(bundle, `account ${round + 1}`)
      await watching.promise
      stop?.()
      for (const table of ['idempotency', 'responses'])
        await expect.poll(() => expiredRows(explained, schema, table)).toBe(0)
      collectScans()
      await explained.query('SET plan_cache_mode = force_generic_plan')
      await operate(bundle, 'account 99')
      collectScans()
      await bundle.close()

      expect(Object.fromEntries(scans)).toEqual({})
      expect(missed()).toEqual([])
    },
  )
})

/** The number of expired rows that the sweep of a table still has to delete. */
async function expiredRows({ query }: Explained, schema: string, table: string): Promise<number> {
  const ageMs = table === 'idempotency' ? 3_600_000 : 0
  const { rows } = await query(
    `SELECT count(*)::int AS n FROM ${schema}.${table} WHERE ends <= extract(epoch FROM now()) * 1000 - ${ageMs}`,
  )
  return (rows[0] as { n: number }).n
}
