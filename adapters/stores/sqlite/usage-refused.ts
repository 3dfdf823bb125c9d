/** The records of refused requests. */
import type { Anonymisation, UsageFilter, UsageRecord } from '../index.ts'
import { given, type Condition } from './conditions.ts'
import type { Database } from './database.ts'

/** Inserts the record of a refused request unless its id exists. */
export function insertRefused(database: Database, record: UsageRecord): void {
  const { id, startedAt, account, key = null, user = null, session = null, code = null } = record
  const { cost, overage, ...rest } = record
  // SQLite would change unpaired surrogates in the columns.
  const named = [key, record.model, user, session, code].map((text) => text?.toWellFormed() ?? null)
  database.run(
    `INSERT INTO modelhatch_refused (id, started_at, account, key, model, "user", session, code, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    id,
    startedAt,
    account,
    ...named,
    JSON.stringify({ ...rest, cost: String(cost), overage: String(overage) }),
  )
}

/** Conditions on records of refused requests. */
export function refusedConditions({
  account,
  key,
  model,
  user,
  tag,
  session,
  outcome = 'refused',
  code,
}: UsageFilter): Condition[] {
  return [
    ...(outcome === 'refused' ? [] : [['false'] as const]),
    ...given('account = ?', account),
    ...given('key = ?', key),
    ...given('model = ?', model),
    ...given('"user" = ?', user),
    ...given('session = ?', session),
    ...given('code = ?', code),
    ...given(`EXISTS (SELECT 1 FROM json_each(record, '$.tags') WHERE value = ?)`, tag),
  ]
}

/** Anonymises some of the records. Returns how many. */
export function anonymiseRefused(database: Database, { account, user, as }: Anonymisation): number {
  const [isOf, values] =
    user === undefined ? ['account = ?', [account]] : ['account = ? AND "user" = ?', [account, user]]
  const isPersonal = '(account <> ? OR key IS NOT NULL OR "user" IS NOT NULL OR session IS NOT NULL)'
  return database.run(
    `UPDATE modelhatch_refused SET account = ?, key = NULL, "user" = NULL, session = NULL,
      record = json_set(json_remove(record, '$.key', '$.user', '$.session', '$.agent', '$.tags'), '$.account', ?)
    WHERE id IN (SELECT id FROM modelhatch_refused WHERE ${isOf} AND ${isPersonal} LIMIT 100)`,
    as,
    as,
    ...values,
    as,
  )
}
