import {
  Sweep,
  cursorOf,
  pageOf,
  readCursor,
  type NamedUser,
  type UsageDimension,
  type UsageFilter,
  type UsageMeasure,
  type UsageQuestion,
  type UsageRecord,
  type UsageStore,
  type UsageSummary,
} from '../index.ts'
import type { SQLInputValue } from 'node:sqlite'
import { quarterMs, spanOf } from '../sql/usage-span.ts'
import type { Database, Row } from './database.ts'
import { callOf, insertCall, recordOf } from './usage-rows.ts'
import { sums } from '../sql/usage-columns.ts'
import { readDurations } from './usage-durations.ts'
import { usageLife } from './usage-life.ts'
import { given, where, type Condition } from './conditions.ts'
import { insertRefused, refusedConditions } from './usage-refused.ts'
import { callConditions, oldConditions, onlyCondition, ownerConditions } from './usage-filter.ts'

const dimensions: Readonly<Record<Exclude<UsageDimension, 'period'>, string>> = {
  day: `strftime('%Y-%m-%d', at / 1000 + ? * 60, 'unixepoch')`,
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
  user: `coalesce("user", '')`,
  tag: 'tag',
  session: `coalesce(session, '')`,
}

/** The dimensions of labels with an account. */
const ofOwner = new Set<UsageDimension>(['account', 'key', 'user', 'tag', 'session'])

/** What the largest rows are chosen by. Of a cost, the high part is not carried over. */
const measures: Readonly<Record<UsageMeasure, string>> = {
  cost: 'sum(cost_high) * 4294967296.0 + sum(cost_low)',
  requests: 'sum(requests)',
  tokens: 'total(prompt_tokens) + total(completion_tokens)',
}

const counted = Object.keys(sums)
const columns = Object.values(sums).join(', ')
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
    summarise: (question) => read(() => summed(database, question)),
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

/** Adds the sums of whole quarters, the requests before and after these, and the records of version 1. */
function summed(database: Database, question: UsageQuestion): UsageSummary[] {
  const { by, from, to, offsetMinutes = 0, periodMs = 3_600_000, largest, model: _, ...filter } = question
  const owner = [...ownerConditions(question), ...onlyCondition(question)]
  const ofCalls = callConditions(question)
  const isOwned = ownerConditions(filter).length > 0 || by.some((dimension) => ofOwner.has(dimension))
  const names = 'account, "group", key, model, endpoint, "user", tags'
  const hasSums = ofCalls.length === 0 && !by.includes('session')
  const isWhole = !isTimed(by) || (offsetMinutes % 15 === 0 && (!by.includes('period') || periodMs % quarterMs === 0))
  const { quarters, edges } = spanOf(from, to, hasSums && isWhole)
  const sources: { readonly text: string; readonly values: readonly SQLInputValue[] }[] = []
  const add = (sql: string, parts: readonly Condition[]) => {
    const { text, values } = where(parts)
    sources.push({ text: `${sql} ${text}`, values })
  }
  // CROSS JOIN keeps the order: the labels, and then the sums of each by their primary key.
  add(
    `SELECT ${names}, NULL AS session, quarter * 900000.0 AS at, requests, incomplete, ${columns}, cost_high, cost_low
    FROM modelhatch_usage_labels l CROSS JOIN modelhatch_usage_sums s ON s.label = l.label`,
    [
      ...owner,
      [`within IS ${isOwned ? 'NOT ' : ''}NULL`],
      ['quarter >= ? AND quarter < ?', quarters.begin, quarters.end],
    ],
  )
  const parted = '(cost >> 32), (cost & 4294967295)'
  for (const [begin, end] of edges) {
    const edge: Condition = ['started_at >= ? AND started_at < ?', begin, end]
    const sql = `SELECT ${names}, session, started_at, 1, outcome IS NOT NULL, ${columns}, ${parted} FROM ${calls}`
    add(sql, [...owner, ...ofCalls, edge])
  }
  const recorded = counted.map((name) => `record ->> '${name}'`).join(', ')
  const old = [...oldConditions(question), ...given('started_at >= ?', from), ...given('started_at < ?', to)]
  const oldNames = 'account, "group", key, model, endpoint, NULL, NULL, NULL'
  add(
    `SELECT ${oldNames}, started_at, 1, record ->> 'outcome' <> 'completed', ${recorded}, ${parted} FROM modelhatch_usage_1`,
    old,
  )
  const named = by.map((dimension, index) => {
    const value = dimension === 'period' ? periodSql(periodMs, offsetMinutes * 60_000) : dimensions[dimension]
    return `${value} AS d${index}, `
  })
  const offsets = by.flatMap((dimension) => (dimension === 'day' ? [offsetMinutes] : []))
  const added = Object.entries(sums).map(([name, column]) => `total(${column}) AS ${name}`)
  const united = sources.map(({ text }) => text).join(' UNION ALL ')
  const places = by.map((_, index) => index + 1).join(', ')
  const summing = `SELECT ${named.join('')} sum(requests) AS requests, sum(incomplete) AS incomplete, ${added.join(', ')},
      sum(cost_high) AS high, sum(cost_low) AS low
    FROM (${by.includes('tag') ? perTag(united) : united})
    ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places}`}`
  const some =
    largest === undefined ? summing : `SELECT * FROM (${summing} ORDER BY ${measures[largest.measure]} DESC LIMIT ?)`
  const sql = places === '' ? summing : `${some} ORDER BY ${places}`
  const most = largest === undefined || places === '' ? [] : [largest.most]
  const rows = database.all(sql, ...offsets, ...sources.flatMap(({ values }) => values), ...most)
  return rows.map((row) => summaryOf(row, by))
}

/** Each row once for each of its tags, or once with an empty tag. */
function perTag(rows: string): string {
  return `SELECT found.*, tag.value AS tag FROM (${rows}) found JOIN json_each(coalesce(found.tags, '[""]')) tag`
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

/** The start of the period of a row. Its parameters are whole numbers. */
function periodSql(periodMs: number, offsetMs: number): string {
  const number = `((at + ${Math.trunc(offsetMs)}) / ${Math.trunc(periodMs)}.0)`
  const floor = `(CAST(${number} AS INTEGER) - (${number} < CAST(${number} AS INTEGER)))`
  return `${floor} * ${Math.trunc(periodMs)} - ${Math.trunc(offsetMs)}`
}

function isTimed(by: readonly UsageDimension[]): boolean {
  return by.includes('day') || by.includes('period')
}

function summaryOf(row: Row, by: readonly UsageDimension[]): UsageSummary {
  const named = by.map((dimension, index) => {
    const value = row[`d${index}`]
    return [dimension, dimension === 'period' ? Number(value) : value] as const
  })
  const numbers = ['requests', 'incomplete', ...counted].map((name) => [name, Number(row[name])] as const)
  const cost = (BigInt(row['high'] ?? 0) << 32n) + BigInt(row['low'] ?? 0)
  return { ...Object.fromEntries(named), ...Object.fromEntries(numbers), cost } as UsageSummary
}
