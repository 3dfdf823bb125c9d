/** Sums of usage: whole quarters of an hour and days from their tables, the rest from single requests. */
import type { UsageMeasure, UsageQuestion, UsageSummary } from '../index.ts'
import { AddedSums } from './added-sums.ts'
import { where, type Dialect, type Source, type Sql } from './sql.ts'
import {
  addedColumns,
  amountColumns,
  amountParts,
  expressionOf,
  isTime,
  missingParts,
  ofOwner,
  sumColumns,
} from './usage-columns.ts'
import { callConditions, filterValues, rangeConditions } from './usage-filter.ts'
import { labelsBy, ownerOf } from './usage-labels.ts'
import { sumPartsOf, type TimedPart } from './usage-parts.ts'
import { dayMs, quarterMs, spanOf } from './usage-spans.ts'

const names =
  'l.account, l."group", l.key, l.model, l.provider, l.provider_model, l.endpoint, l."user", CAST(l.tags AS text) AS tags'

/** What the largest rows are chosen by. */
const measures: Readonly<Record<UsageMeasure, (of: Adding) => string>> = {
  cost: (of) => `${of('cost_high')} * 4294967296.0 + ${of('cost_low')}`,
  requests: (of) => of('requests'),
  tokens: (of) => `coalesce(${of('prompt_tokens')}, 0) + coalesce(${of('completion_tokens')}, 0)`,
}

/** If it reads in parts, it may count a request that is recorded meanwhile, or not. */
export async function summed(sql: Sql, question: UsageQuestion): Promise<UsageSummary[]> {
  const { by, account, key, user, tag, only, offsetMinutes = 0, periodMs = 4 * quarterMs } = question
  const { dialect, usage } = sql
  const owner = ownerOf(sql, question)
  const isOwned = [account, key, user, tag].some((each) => each !== undefined) || by.some((each) => ofOwner.has(each))
  const isTimed = by.some(isTime)
  const isMultiple = (ms: number) => !by.includes('period') || Math.trunc(periodMs) % ms === 0
  const filter = callConditions(question)
  const hasSums = filter.length === 0 && !by.includes('session')
  const isAligned = isMultiple(quarterMs) && (!isTimed || offsetMinutes % 15 === 0)
  const { quarters, edges } = spanOf(question.from, question.to, hasSums && isAligned)
  const offsetMs = Math.trunc(offsetMinutes * 60_000)
  const isFew = !isOwned || [account, key, user, only].some((each) => each !== undefined)
  const isDaily = isOwned && isMultiple(dayMs)
  const { isLess, ...ofSums } = sumPartsOf(dialect, quarters, isDaily, isTimed ? offsetMs : 0, isFew)
  const labels = [...owner.conditions, `within IS ${isOwned ? 'NOT ' : ''}NULL`]
  const less = isLess ? [`CAST(NULL AS ${dialect.types.real}) AS less`] : []
  // Of the same type as in sums: Postgres adds up in parallel what it need not convert.
  const units = sumColumns.map((column) => `CAST(${column} AS ${dialect.types.real}) AS ${column}`)
  const ofEdges = edges.map(([from, to], index): Source => {
    const when = rangeConditions({ from, to }, index)
    return {
      times: { from, to, filter },
      rows: (some) => `SELECT ${names}, session, ${['started_at AS at', ...less].join(', ')}, 1 AS requests,
          CASE WHEN outcome IS NULL THEN 0 ELSE 1 END AS incomplete,
          ${[...units, ...amountParts, ...missingParts].join(', ')}
        FROM @.calls c ${dialect.first} @.usage_labels l ON l.label = c.label
        ${where([...owner.conditions, ...filter, ...(some.length > 0 ? some : when)])}`,
    }
  })
  const values = {
    ...filterValues(question),
    ...ofSums.values,
    offsetMs,
    periodMs: Math.trunc(periodMs),
    ...Object.fromEntries(
      edges.flatMap(([from, to], index) => [
        [`from${index}`, from],
        [`to${index}`, to],
      ]),
    ),
    mostRows: question.largest?.most,
  }
  const added = new AddedSums(question, isLess)
  const own = { ...owner, isWhole: !isOwned }
  const sources = [...ofEdges]
  const isLabelled = usage.labelled !== undefined && isTimed && !isFew
  if (!isLabelled && ofSums.parts.length > 0) {
    const columns = addedColumns.map((column) => [column, column] as const)
    const parts = ofSums.parts.map(({ at, less, ...part }) => ({
      ...part,
      columns: [[at, 'at'], ...(isLess ? [[less, 'less'] as const] : []), ...columns] as const,
    }))
    sources.unshift({
      rows: (some) => dialect.ofLabels(`${names}, NULL AS session`, [...some, ...labels], parts, isFew),
    })
  } else if (ofSums.parts.length > 0) {
    await usage.labelled?.(
      own,
      (some) => namesOf(question, [...some, ...labels]),
      (some) => timesOf(dialect, question, [...some, ...labels], ofSums.parts, isLess),
      values,
      (found, sums) => added.addLabelled(found, sums),
    )
  }
  const text = (rows: string, isAll: boolean) => grouped(question, rows, isAll, isLess)
  await usage.inParts(sources, own, text, values, (rows) => added.add(rows))
  return added.rows()
}

/** The statement for the dimensions of labels. */
function namesOf({ by }: UsageQuestion, labels: readonly string[]): string {
  const wanted = by.filter((each) => !isTime(each)).map((each) => `, ${expressionOf(each)}`)
  return `SELECT label${wanted.join('')} FROM ${labelsBy(labels)} ${where(labels)}`
}

/** The statement for sums with their label and times. */
function timesOf(
  dialect: Dialect,
  { by }: UsageQuestion,
  labels: readonly string[],
  parts: readonly TimedPart[],
  isLess: boolean,
): string {
  const times = by.filter(isTime)
  return parts
    .map(({ at, less, ...part }) => {
      const columns = [
        ...times.map((each) => expressionOf(each, at)),
        ...(isLess ? times.map((each) => expressionOf(each, less)) : []),
        ...addedColumns.map(narrowed),
      ].map((expression, index) => [expression, `c${index}`] as const)
      return dialect.ofLabels('l.label', labels, [{ ...part, columns }], false)
    })
    .join('\nUNION ALL ')
}

/** A column, of which amounts are divided so that no part exceeds 2^53. */
function narrowed(column: string): string {
  if (!amountColumns.includes(column)) return column
  if (column.endsWith('_low')) return `${column} & 4294967295`
  return `${column} + (${column.replace(/high$/, 'low')} >> 32)`
}

/**
 * The statement that adds up rows by the dimensions. `isLess`: and takes some of them from sums of other times, unless all rows
 * are wanted, for which `AddedSums` does it in less time.
 */
function grouped({ by, largest }: UsageQuestion, rows: string, isAll: boolean, isLess: boolean): string {
  const lesses = isLess ? by.flatMap((each, index) => (isTime(each) ? [[`less${index}`, each] as const] : [])) : []
  const groups = [
    ...by.map((dimension, index) => `${expressionOf(dimension)} AS d${index}`),
    ...lesses.map(([name, each]) => `${expressionOf(each, 'less')} AS ${name}`),
  ]
  const found = addedUp(groups, `(${rows}) found`, sum)
  if (!isAll || largest === undefined || by.includes('tag')) return found
  const some = (of: Adding) =>
    `ORDER BY ${[`${measures[largest.measure](of)} DESC`, ...by.map((_, index) => index + 1)].join(', ')} LIMIT :mostRows`
  if (lesses.length === 0) return `${found} ${some(sum)}`
  const times = by.map((each, index) =>
    isTime(each) ? `CASE way WHEN 1 THEN d${index} ELSE less${index} END AS d${index}` : `d${index}`,
  )
  const ways = `(${found}) own CROSS JOIN (SELECT 1 AS way UNION ALL SELECT -1) ways WHERE way = 1 OR ${lesses[0]?.[0]} IS NOT NULL`
  return `${addedUp(times, ways, signed)} HAVING ${signed('requests')} > 0 ${some(signed)}`
}

/** The sum of a column. */
type Adding = (column: string) => string

function sum(column: string): string {
  return `sum(${column})`
}

function signed(column: string): string {
  return `sum(way * ${column})`
}

function addedUp(groups: readonly string[], from: string, of: Adding): string {
  const wanted = [...groups, ...addedColumns.map((column) => `${of(column)} AS ${column}`)]
  const places = groups.map((_, index) => index + 1).join(', ')
  return `SELECT ${wanted.join(', ')} FROM ${from} ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places}`}`
}
