/** Sums of usage: whole quarters of an hour from their table, the rest from single requests. */
import type { SQLInputValue } from 'node:sqlite'
import type { UsageDimension, UsageQuestion, UsageSummary } from '../index.ts'
import { dimensions, ofOwner, sums } from '../sql/usage-columns.ts'
import { quarterMs, spanOf } from '../sql/usage-quarters.ts'
import { where, type Condition } from './conditions.ts'
import type { Database, Row } from './database.ts'
import { SlicedReads } from './sliced-reads.ts'
import { callConditions, onlyCondition, ownerConditions } from './usage-filter.ts'
import { fewLabels } from './usage-labels.ts'
import { AddedSums } from './usage-added.ts'

/** The whole number of periods before `at`, rounded down. The parameters are the offset and the length, three times. */
const period = `(CAST((at + ?) / ? AS INTEGER) - ((at + ?) / ? < CAST((at + ?) / ? AS INTEGER)))`

const expressions: Readonly<Record<UsageDimension, string>> = {
  ...dimensions,
  day: `strftime('%Y-%m-%d', (at + ?) / 1000, 'unixepoch')`,
  period: `${period} * ? - ?`,
}

const columns = Object.values(sums).join(', ')
const names = 'account, "group", key, model, endpoint, "user", tags'

/** Rows that are added up. */
interface Source {
  readonly sql: string
  readonly conditions: readonly Condition[]
}

/**
 * Adds the sums of whole quarters, and the requests before and after these. Reads them in slices of
 * a few milliseconds, between which other calls run: so it may count a request that is recorded meanwhile, or not.
 */
export async function readSums(database: Database, question: UsageQuestion): Promise<UsageSummary[]> {
  const { by, from, to, offsetMinutes = 0, periodMs = quarterMs * 4, model: _, ...filter } = question
  const merged = new AddedSums(question)
  const take = (source: Source) => merged.add(rowsOf(database, question, source))
  const slices = new SlicedReads(database)
  const owner = [...ownerConditions(question), ...onlyCondition(question)]
  const ofCalls = callConditions(question)
  const isOwned = ownerConditions(filter).length > 0 || by.some((dimension) => ofOwner.has(dimension))
  const hasSums = ofCalls.length === 0 && !by.includes('session')
  const isTimed = by.includes('day') || by.includes('period')
  const isWhole = !isTimed || (offsetMinutes % 15 === 0 && (!by.includes('period') || periodMs % quarterMs === 0))
  const { quarters, edges } = spanOf(from, to, hasSums && isWhole)

  // Undefined: many, or all.
  const labels = owner.length === 0 ? undefined : await fewLabels(database, question, owner)
  if (quarters.begin < quarters.end) {
    const within: Condition = [`within IS ${isOwned ? 'NOT ' : ''}NULL`]
    const span: Condition = ['quarter >= ? AND quarter < ?', quarters.begin, quarters.end]
    const ofSums = (some: Condition) => take({ sql: summed, conditions: [some, ...owner, within, span] })
    await slices.ofLabels(isOwned ? labels : undefined, ofSums)
  }
  for (const [begin, end] of edges) {
    if (labels !== undefined && question.session === undefined) {
      for (const label of labels) {
        const own: Condition[] = [['c.label = ?', label], ...ofCalls]
        await slices.ofTimes(own, begin, end, (some) => take({ sql: called, conditions: [...own, some] }))
      }
    } else if (owner.length > 0 && ofCalls.length === 0) {
      const range: Condition = ['started_at >= ? AND started_at < ?', begin, end]
      await slices.ofLabels(undefined, (some) => take({ sql: calledBy, conditions: [some, ...owner, range] }))
    } else {
      const all = [...owner, ...ofCalls]
      await slices.ofTimes(ofCalls, begin, end, (some) => take({ sql: called, conditions: [...all, some] }))
    }
  }
  return merged.rows()
}

/** CROSS JOIN keeps the order: the labels, and then the sums or requests of each by their key. */
const ofLabels = 'modelhatch_usage_labels l NOT INDEXED CROSS JOIN'
const call = `SELECT ${names}, session, started_at AS at, 1 AS requests, outcome IS NOT NULL AS incomplete, ${columns},
  cost >> 32 AS cost_high, cost & 4294967295 AS cost_low`
const summed = `SELECT ${names}, NULL AS session, quarter * 900000.0 AS at, requests, incomplete, ${columns}, cost_high, cost_low
  FROM ${ofLabels} modelhatch_usage_sums s ON s.label = l.label`
const calledBy = `${call} FROM ${ofLabels} modelhatch_calls c ON c.label = l.label`
const called = `${call} FROM modelhatch_calls c CROSS JOIN modelhatch_usage_labels l ON l.label = c.label`
/** The sums of a part of the rows, by the dimensions of the question. */
function rowsOf(
  database: Database,
  { by, offsetMinutes = 0, periodMs = 4 * quarterMs }: UsageQuestion,
  part: Source,
): Row[] {
  const { text, values } = where(part.conditions)
  const rows = `${part.sql} ${text}`
  const [offsetMs, lengthMs] = [Math.trunc(offsetMinutes * 60_000), Math.trunc(periodMs)]
  const ofDimensions: SQLInputValue[] = by.flatMap((dimension) => {
    if (dimension === 'day') return [offsetMs]
    return dimension === 'period'
      ? [offsetMs, lengthMs, offsetMs, lengthMs, offsetMs, lengthMs, lengthMs, offsetMs]
      : []
  })
  const named = by.map((dimension, index) => `${expressions[dimension]} AS d${index}, `)
  const places = by.map((_, index) => index + 1).join(', ')
  return database.all(
    `SELECT ${named.join('')} sum(requests) AS requests, sum(incomplete) AS incomplete,
      ${Object.entries(sums)
        .map(([name, column]) => `total(${column}) AS ${name}`)
        .join(', ')},
      sum(cost_high) AS high, sum(cost_low) AS low
    FROM (${by.includes('tag') ? perTag(rows) : rows})
    ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places}`}`,
    ...ofDimensions,
    ...values,
  )
}

/** Each row once for each of its tags, or once with an empty tag. */
function perTag(rows: string): string {
  return `SELECT found.*, tag.value AS tag FROM (${rows}) found JOIN json_each(coalesce(found.tags, '[""]')) tag`
}
