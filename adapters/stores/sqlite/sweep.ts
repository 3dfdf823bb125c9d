import { Sweep } from '../index.ts'
import type { Database } from './database.ts'

/** Milliseconds after which a step stops, so that it blocks the event loop only briefly. */
const stepMs = 4

/** Deletes the rows of a table whose `ends` is at least `graceMs` milliseconds ago. */
export function sweepOf(database: Database, table: string, graceMs = 0): Sweep {
  const sql = `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ends <= ? ORDER BY ends LIMIT 1)`
  const step = () => {
    const [expired, end] = [database.now() - graceMs, performance.now() + stepMs]
    while (performance.now() < end) if (database.run(sql, expired) === 0) return false
    return true
  }
  return new Sweep(() => database.transaction(step))
}
