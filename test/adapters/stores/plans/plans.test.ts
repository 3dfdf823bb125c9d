/** No statement that calls, tasks or sweeps wait for reads a whole table, on the oldest Postgres and on the newest. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../../adapters/stores/postgres/postgres.ts'
import { long } from '../../../long.ts'
import { hasPostgres, ownName } from '../../../servers.ts'
import { load } from './load.ts'
import { operate, watched } from './operations.ts'
import { explainedPglite, explainedPool, scansOf, type Explained } from './postgres.ts'

/** With a row for each part of the schema; and what version 1 recorded, which is empty after the upgrade. */
const small = ['migrations', 'upgrades', 'usage_1']
/** The server plans a statement anew for some calls, and then for any values. */
const rounds = long ? 7 : 1

const rows = long ? 200_000 : 500

/** PGlite takes seconds to start: in the short form it is asked only where there is no server. */
const kinds: [string, boolean, () => Promise<Explained> | Explained][] = [
  ['Postgres', hasPostgres, explainedPool],
  ['PGlite', long || !hasPostgres, explainedPglite],
]

describe.each(kinds)('%s', (_, there, open) => {
  test.skipIf(!there)(
    'reads no whole table in any statement of the stores',
    { timeout: long ? 600_000 : 60_000 },
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
      // In a small table a scan is right: what is forced to do without shows whether there is an index that can be used.
      if (!long) await explained.query('SET enable_seqscan = off')
      explained.plans()

      const scans = new Map<string, string[]>()
      const note = () => {
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
      for (const table of ['idempotency', 'responses']) await expect.poll(() => ended(explained, schema, table)).toBe(0)
      note()
      await explained.query('SET plan_cache_mode = force_generic_plan')
      await operate(bundle, 'account 99')
      note()
      await bundle.close()

      expect(Object.fromEntries(scans)).toEqual({})
      expect(missed()).toEqual([])
    },
  )
})

/** What the sweep of a table still has to take away. */
async function ended({ query }: Explained, schema: string, table: string): Promise<number> {
  const back = table === 'idempotency' ? '1 hour' : '0'
  const { rows } = await query(
    `SELECT count(*)::int AS n FROM ${schema}.${table} WHERE ends <= now() - interval '${back}'`,
  )
  return (rows[0] as { n: number }).n
}
