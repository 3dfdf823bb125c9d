/** No statement that requests, video tasks or sweeps wait for reads a whole table of SQLite. */
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../../../adapters/stores/sqlite/sqlite.ts'
import { record, start } from '../../../../src/testing/usage-sums.ts'
import { operate, watched } from './operations.ts'

/** Tables with few rows, which may be read whole. */
const small = /modelhatch_layout|sqlite_master/

/**
 * The lines of a plan that read a whole table or index, not the rows of a query within it. With a `LIMIT`, an index is read only
 * as far as needed, and so is a table without a filter, in the order of its primary key.
 */
function scansIn(plan: readonly string[], sql: string): string[] {
  const made = plan.map((line) => /^(?:CO-ROUTINE|MATERIALIZE) (\S+)$/.exec(line)?.[1])
  return plan.filter((line) => {
    const [, name] = /^SCAN (\S+)/.exec(line) ?? []
    if (name === undefined || made.includes(name) || /^SCAN (?:json_each|given|CONSTANT ROW|\(subquery)/.test(line))
      return false
    const inOrder = !/ WHERE /.test(sql) && !plan.some((each) => each.includes('TEMP B-TREE'))
    return !((/USING (?:COVERING )?INDEX/.test(line) || inOrder) && / LIMIT /.test(sql))
  })
}

/** The statements that a database has prepared, and their plans. */
function watching(database: DatabaseSync) {
  const statements = new Set<string>()
  const prepare = database.prepare.bind(database)
  database.prepare = (sql) => {
    statements.add(sql)
    return prepare(sql)
  }
  const planOf = (sql: string) =>
    (prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail)
  return { statements, planOf }
}

test('SQLite reads no whole table in any statement of the stores', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { statements, planOf } = watching(database)
  const { bundle, missed } = watched(sqlite(database))
  const polled = Promise.withResolvers<void>()
  await bundle.keys.find('')
  const stop = bundle.keys.watch?.(() => polled.resolve())
  await operate(bundle, 'account')
  await polled.promise
  stop?.()
  const swept = () =>
    [...statements].filter((sql) => /^DELETE FROM modelhatch_\w+ WHERE .* WHERE ends/.test(sql)).length
  await expect.poll(swept).toBe(5)
  await bundle.close()

  // Without statistics, which nothing here gathers, a plan does not depend on the number of rows.
  const scans = [...statements].flatMap((sql) => {
    const found = scansIn(planOf(sql), sql)
    return found.length === 0 || small.test(sql) ? [] : [{ sql, found }]
  })
  expect(statements.size).toBeGreaterThan(40)
  expect(scans).toEqual([])
  expect(missed()).toEqual([])
})

test('SQLite finds labels of a user by the user, and those of a slice by their numbers', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { statements, planOf } = watching(database)
  const { usage } = sqlite(database)
  const records = Array.from({ length: 2_150 }, (_, index) =>
    record({ account: `a${index}`, user: index < 150 ? 'u' : 'v', model: 'm', startedAt: start + index }),
  )
  await usage.append(records)
  expect((await usage.list({ user: 'u', model: 'm', limit: 200 })).items).toHaveLength(150)
  await usage.summarise({ by: ['account', 'day'], model: 'm' })
  const paths = (of: RegExp) => {
    const found = [...statements].filter((sql) => of.test(sql)).flatMap(planOf)
    return new Set(found.flatMap((line) => /^(?:SEARCH|SCAN) l USING (.*)/.exec(line)?.[1] ?? []))
  }
  expect(paths(/l\.label (?:IN|>)/)).toEqual(
    new Set(['INTEGER PRIMARY KEY (rowid=?)', 'INTEGER PRIMARY KEY (rowid>? AND rowid<?)']),
  )
  expect(paths(/usage_labels l +WHERE l\."model" = .* AND l\."user" = /)).toEqual(
    new Set(['INDEX modelhatch_usage_labels_user (user=?)']),
  )
})
