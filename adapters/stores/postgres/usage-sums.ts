/** Sums of usage: whole quarters of an hour and days from their tables, the rest from single requests. */
import type { UsageDimension, UsageMeasure, UsageQuestion, UsageSummary } from '../index.ts'
import { counts, dimensions, ofOwner, sums } from '../sql/usage-columns.ts'
import { dayMs, quarterMs, spanOf, withDays, type Periods } from '../sql/usage-quarters.ts'
import { conditions, where } from './conditions.ts'
import type { Rows } from './database.ts'
import { callConditions, labelConditions, onlyCondition } from './usage-filter.ts'

const columns = Object.values(sums)
const names = 'l.account, l."group", l.key, l.model, l.endpoint, l."user", l.tags'

/** What the largest rows are chosen by. */
const measures: Readonly<Record<UsageMeasure, string>> = {
  cost: 'sum(cost)',
  requests: 'sum(requests)',
  tokens: 'coalesce(sum(prompt_tokens), 0) + coalesce(sum(completion_tokens), 0)',
}

export async function readSums(rows: Rows, question: UsageQuestion): Promise<UsageSummary[]> {
  const values: unknown[] = []
  const found = await rows<{ row: string }>(summing(question, values), values)
  return found.map(({ row }) => summaryOf(JSON.parse(row) as Record<string, unknown>, question.by))
}

/**
 * The statement that adds up whole quarters of an hour (or days), and the single requests before and after these.
 * Appends to `values`.
 */
function summing(question: UsageQuestion, values: unknown[]): string {
  const { by, account, key, user, tag, from, to, offsetMinutes = 0, largest } = question
  const periodMs = Math.trunc(question.periodMs ?? 3_600_000)
  const isFiltered = [account, key, user, tag].some((each) => each !== undefined)
  const perAccount = isFiltered || by.some((dimension) => ofOwner.has(dimension))
  const labelFilter = [...labelConditions(values, question), ...onlyCondition(values, question)]
  const callFilter = callConditions(values, question)
  const daily = by.includes('day')
  const timed = daily || by.includes('period')
  const wholeOf = (ms: number) => !by.includes('period') || periodMs % ms === 0
  const hasSums = callFilter.length === 0 && !by.includes('session')
  const { quarters, edges } = spanOf(from, to, hasSums && (!timed || offsetMinutes % 15 === 0) && wholeOf(quarterMs))
  const indexed = [account, key, user, question.only].some((each) => each !== undefined)
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
      (span) => `SELECT ${names}, NULL::text AS session, number * ${span.ms}::float8 AS at, requests, incomplete,
        ${columns.join(', ')}, cost
      ${sumsOf(span, labelFilter, perAccount, indexed || !perAccount)}`,
    ),
    ...edgeFilters.map(
      (
        edge,
      ) => `SELECT ${names}, session, started_at AS at, 1 AS requests, (outcome IS NOT NULL)::int AS incomplete, ${columns.join(', ')}, cost
      FROM @.calls c JOIN @.usage_labels l ON l.label = c.label ${where([...labelFilter, ...callFilter, edge])}`,
    ),
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
  const isSome = largest !== undefined && positions !== ''
  const some = isSome
    ? `${measures[largest.measure]} DESC, ${positions} LIMIT $${values.push(largest.most)}`
    : positions
  return `SELECT row_to_json(sums)::text AS row FROM (
      SELECT ${[...wanted, 'sum(requests) AS requests', 'sum(incomplete) AS incomplete'].join(', ')},
        ${added.join(', ')}, sum(cost)::text AS cost
      FROM (${sources.join('\nUNION ALL ')}) found ${
        by.includes('tag') ? `CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(tags, '[""]')) AS each (tag)` : ''
      } WHERE ${offset} IS NOT NULL
      ${positions === '' ? 'HAVING count(*) > 0' : `GROUP BY ${positions} ORDER BY ${some}`}
    ) sums ${isSome ? `ORDER BY ${by.map((_, index) => `d${index}`).join(', ')}` : ''}`
}

/**
 * The sums of a span with their labels. The planner's statistics may be missing or old, so these statements need none.
 * `each`: whether the labels are few, or found by an index.
 */
function sumsOf(
  { ms, begin, end }: Periods,
  labelFilter: readonly string[],
  perAccount: boolean,
  each: boolean,
): string {
  const table = `@.usage_${ms === dayMs ? 'days' : 'quarters'}`
  const filter = [...labelFilter, `within IS ${perAccount ? 'NOT ' : ''}NULL`]
  const span = [`number >= ${begin}`, `number < ${end}`]
  if (each) {
    // With OFFSET 0, the sums of each label are read by their primary key.
    const own = `SELECT * FROM ${table} s ${where(['s.label = l.label', ...span])} OFFSET 0`
    return `FROM @.usage_labels l CROSS JOIN LATERAL (${own}) s ${where(filter)}`
  }
  // All sums are read. Of a range of a column the planner expects few rows, and looks up the label of each; not of a term.
  const whole = labelFilter.length > 0 ? span : [`number + 0 >= ${begin}`, `number < ${end}`]
  return `FROM @.usage_labels l JOIN ${table} s ON s.label = l.label ${where([...filter, ...whole])}`
}

/** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
function summaryOf(row: Record<string, unknown>, by: readonly UsageDimension[]): UsageSummary {
  const summary: Record<string, unknown> = {}
  by.forEach((dimension, index) => {
    const name = row[`d${index}`]
    summary[dimension] = dimension === 'day' ? nameOf(name as number) : name
  })
  for (const name of counts) summary[name] = row[name]
  summary['cost'] = BigInt(row['cost'] as string)
  return summary as unknown as UsageSummary
}

function nameOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
