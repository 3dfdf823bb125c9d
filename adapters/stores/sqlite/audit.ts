import type { LedgerAudit } from '../index.ts'
import { bigintOf, type Database } from './database.ts'

/** Recomputes all balances from the entries. Must run in a transaction. */
export function audit(database: Database): LedgerAudit {
  // The plus sign keeps SQLite from grouping by the index on accounts, which would look up every entry separately.
  const rows = database.all(`
    WITH entered AS (
      SELECT account, coalesce(sum(amount) FILTER (WHERE kind = 'credit'), 0) AS credits,
        -coalesce(sum(amount) FILTER (WHERE kind = 'settle'), 0) AS settlements
      FROM modelhatch_entries GROUP BY +account
    ), open AS (
      SELECT account, coalesce(sum(amount) FILTER (WHERE ends > unixepoch('subsec') * 1000.0), 0) AS held,
        coalesce(sum(amount) FILTER (WHERE ends <= unixepoch('subsec') * 1000.0), 0) AS expired
      FROM modelhatch_holds GROUP BY account
    )
    SELECT id, balance, coalesce(credits, 0) AS credits, coalesce(settlements, 0) AS settlements,
      coalesce(held, 0) AS held, coalesce(expired, 0) AS expired
    FROM modelhatch_accounts a LEFT JOIN entered e ON e.account = a.id LEFT JOIN open o ON o.account = a.id`)
  let [credits, balances, holds, settlements] = [0n, 0n, 0n, 0n]
  const faults: { account: string; balance: bigint; expected: bigint }[] = []
  for (const row of rows) {
    const balance = bigintOf(row['balance']) + bigintOf(row['expired'])
    const expected = bigintOf(row['credits']) - bigintOf(row['settlements']) - bigintOf(row['held'])
    if (balance !== expected) faults.push({ account: row['id'] as string, balance, expected })
    credits += bigintOf(row['credits'])
    settlements += bigintOf(row['settlements'])
    balances += balance
    holds += bigintOf(row['held'])
  }
  return { accounts: rows.length, credits, balances, holds, settlements, faults }
}
