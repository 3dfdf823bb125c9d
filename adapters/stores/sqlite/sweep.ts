/** Sweeping a table, in steps that keep the host from its work for a moment only. */
import { Sweep } from '../sql/sweep.ts'
import type { Database } from './database.ts'

/** Milliseconds after which a step takes no further row. */
const stepMs = 4

/** Takes away the rows whose `ends` lies at least `backMs` milliseconds back. */
export function sweepOf(database: Database, table: string, backMs = 0): Sweep {
  const sql = `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ends <= ? ORDER BY ends LIMIT 1)`
  const step = () => {
    const [over, end] = [database.now() - backMs, performance.now() + stepMs]
    while (performance.now() < end) if (database.run(sql, over) === 0) return false
    return true
  }
  return new Sweep(() => database.transaction(step))
}
