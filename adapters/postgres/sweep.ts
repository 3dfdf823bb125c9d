/** Sweeping a table, in steps that any number of processes may take at once. */
import { Sweep } from '../sweep.ts'
import type { Database } from './database.ts'

/** Rows of one step at most. */
const batch = 100

/** Takes away the rows whose `ends` lies at least `backMs` milliseconds back. `key`: the columns of the primary key. */
export function sweepOf(database: Database, table: string, key: readonly string[], backMs = 0): Sweep {
  const of = (name: string) => key.map((column) => `${name}.${column}`).join(', ')
  // A clock that stands still during the statement lets it use the index.
  const sql = `
    WITH gone AS (
      SELECT ${key.join(', ')} FROM @.${table} WHERE ends <= statement_timestamp() - $1 * interval '1 millisecond'
      ORDER BY ends LIMIT ${batch} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM @.${table} old USING gone WHERE (${of('old')}) = (${of('gone')}) RETURNING 1`
  return new Sweep(async () => (await database.manyRows(sql, [backMs])).length === batch)
}
