/** Price lines of usage records, their removal after the retention period, and the anonymisation of accounts and users. */
import type { Anonymisation, UsageStore } from '../index.ts'
import type { Database } from './database.ts'
import { sumLines } from './usage-lines.ts'
import { anonymiseRefused } from './usage-refused.ts'

/** Milliseconds after which a step stops, so that it blocks the event loop only briefly. */
const stepMs = 4

type Methods = Required<Pick<UsageStore, 'sumLines' | 'removeBefore' | 'anonymise'>>

export function usageLife(database: Database): Methods {
  return {
    sumLines: (filter) => sumLines(database, filter),
    removeBefore: (before, most, only) => database.transaction(() => removeBefore(database, before, most, only)),
    anonymise: (anonymisation) => database.transaction(() => anonymise(database, anonymisation)),
  }
}

function removeBefore(database: Database, before: number, most: number, only?: 'refused'): number {
  let removed = 0
  for (const [table, key] of [
    ['modelhatch_refused', 'id'],
    ['modelhatch_calls', 'number'],
  ] as const) {
    if (only !== undefined && table !== 'modelhatch_refused') continue
    const sql = `DELETE FROM ${table} WHERE ${key} IN (
      SELECT ${key} FROM ${table} WHERE started_at < ? ORDER BY started_at LIMIT ?
    )`
    removed += database.run(sql, before, most - removed)
  }
  return removed
}

/** A few milliseconds of the work; returns whether there is more. The labels come last, because they select the records. */
function anonymise(database: Database, { account, user, as }: Anonymisation): boolean {
  const end = performance.now() + stepMs
  const owned = user === undefined ? 'account = ?' : 'account = ? AND "user" = ?'
  const owner = user === undefined ? [account] : [account, user]
  while (performance.now() < end) {
    const sessions = database.run(
      `UPDATE modelhatch_calls SET session = NULL, agent = NULL WHERE number IN (
        SELECT c.number FROM modelhatch_usage_labels l JOIN modelhatch_calls c ON c.label = l.label
        WHERE ${owned} AND c.session IS NOT NULL LIMIT 100
      )`,
      ...owner,
    )
    if (sessions > 0 || anonymiseRefused(database, { account, as, ...(user !== undefined && { user }) }) > 0) continue
    database.run(
      `UPDATE modelhatch_usage_labels SET account = ?, key = '', "user" = NULL, tags = NULL WHERE ${owned}`,
      as,
      ...owner,
    )
    database.run(`DELETE FROM modelhatch_usage_users WHERE ${owned}`, ...owner)
    return false
  }
  return true
}
