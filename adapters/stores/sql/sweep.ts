import { Sweep } from '../index.ts'
import type { Sql } from './sql.ts'

/** Deletes the rows of a table whose `ends` is at least `graceMs` milliseconds ago. Any number of processes may do so at once. */
export function sweepOf({ dialect, part }: Sql, table: string, graceMs = 0): Sweep {
  const some = dialect.some(table, `ends <= ${dialect.now} - :graceMs ORDER BY ends LIMIT ${dialect.part}`, {
    skips: true,
  })
  return new Sweep(() => part(`DELETE FROM @.${table} WHERE ${some}`, { graceMs }))
}
