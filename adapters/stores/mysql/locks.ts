/** Rows that a transaction locks. */
import type { TableRow } from '../sql/sql.ts'
import type { Ask } from './transaction.ts'
import { dialect } from './dialect.ts'

/** A row that is locked: its values, with the time as `now`, and whether this transaction has made it. */
export interface Locked {
  readonly row: TableRow
  readonly isNew: boolean
}

/**
 * Locks the rows of a table with these keys, in their order, so that transactions seldom deadlock. `make`: those that are made
 * if they are missing, because what does not exist cannot be locked.
 */
export async function lockRows(
  ask: Ask,
  table: string,
  key: string,
  names: Iterable<string>,
  make: (name: string) => boolean = () => true,
): Promise<ReadonlyMap<string, Locked>> {
  const wanted = [...new Set(names)].sort()
  const locked = new Map<string, Locked>()
  const lock = async (some: readonly string[], isNew: boolean) => {
    if (some.length === 0) return
    // Without the hint, the server reads a small table as a whole, and waits for locks of other rows.
    const text = `SELECT t.*, ${dialect.now} AS now FROM @.${table} t FORCE INDEX (PRIMARY)
      WHERE ${key} IN (${marks(some)}) FOR UPDATE`
    for (const row of (await ask(text, some)).rows) locked.set(row[key] as string, { row, isNew })
  }
  await lock(wanted, false)
  const missing = wanted.filter((name) => !locked.has(name) && make(name))
  if (missing.length > 0) {
    const rows = missing.map(() => '(?)').join(', ')
    ask.later(`INSERT INTO @.${table} (${key}) VALUES ${rows} ON DUPLICATE KEY UPDATE ${key} = ${key}`, missing)
    await lock(missing, true)
  }
  return locked
}

/** The time by the server's clock at which rows were asked for; 0 if there are none. */
export function timeOf(locked: ReadonlyMap<string, Locked>): number {
  return Math.max(0, ...[...locked.values()].map(({ row }) => Number(row['now'])))
}

/** A `?` for each value. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

/** Inserts rows, together with the next statement. `replaced`: the columns that are changed in those whose key exists. */
export function insertRows(
  ask: Ask,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  replaced: readonly string[] = [],
): void {
  if (rows.length === 0) return
  const end = replaced.map((name) => `${name} = VALUES(${name})`).join(', ')
  const text = `INSERT INTO @.${table} (${columns.map((name) => `\`${name}\``).join(', ')}) VALUES ${rows.map((row) => `(${marks(row)})`).join(', ')}`
  ask.later(end === '' ? text : `${text} ON DUPLICATE KEY UPDATE ${end}`, rows.flat())
}
