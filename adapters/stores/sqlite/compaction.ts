import { openingOf } from '../sql/accounts.ts'
import { bigintOf, type Database } from './database.ts'

/** Replaces old charges of an account by their sum. Must run in a transaction. */
export function compact(database: Database, account: string, before: number, most: number): number {
  const reference = openingOf(account)
  const old = database.all(
    `SELECT number FROM modelhatch_entries
    WHERE account = ? AND kind <> 'credit' AND reference <> ? AND at < ? ORDER BY number LIMIT ?`,
    account,
    reference,
    before,
    most,
  )
  const number = old.at(-1)?.['number'] ?? null
  if (number === null) return 0
  // Exactly the rows that are deleted are added up, even if the clock was set back between two of them.
  const replaced = database.all(
    `DELETE FROM modelhatch_entries WHERE account = ? AND kind <> 'credit' AND number <= ?
    RETURNING reference, amount, overage, at`,
    account,
    number,
  )
  const sum = (name: string) => replaced.reduce((total, row) => total + bigintOf(row[name]), 0n)
  database.run(
    `INSERT INTO modelhatch_entries (number, account, kind, reference, amount, overage, at)
    VALUES (?, ?, 'settle', ?, ?, ?, ?)`,
    number,
    account,
    reference,
    sum('amount'),
    sum('overage'),
    Math.max(...replaced.map(({ at }) => Number(at))),
  )
  return replaced.filter((row) => row['reference'] !== reference).length
}
