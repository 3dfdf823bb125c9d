/** No statement that requests, video tasks or sweeps wait for reads a whole table of SQLite. */
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../../../adapters/stores/sqlite/sqlite.ts'
import { operate, watched } from './operations.ts'

/** Tables with few rows, which may be read whole. */
const small = /modelhatch_layout|sqlite_master/

/** Whether a line of a plan reads a whole table or index. With a `LIMIT`, an index is read only as far as needed. */
function isScan(detail: string, sql: string): boolean {
  if (!detail.startsWith('SCAN ') || /^SCAN (?:json_each|CONSTANT ROW|\(subquery)/.test(detail)) return false
  return !(/USING (?:COVERING )?INDEX/.test(detail) && / LIMIT /.test(sql))
}

test('SQLite reads no whole table in any statement of the stores', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const statements = new Set<string>()
  const prepare = database.prepare.bind(database)
  database.prepare = (sql) => {
    statements.add(sql)
    return prepare(sql)
  }
  const { bundle, missed } = watched(sqlite(database))
  const polled = Promise.withResolvers<void>()
  await bundle.keys.find('')
  const stop = bundle.keys.watch?.(() => polled.resolve())
  await operate(bundle, 'account')
  await polled.promise
  stop?.()
  const swept = () => [...statements].filter((sql) => /^DELETE FROM modelhatch_\w+ WHERE rowid IN/.test(sql)).length
  await expect.poll(swept).toBe(5)
  await bundle.close()

  // Without statistics, which nothing here gathers, a plan does not depend on the number of rows.
  const scans = [...statements].flatMap((sql) => {
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    const found = plan.filter(({ detail }) => isScan(detail, sql)).map(({ detail }) => detail)
    return found.length === 0 || small.test(sql) ? [] : [{ sql, found }]
  })
  expect(statements.size).toBeGreaterThan(40)
  expect(scans).toEqual([])
  expect(missed()).toEqual([])
})
