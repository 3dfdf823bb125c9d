/** Usage: one row per request, and precomputed sums. */
import {
  cursorOf,
  pageOf,
  readCursor,
  type UsageDimension,
  type UsageFilter,
  type UsageQuestion,
  type UsageRecord,
  type UsageStore,
  type UsageSummary,
} from '../index.ts'
import { dayMs, spanOf, withDays } from '../sql/usage-span.ts'
import type { Database } from './database.ts'
import { sums } from '../sql/usage-columns.ts'

const dimensions: Readonly<Record<Exclude<UsageDimension, 'day'>, string>> = {
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
}

const columns = Object.values(sums)
const counted = ['requests', 'incomplete', ...Object.keys(sums)]
const names = 'l.account, l."group", l.key, l.model, l.endpoint'

/** The usage store of a schema. Reading waits until the tables of version 2 exist; appending does not. */
export function postgresUsage(database: Database): Required<Omit<UsageStore, 'close'>> {
  return {
    async append(records) {
      if (records.length > 0) await database.call('append_usage', JSON.stringify(records, storable))
    },
    async find(id) {
      await database.has('usage', 2)
      const [row] = await database.rows<{ record: string }>(
        `SELECT @.usage_record(c, l)::text AS record FROM @.calls c JOIN @.usage_labels l ON l.label = c.label
          WHERE c.id = $1
        UNION ALL SELECT record::text FROM @.usage_1 WHERE id = $1`,
        [id],
      )
      return row && recordOf(row.record)
    },
    async list(question) {
      const { limit = 100 } = question
      await database.has('usage', 2)
      const values: unknown[] = []
      const rows = await database.manyRows<{ record: string }>(listing(question, limit + 1, values), values)
      return pageOf(
        rows.map(({ record }) => recordOf(record)),
        limit,
        (last) => cursorOf(last.startedAt, last.id),
      )
    },
    async summarise(question) {
      await database.has('usage', 2)
      const values: unknown[] = []
      const rows = await database.manyRows<{ row: string }>(summing(question, values), values)
      return rows.map(({ row }) => summaryOf(JSON.parse(row) as Record<string, unknown>, question.by))
    },
  }
}

/** The statement that lists the newest requests: per label if the filter selects labels, then of all. Appends to `values`. */
function listing(question: UsageFilter & { readonly after?: string }, limit: number, values: unknown[]): string {
  const { account, key, model, from, to, after } = question
  const labelFilter = conditions(values, { 'account =': account, 'key =': key, 'model =': model })
  const timeFilter = conditions(values, { 'started_at >=': from, 'started_at <': to })
  if (after !== undefined) {
    const [startedAt, id] = readCursor(after)
    const [at, than] = [values.push(startedAt), values.push(id)]
    timeFilter.push(`started_at <= $${at} AND (started_at < $${at} OR id < $${than}::text COLLATE "C")`)
  }
  const newest = `ORDER BY started_at DESC, id DESC LIMIT ${limit}`
  const calls =
    labelFilter.length === 0
      ? `(SELECT * FROM @.calls ${where(timeFilter)} ${newest}) c JOIN @.usage_labels l ON l.label = c.label`
      : `@.usage_labels l CROSS JOIN LATERAL (
          SELECT * FROM @.calls ${where([...timeFilter, 'calls.label = l.label'])} ${newest}
        ) c ${where([...labelFilter, 'within IS NOT NULL'])}`
  return `SELECT record::text FROM (
      (SELECT c.started_at, c.id, @.usage_record(c, l) AS record FROM ${calls} ${newest})
      UNION ALL
      (SELECT started_at, id, record FROM @.usage_1 ${where([...labelFilter, ...timeFilter])} ${newest})
    ) found ${newest}`
}

/**
 * The statement that adds up whole quarters of an hour (or days), the single requests before and after these, and the
 * records of version 1. Appends to `values`.
 */
function summing(question: UsageQuestion, values: unknown[]): string {
  const { by, account, key, model, from, to, offsetMinutes = 0 } = question
  const perAccount = account !== undefined || key !== undefined || by.includes('account') || by.includes('key')
  const labelFilter = conditions(values, { 'account =': account, 'key =': key, 'model =': model })
  const daily = by.includes('day')
  const { quarters, edges } = spanOf(from, to, !daily || offsetMinutes % 15 === 0)
  const byDays = perAccount && (!daily || offsetMinutes % 1440 === 0)
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
      ({ ms, begin, end }) => `SELECT ${names}, number * ${ms}::float8 AS at, requests, incomplete,
        ${columns.join(', ')}, cost
      FROM @.usage_labels l JOIN @.usage_${ms === dayMs ? 'days' : 'quarters'} s ON s.label = l.label
      ${where([...labelFilter, `within IS ${perAccount ? 'NOT ' : ''}NULL`, `number >= ${begin}`, `number < ${end}`])}`,
    ),
    ...edgeFilters.map(
      (edge) => `SELECT ${names}, started_at, 1, (outcome IS NOT NULL)::int, ${columns.join(', ')}, cost
      FROM @.calls c JOIN @.usage_labels l ON l.label = c.label ${where([...labelFilter, edge])}`,
    ),
    `SELECT account, "group", key, model, endpoint, started_at, 1, (record->>'outcome' <> 'completed')::int,
        ${Object.keys(sums)
          .map((name) => `(record->>'${name}')::numeric`)
          .join(', ')}, cost
      FROM @.usage_1 ${where([...labelFilter, ...conditions(values, { 'started_at >=': from, 'started_at <': to })])}`,
  ]
  const offset = `$${values.push(offsetMinutes)}::float8`
  const wanted = by.map(
    (dimension, index) =>
      `${dimension === 'day' ? `floor((at + ${offset} * 60000) / ${dayMs})` : dimensions[dimension]} AS d${index}`,
  )
  const added = Object.entries(sums).map(([name, column]) => `coalesce(sum(${column}), 0) AS "${name}"`)
  const positions = by.map((_, index) => index + 1).join(', ')
  return `SELECT row_to_json(sums)::text AS row FROM (
      SELECT ${[...wanted, 'sum(requests) AS requests', 'sum(incomplete) AS incomplete'].join(', ')},
        ${added.join(', ')}, sum(cost)::text AS cost
      FROM (${sources.join('\nUNION ALL ')}) found WHERE ${offset} IS NOT NULL
      ${positions === '' ? 'HAVING count(*) > 0' : `GROUP BY ${positions} ORDER BY ${positions}`}
    ) sums`
}

/** The conditions with a value: optional conditions within SQL would prevent the use of an index. Appends to `values`. */
function conditions(values: unknown[], wanted: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(wanted).flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} $${values.push(value)}`],
  )
}

function where(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`
}

/** Replaces NUL and lone surrogates, which Postgres rejects and clients may send in names. Amounts become text. */
function storable(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}

function recordOf(json: string): UsageRecord {
  const record = JSON.parse(json) as UsageRecord & { cost: string; overage: string }
  return { ...record, cost: BigInt(record.cost), overage: BigInt(record.overage) }
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
