import type { SQLInputValue } from 'node:sqlite'
import { Sweep } from '../index.ts'
import type { Database } from './database.ts'

/** Milliseconds after which a step stops, so that it blocks the event loop only briefly. */
const stepMs = 4

/** Deletes the rows of a table whose `ends` is at least `graceMs` milliseconds ago. */
export function sweepOf(database: Database, table: string, graceMs = 0): Sweep {
  const sql = `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ends <= ? ORDER BY ends LIMIT 1)`
  return new Sweep(() => repeat(database, sql, () => database.now() - graceMs))
}

/** Repeats a statement for a short time, in one transaction. Returns whether it still changed rows at the end. */
export function repeat(database: Database, sql: string, value: () => SQLInputValue): Promise<boolean> | boolean {
  return database.transaction(() => {
    const [bound, end] = [value(), performance.now() + stepMs]
    while (performance.now() < end) if (database.run(sql, bound) === 0) return false
    return true
  })
}
