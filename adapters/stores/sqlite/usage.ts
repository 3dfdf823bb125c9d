import {
  Sweep,
  cursorOf,
  pageOf,
  readCursor,
  type NamedUser,
  type UsageFilter,
  type UsageRecord,
  type UsageStore,
} from '../index.ts'
import type { Database, Row } from './database.ts'
import { callOf, insertCall, recordOf } from './usage-rows.ts'
import { readDurations } from './usage-durations.ts'
import { usageLife } from './usage-life.ts'
import { given, where, type Condition } from './conditions.ts'
import { readSums } from './usage-sums.ts'
import { insertRefused, refusedConditions } from './usage-refused.ts'
import { callConditions, oldConditions, ownerConditions } from './usage-filter.ts'

const calls = 'modelhatch_calls c JOIN modelhatch_usage_labels l ON l.label = c.label'

/** Milliseconds after which a step stops, so that it blocks the event loop only briefly. */
const stepMs = 4

export function sqliteUsage(database: Database): Required<UsageStore> {
  const moving = new Sweep(() => database.transaction(() => move(database)))
  const read = <T>(act: () => T) => {
    moving.use()
    return database.read(act)
  }
  return {
    append(records) {
      moving.use()
      return database.transaction(() => {
        for (const record of records) insertCall(database, record)
      })
    },
    appendRefused: (records) =>
      database.transaction(() => {
        for (const record of records) insertRefused(database, record)
      }),
    find: (id) =>
      read(() => {
        const row = database.get(`SELECT * FROM ${calls} WHERE c.id = ?`, id)
        if (row !== undefined) return callOf(row)
        const other =
          database.get('SELECT record FROM modelhatch_usage_1 WHERE id = ?', id) ??
          database.get('SELECT record FROM modelhatch_refused WHERE id = ?', id)
        return other && recordOf(other)
      }),
    list: (question) =>
      read(() => {
        const { limit = 100 } = question
        const found = listed(database, question, limit + 1)
        return pageOf(found, limit, (last) => cursorOf(last.startedAt, last.id))
      }),
    admitUsers: (users, most) => database.transaction(() => users.map((named) => admitUser(database, named, most))),
    durations: (question) => readDurations(database, question),
    ...usageLife(database),
    summarise(question) {
      moving.use()
      return readSums(database, question)
    },
    close: () => moving.close(),
  }
}

/** The newest records that match: read per label if there is a filter, and merged with those of version 1. */
function listed(database: Database, question: UsageFilter & { readonly after?: string }, limit: number): UsageRecord[] {
  const { from, to, after, session } = question
  const owner = ownerConditions(question)
  const when = [...given('started_at >= ?', from), ...given('started_at < ?', to)]
  if (after !== undefined) {
    const [at, id] = readCursor(after)
    when.push(['started_at <= ?', at], ['(started_at < ? OR id < ?)', at, id])
  }
  const newest = (sql: string, parts: readonly Condition[]) => {
    const { text, values } = where(parts)
    return database.all(`${sql} ${text} ORDER BY started_at DESC, id DESC LIMIT ?`, ...values, limit)
  }
  const own = [...callConditions(question), ...when]
  const refused = newest('SELECT record FROM modelhatch_refused', [...refusedConditions(question), ...when])
  if (question.outcome === 'refused') return refused.map(recordOf)
  const rows =
    owner.length === 0 || session !== undefined
      ? newest(`SELECT * FROM ${calls}`, [...owner, ...own])
      : (ofManyLabels(database, question, owner, own, limit) ??
        newestLabels(database, owner, own, limit).flatMap((label) =>
          newest(`SELECT * FROM ${calls}`, [['c.label = ?', label], ...own]),
        ))
  const old = newest('SELECT record FROM modelhatch_usage_1', [...oldConditions(question), ...when])
  const found = [...rows.map(callOf), ...old.map(recordOf), ...refused.map(recordOf)]
  return found.sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1)).slice(0, limit)
}

/** Labels from which on the latest records of all accounts are read first, and how many of these. */
const [manyLabels, latest] = [100, 2_000]

/**
 * For an account with many labels: its newest records among those with an error code or an outcome, which are few, or among
 * the latest ones of all accounts. Undefined if it has few labels, or if older ones may be missing.
 */
function ofManyLabels(
  database: Database,
  { code, outcome = 'completed' }: UsageFilter,
  owner: readonly Condition[],
  own: readonly Condition[],
  limit: number,
): Row[] | undefined {
  const [labels, records] = [where(owner), where(own)]
  const some = database.all(
    `SELECT label FROM modelhatch_usage_labels l ${labels.text} LIMIT ${manyLabels}`,
    ...labels.values,
  )
  if (some.length < manyLabels) return undefined
  if (code !== undefined || outcome !== 'completed') {
    const both = where([...owner, ...own])
    // CROSS JOIN keeps the order: the records by their index, and then the label of each.
    return database.all(
      `SELECT * FROM modelhatch_calls c CROSS JOIN modelhatch_usage_labels l ON l.label = c.label ${both.text}
      ORDER BY started_at DESC, id DESC LIMIT ?`,
      ...both.values,
      limit,
    )
  }
  const rows = database.all(
    `SELECT * FROM (
      SELECT * FROM modelhatch_calls ${records.text} ORDER BY started_at DESC, id DESC LIMIT ${latest}
    ) c JOIN modelhatch_usage_labels l ON l.label = c.label ${labels.text} ORDER BY started_at DESC, id DESC LIMIT ?`,
    ...records.values,
    ...labels.values,
    limit,
  )
  return rows.length < limit ? undefined : rows
}

/** The labels that can have one of the newest `limit` records: those with the newest record of their own. */
function newestLabels(
  database: Database,
  owner: readonly Condition[],
  own: readonly Condition[],
  limit: number,
): bigint[] {
  const labels = where([...owner, ['within IS NOT NULL']])
  const records = where([['c.label = l.label'], ...own])
  const rows = database.all(
    `SELECT label, (SELECT started_at FROM modelhatch_calls c ${records.text} ORDER BY started_at DESC LIMIT 1) AS newest
    FROM modelhatch_usage_labels l ${labels.text} ORDER BY newest DESC`,
    ...records.values,
    ...labels.values,
  )
  const last = rows[limit - 1]?.['newest'] ?? null
  return rows
    .filter(({ newest }) => newest !== null && (last === null || Number(newest) >= Number(last)))
    .map(({ label }) => label as bigint)
}

function admitUser(database: Database, { account, user }: NamedUser, most: number): boolean {
  const known = database.get('SELECT 1 FROM modelhatch_usage_users WHERE account = ? AND "user" = ?', account, user)
  if (known !== undefined) return true
  const count = database.get('SELECT count(*) AS count FROM modelhatch_usage_users WHERE account = ?', account)
  if (Number(count?.['count']) >= most) return false
  return database.run('INSERT INTO modelhatch_usage_users VALUES (?, ?)', account, user) > 0
}

/** Moves records of version 1 into the new tables for a few milliseconds. Returns whether there may be more. */
function move(database: Database): boolean {
  const end = performance.now() + stepMs
  while (performance.now() < end) {
    const row = database.get('SELECT id, record FROM modelhatch_usage_1 ORDER BY started_at DESC LIMIT 1')
    if (row === undefined) return false
    database.run('DELETE FROM modelhatch_usage_1 WHERE id = ?', row['id'] as string)
    insertCall(database, recordOf(row))
  }
  return true
}
