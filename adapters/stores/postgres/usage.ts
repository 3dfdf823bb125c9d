/** Usage: one row per request, and precomputed sums. */
import {
  cursorOf,
  pageOf,
  type UsageDimension,
  type UsageFilter,
  type UsageQuestion,
  type UsageRecord,
  type UsageStore,
  type UsageSummary,
} from '../index.ts'
import { dayMs, quarterMs, spanOf, withDays } from '../sql/usage-span.ts'
import type { Database } from './database.ts'
import { usageLife } from './usage-life.ts'
import { conditions, where } from './conditions.ts'
import { callConditions, labelConditions, oldConditions } from './usage-filter.ts'
import { readDurations } from './usage-durations.ts'
import { newestRecords } from './usage-list.ts'
import { packAttempts, unpackAttempts } from '../sql/attempt-log.ts'
import { sums } from '../sql/usage-columns.ts'
import { appendingRefused } from './usage-refused.ts'

const dimensions: Readonly<Record<Exclude<UsageDimension, 'day' | 'period'>, string>> = {
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

/** The version of the tables that a question needs. */
function versionFor({ user, tag, session, by = [] }: UsageFilter & Partial<UsageQuestion>): number {
  const isAttributed = [user, tag, session].some((each) => each !== undefined)
  return isAttributed || by.some((each) => each === 'user' || each === 'tag' || each === 'session') ? 4 : 2
}

const columns = Object.values(sums)
const counted = ['requests', 'incomplete', ...Object.keys(sums)]
const plainNames = 'l.account, l."group", l.key, l.model, l.endpoint'

/** The usage store of a schema. Reading waits until the tables of version 2 exist; appending does not. */
export function postgresUsage(database: Database): Required<Omit<UsageStore, 'close'>> {
  return {
    async append(records) {
      if (records.length > 0) await database.call('append_usage', JSON.stringify(records, storable))
    },
    async appendRefused(records) {
      await database.has('usage', 5)
      if (records.length > 0) await database.rows(appendingRefused, [JSON.stringify(records, storable)])
    },
    async find(id) {
      await database.has('usage', 2)
      const hasRefused = await database.hasNow('usage', 5)
      const [row] = await database.rows<{ record: string }>(
        `SELECT @.usage_record(c, l)::text AS record FROM @.calls c JOIN @.usage_labels l ON l.label = c.label
          WHERE c.id = $1
        UNION ALL SELECT record::text FROM @.usage_1 WHERE id = $1
        ${hasRefused ? 'UNION ALL SELECT record::text FROM @.refused WHERE id = $1' : ''}`,
        [id],
      )
      return row && recordOf(row.record)
    },
    async list(question) {
      const { limit = 100 } = question
      await database.has('usage', versionFor(question))
      const hasRefused = await database.hasNow('usage', 5)
      const rows = <Row>(sql: string, values: unknown[]) => database.manyRows<Row>(sql, values)
      const found = await newestRecords(rows, question, limit + 1, hasRefused)
      return pageOf(found.map(recordOf), limit, (last) => cursorOf(last.startedAt, last.id))
    },
    async durations(question) {
      await database.has('usage', versionFor(question))
      return readDurations((sql, values) => database.manyRows(sql, values), question)
    },
    ...usageLife(database),
    async admitUsers(users, most) {
      // Appending must not wait for an upgrade, and before it records keep no user.
      if (!(await database.hasNow('usage', 4))) return users.map(() => false)
      const admitted = await database.call<Readonly<Record<string, boolean>>>(
        'admit_users',
        JSON.stringify(users),
        most,
      )
      return users.map((_, index) => admitted[index + 1] === true)
    },
    async summarise(question) {
      await database.has('usage', versionFor(question))
      const values: unknown[] = []
      const rows = await database.manyRows<{ row: string }>(summing(question, values), values)
      return rows.map(({ row }) => summaryOf(JSON.parse(row) as Record<string, unknown>, question.by))
    },
  }
}

/**
 * The statement that adds up whole quarters of an hour (or days), the single requests before and after these, and the
 * records of version 1. Appends to `values`.
 */
function summing(question: UsageQuestion, values: unknown[]): string {
  const { by, account, key, user, tag, from, to, offsetMinutes = 0 } = question
  const periodMs = Math.trunc(question.periodMs ?? 3_600_000)
  const perAccount =
    [account, key, user, tag].some((each) => each !== undefined) || by.some((dimension) => ofOwner.has(dimension))
  const labelFilter = labelConditions(values, question)
  const callFilter = callConditions(values, question)
  const daily = by.includes('day')
  const timed = daily || by.includes('period')
  const wholeOf = (ms: number) => !by.includes('period') || periodMs % ms === 0
  const hasSums = callFilter.length === 0 && !by.includes('session')
  const { quarters, edges } = spanOf(from, to, hasSums && (!timed || offsetMinutes % 15 === 0) && wholeOf(quarterMs))
  const isAttributed = versionFor(question) > 2
  const names = isAttributed ? `${plainNames}, l."user", l.tags` : plainNames
  const [noSession, session, none] = isAttributed
    ? [', NULL::text AS session', ', session', ', NULL, NULL, NULL']
    : ['', '', '']
  const byDays = perAccount && (!timed || offsetMinutes % 1440 === 0) && wholeOf(dayMs)
  const spans = byDays ? withDays(quarters) : [quarters]
  const edgeFilters = edges.map(([begin, end]) => {
    const parts = conditions(values, {
      'started_at >=': Number.isFinite(begin) ? begin : undefined,
      'started_at <': Number.isFinite(end) ? end : undefined,
    })
    return `(${['true', ...parts].join(' AND ')})`
  })
  const sources = [
    ...spans.map(
      ({ ms, begin, end }) => `SELECT ${names}${noSession}, number * ${ms}::float8 AS at, requests, incomplete,
        ${columns.join(', ')}, cost
      FROM @.usage_labels l JOIN @.usage_${ms === dayMs ? 'days' : 'quarters'} s ON s.label = l.label
      ${where([...labelFilter, `within IS ${perAccount ? 'NOT ' : ''}NULL`, `number >= ${begin}`, `number < ${end}`])}`,
    ),
    ...edgeFilters.map(
      (
        edge,
      ) => `SELECT ${names}${session}, started_at AS at, 1 AS requests, (outcome IS NOT NULL)::int AS incomplete, ${columns.join(', ')}, cost
      FROM @.calls c JOIN @.usage_labels l ON l.label = c.label ${where([...labelFilter, ...callFilter, edge])}`,
    ),
    `SELECT account, "group", key, model, endpoint${none}, started_at, 1, (record->>'outcome' <> 'completed')::int,
        ${Object.keys(sums)
          .map((name) => `(record->>'${name}')::numeric`)
          .join(', ')}, cost
      FROM @.usage_1 ${where(oldConditions(values, question))}`,
  ]
  const offset = `$${values.push(offsetMinutes)}::float8`
  const numberOf = (ms: number) => `floor((at + ${offset} * 60000) / ${ms})`
  const wanted = by.map((dimension, index) => {
    if (dimension === 'day') return `${numberOf(dayMs)} AS d${index}`
    if (dimension === 'period') return `${numberOf(periodMs)} * ${periodMs} - ${offset} * 60000 AS d${index}`
    return `${dimensions[dimension]} AS d${index}`
  })
  const added = Object.entries(sums).map(([name, column]) => `coalesce(sum(${column}), 0) AS "${name}"`)
  const positions = by.map((_, index) => index + 1).join(', ')
  return `SELECT row_to_json(sums)::text AS row FROM (
      SELECT ${[...wanted, 'sum(requests) AS requests', 'sum(incomplete) AS incomplete'].join(', ')},
        ${added.join(', ')}, sum(cost)::text AS cost
      FROM (${sources.join('\nUNION ALL ')}) found ${
        by.includes('tag') ? `CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(tags, '[""]')) AS each (tag)` : ''
      } WHERE ${offset} IS NOT NULL
      ${positions === '' ? 'HAVING count(*) > 0' : `GROUP BY ${positions} ORDER BY ${positions}`}
    ) sums`
}

/**
 * Replaces NUL and lone surrogates, which Postgres rejects and clients may send in names. Amounts and the log of attempts
 * become text.
 */
function storable(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (name === 'attemptLog' && Array.isArray(value)) return packAttempts(value, this as UsageRecord)
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}

function recordOf(json: string): UsageRecord {
  const record = JSON.parse(json) as UsageRecord & { cost: string; overage: string; attemptLog?: unknown }
  const amounts = { cost: BigInt(record.cost), overage: BigInt(record.overage) }
  if (typeof record.attemptLog !== 'string') return { ...record, ...amounts }
  return { ...record, ...amounts, attemptLog: unpackAttempts(record.attemptLog, record) }
}

/** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
function summaryOf(row: Record<string, unknown>, by: readonly UsageDimension[]): UsageSummary {
  const summary: Record<string, unknown> = {}
  by.forEach((dimension, index) => {
    const name = row[`d${index}`]
    summary[dimension] = dimension === 'day' ? nameOf(name as number) : name
  })
  for (const name of counted) summary[name] = row[name]
  summary['cost'] = BigInt(row['cost'] as string)
  return summary as unknown as UsageSummary
}

function nameOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
