import {
  capFits,
  capLimitsWith,
  capPeriodAt,
  countedPeriods,
  thresholdsReached,
  type CapAmounts,
  type CapClaim,
  type CapPeriod,
  type CapState,
  type Hold,
  type LedgerCaps,
  type AlertThreshold,
  type Settlement,
} from '../index.ts'
import { sqlNotices } from '../sql/notices.ts'
import { overrideOf, overridesText, sqlOverrides } from '../sql/overrides.ts'
import type { Sql } from '../sql/sql.ts'
import { listIn } from '../unreadable.ts'
import { bigintOf, type Database, type Row } from './database.ts'
import { dialect } from './dialect.ts'

const useSql = `SELECT min(ends) FILTER (WHERE money + tokens + calls + held_money + held_tokens + held_calls <> 0) AS first,
  sum(money) AS money, sum(tokens) AS tokens, sum(calls) AS calls,
  sum(held_money) AS held_money, sum(held_tokens) AS held_tokens, sum(held_calls) AS held_calls
  FROM modelhatch_cap_use WHERE name = ? AND window = ? AND start BETWEEN ? AND ?`

const heldSql = `INSERT INTO modelhatch_cap_use (name, window, start, ends, held_money, held_tokens, held_calls)
  VALUES (?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET held_money = held_money + excluded.held_money,
  held_tokens = held_tokens + excluded.held_tokens, held_calls = held_calls + 1`

const settledSql = `INSERT INTO modelhatch_cap_use (name, window, start, ends, money, tokens, calls)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET money = money + excluded.money,
  tokens = tokens + excluded.tokens, calls = calls + excluded.calls`

const chargeSql = `INSERT OR IGNORE INTO modelhatch_cap_charges (hold, account, refundable, caps, ends)
  VALUES (?, ?, ?, ?, ?)`

const overridesSql = overridesText(dialect, 'name = ?').replaceAll('@.', 'modelhatch_')

const noticeSql = `INSERT OR IGNORE INTO modelhatch_notices (id, notice, settlement, account, value)
  VALUES (?, ?, ?, ?, ?)`

/** `returnExpired` returns all expired holds to their accounts. */
export function sqliteCaps(database: Database, sql: Sql, returnExpired: () => void): LedgerCaps {
  return {
    read: (claims) =>
      database.transaction(() => {
        returnExpired()
        const now = database.now()
        return claims.map((claim) => stateOf(database, claim, capPeriodAt(claim, now)))
      }),
    ...sqlOverrides(sql),
    ...sqlNotices(sql),
  }
}

/** Holds for all caps, or for none. Must run in a transaction, like all functions below. */
export function holdCaps(
  database: Database,
  { id, amount, tokens = 0n, caps = [] }: Hold,
  returnExpired: () => void,
): { readonly fits: boolean; readonly states: readonly CapState[] } {
  const now = database.now()
  const periods = caps.map((claim) => capPeriodAt(claim, now))
  const states = () => caps.map((claim, index) => stateOf(database, claim, periods[index] as CapPeriod))
  const more = { money: amount, tokens, calls: 1n }
  const fit = () => states().every((state) => capFits(state, more))
  if (!fit()) {
    returnExpired()
    if (!fit()) return { fits: false, states: states() }
  }
  for (const { name, window, start, end, rollingMs } of periods) {
    database.run(heldSql, name, window, start, end + rollingMs, amount, tokens)
    database.run('INSERT INTO modelhatch_cap_holds VALUES (?, ?, ?, ?, ?)', id, name, window, start, tokens)
  }
  return { fits: true, states: states() }
}

/** The states of the caps of an open hold, in the periods in which it was made. */
export function statesOfHold(database: Database, id: string, caps: readonly CapClaim[]): CapState[] {
  const sql = `SELECT u.name, u.window, u.start, u.ends FROM modelhatch_cap_holds h
    JOIN modelhatch_cap_use u ON u.name = h.name AND u.window = h.window AND u.start = h.start WHERE h.hold = ?`
  const rows = database.all(sql, id)
  return caps.flatMap((claim) => {
    const row = rows.find((each) => each['name'] === claim.name && each['window'] === claim.window)
    if (row === undefined) return []
    const start = Number(row['start'])
    const rollingMs = 'grainMs' in claim.periods ? claim.periods.rollingMs : 0
    const { name, window } = claim
    return stateOf(database, claim, { name, window, start, end: Number(row['ends']) - rollingMs, rollingMs })
  })
}

/** Counts a settlement for its caps, and records the notices of the thresholds that it reaches. */
export function settleCaps(database: Database, settlement: Settlement): void {
  const { id, account, amount, tokens = 0n, caps = [] } = settlement
  if (caps.length === 0) return
  const amounts = { money: amount, tokens, calls: 1n }
  for (const charge of caps) {
    const { name, window, start, end, rollingMs, thresholds = [] } = charge
    const before = thresholds.length === 0 ? amounts : usedIn(database, charge).settled
    database.run(settledSql, name, window, start, end + rollingMs, amount, tokens, 1)
    for (const [threshold, value] of thresholdsReached(thresholds, before, amounts))
      note(database, threshold, settlement, value)
  }
  database.run(chargeSql, id, account, amount, ...countedPeriods(caps))
}

/** Takes a refund of a settlement from the use of its caps. */
export function refundCaps(database: Database, hold: string, account: string, amount: bigint): void {
  const sql = 'SELECT refundable, caps FROM modelhatch_cap_charges WHERE hold = ? AND account = ?'
  const row = database.get(sql, hold, account)
  if (row === undefined) return
  const refundable = bigintOf(row['refundable'])
  const money = amount < refundable ? amount : refundable
  database.run('UPDATE modelhatch_cap_charges SET refundable = ? WHERE hold = ?', refundable - money, hold)
  for (const { name, window, start, end, rollingMs } of (listIn(row['caps']) ?? []) as CapPeriod[]) {
    database.run(settledSql, name, window, start, end + rollingMs, -money, 0, 0)
  }
}

/** Records a notice, unless one with its id was recorded before. */
export function note(
  database: Database,
  { id, notice }: AlertThreshold,
  { id: hold, account }: Settlement,
  value: bigint,
): void {
  database.run(noticeSql, id, notice, hold, account, value)
}

function stateOf(database: Database, claim: CapClaim, period: CapPeriod): CapState {
  const { first, settled, held } = usedIn(database, period)
  const limits = capLimitsWith(claim.limits, database.all(overridesSql, claim.name).map(overrideOf))
  return { ...period, resetsAt: first ?? period.end + period.rollingMs, settled, held, limits }
}

/** The sums of the periods that count in a period, and when the first one of them with use counts no longer. */
function usedIn(database: Database, { name, window, start, rollingMs }: CapPeriod) {
  const row = database.get(useSql, name, window, start - rollingMs, start) as Row
  const amounts = (prefix: string): CapAmounts => ({
    money: bigintOf(row[`${prefix}money`]),
    tokens: bigintOf(row[`${prefix}tokens`]),
    calls: bigintOf(row[`${prefix}calls`]),
  })
  const first = row['first'] === null ? undefined : Number(row['first'])
  return { first, settled: amounts(''), held: amounts('held_') }
}
