/** Deletes expired rows of a table, in steps that any number of processes may run concurrently. */
import { Sweep } from '../index.ts'
import type { Database } from './database.ts'

/** Maximum number of rows per step. */
const batch = 100

/** Deletes the rows whose `ends` is at least `backMs` milliseconds ago. */
export function sweepOf(database: Database, table: string, backMs = 0): Sweep {
  // With ctid, and a clock that is constant within the statement, the planner never reads the whole table.
  const sql = `
    DELETE FROM @.${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM @.${table} WHERE ends <= statement_timestamp() - $1 * interval '1 millisecond'
      ORDER BY ends LIMIT ${batch} FOR UPDATE SKIP LOCKED
    )) RETURNING 1`
  return new Sweep(async () => (await database.manyRows(sql, [backMs])).length === batch)
}
