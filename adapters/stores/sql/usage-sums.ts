/** Sums of usage: whole quarters of an hour and days from their tables, the rest from single requests. */
import type { UsageMeasure, UsageQuestion, UsageSummary } from '../index.ts'
import { AddedSums } from './added-sums.ts'
import { where, type Source, type Sql } from './sql.ts'
import { addedColumns, amountParts, dimensions, missingParts, ofOwner, sumColumns } from './usage-columns.ts'
import { callConditions, filterValues } from './usage-filter.ts'
import { ownerOf } from './usage-labels.ts'
import { dayMs, quarterMs, spanOf, withDays } from './usage-spans.ts'

const names =
  'l.account, l."group", l.key, l.model, l.provider, l.provider_model, l.endpoint, l."user", CAST(l.tags AS text) AS tags'

/** What the largest rows are chosen by. */
const measures: Readonly<Record<UsageMeasure, string>> = {
  cost: 'sum(cost_high) * 4294967296.0 + sum(cost_low)',
  requests: 'sum(requests)',
  tokens: 'coalesce(sum(prompt_tokens), 0) + coalesce(sum(completion_tokens), 0)',
}

/** If it reads in parts, it may count a request that is recorded meanwhile, or not. */
export async function summed(sql: Sql, question: UsageQuestion): Promise<UsageSummary[]> {
  const { by, account, key, user, tag, only, offsetMinutes = 0, periodMs = 4 * quarterMs } = question
  const owner = ownerOf(sql, question)
  const isOwned = [account, key, user, tag].some((each) => each !== undefined) || by.some((each) => ofOwner.has(each))
  const isTimed = by.includes('day') || by.includes('period')
  const isMultiple = (ms: number) => !by.includes('period') || Math.trunc(periodMs) % ms === 0
  const filter = callConditions(question)
  const hasSums = filter.length === 0 && !by.includes('session')
  const isAligned = isMultiple(quarterMs) && (!isTimed || offsetMinutes % 15 === 0)
  const { quarters, edges } = spanOf(question.from, question.to, hasSums && isAligned)
  const isDaily = isOwned && isMultiple(dayMs) && (!isTimed || offsetMinutes % 1_440 === 0)
  const isFew = !isOwned || [account, key, user, only].some((each) => each !== undefined)
  const spans = (isDaily ? withDays(quarters) : [quarters]).filter(({ begin, end }) => begin < end)
  const ofSpans = spans.map(({ ms }, index): Source => ({
    rows: (some) => `SELECT ${names}, NULL AS session, number * CAST(${ms} AS ${sql.dialect.types.real}) AS at,
        ${addedColumns.join(', ')}
      ${sql.dialect.ofLabels(
        `@.usage_${ms === dayMs ? 'days' : 'quarters'}`,
        [...some, ...owner.conditions, `within IS ${isOwned ? 'NOT ' : ''}NULL`],
        [`:begin${index}`, `:end${index}`],
        isFew,
      )}`,
  }))
  const ofEdges = edges.map(([from, to], index): Source => {
    const when = [
      ...(from > -Infinity ? [`started_at >= :from${index}`] : []),
      ...(to < Infinity ? [`started_at < :to${index}`] : []),
    ]
    return {
      times: { from, to, filter },
      rows: (some) => `SELECT ${names}, session, started_at AS at, 1 AS requests,
          CASE WHEN outcome IS NULL THEN 0 ELSE 1 END AS incomplete,
          ${[...sumColumns, ...amountParts, ...missingParts].join(', ')}
        FROM @.calls c ${sql.dialect.first} @.usage_labels l ON l.label = c.label
        ${where([...owner.conditions, ...filter, ...(some.length > 0 ? some : when)])}`,
    }
  })
  const values = {
    ...filterValues(question),
    offsetMs: Math.trunc(offsetMinutes * 60_000),
    periodMs: Math.trunc(periodMs),
    ...Object.fromEntries(
      spans.flatMap(({ begin, end }, index) => [
        [`begin${index}`, begin],
        [`end${index}`, end],
      ]),
    ),
    ...Object.fromEntries(
      edges.flatMap(([from, to], index) => [
        [`from${index}`, from],
        [`to${index}`, to],
      ]),
    ),
    mostRows: question.largest?.most,
  }
  const added = new AddedSums(question)
  const text = (rows: string, isAll: boolean) => grouped(question, rows, isAll)
  await sql.usage.inParts([...ofSpans, ...ofEdges], { ...owner, isWhole: !isOwned }, text, values, (rows) =>
    added.add(rows),
  )
  return added.rows()
}

/** The statement that adds up rows by the dimensions. */
function grouped({ by, largest }: UsageQuestion, rows: string, isAll: boolean): string {
  const wanted = [
    ...by.map((dimension, index) => `${dimensions[dimension]} AS d${index}`),
    ...addedColumns.map((column) => `sum(${column}) AS ${column}`),
  ]
  const places = by.map((_, index) => index + 1).join(', ')
  const isSome = isAll && largest !== undefined && !by.includes('tag')
  const some = isSome ? `ORDER BY ${measures[largest.measure]} DESC, ${places} LIMIT :mostRows` : ''
  return `SELECT ${wanted.join(', ')} FROM (${rows}) found ${
    places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places} ${some}`
  }`
}
