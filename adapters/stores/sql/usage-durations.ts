/** Durations of the last completed requests of each range. Reads a bounded number, however many requests and labels match. */
import type { DurationQuestion, Durations } from '../index.ts'
import { where, type Sql, type TableRow, type Values } from './sql.ts'
import { callConditions, filterValues } from './usage-filter.ts'
import { labelsOf, ownerOf } from './usage-labels.ts'

/** Number of labels up to which each of them is read in each range. */
const fewLabels = 100
/** Number of requests up to which all are read, and the number of their labels. */
const fewRequests = 3_500
/** Number of requests that are read of each range, or of all ranges if there are several labels. */
const [mostOfRange, mostOfLabels] = [1_000, 20_000]

const columns = 'started_at, total_ms, first_byte_ms'
const newest = 'ORDER BY started_at DESC LIMIT :mostRows'
/** As CASE, because without statistics a planner may take NULL for rare, and would sort all requests of a range. */
const completed = ['CASE WHEN outcome IS NULL THEN true ELSE false END', 'started_at >= :begin', 'started_at < :end']
const times = [
  ['begin', 'real'],
  ['end', 'real'],
] as const

export async function durationsOf(sql: Sql, question: DurationQuestion): Promise<Durations[]> {
  const { starts, to, most } = question
  const ranges = starts.map((begin, place) => ({ begin, end: starts[place + 1] ?? to }))
  const rows = await requestsOf(sql, question, ranges)
  const found = starts.map(() => ({ totalMs: [] as number[], firstByteMs: [] as number[] }))
  for (const row of rows.toSorted((left, right) => Number(right['started_at']) - Number(left['started_at']))) {
    const range = found[starts.findLastIndex((start) => start <= Number(row['started_at']))]
    if (range === undefined || range.totalMs.length === most) continue
    range.totalMs.push(Number(row['total_ms']))
    if (row['first_byte_ms'] !== null) range.firstByteMs.push(Number(row['first_byte_ms']))
  }
  return found
}

/** Requests of all ranges, of each at least the newest ones. */
async function requestsOf(
  sql: Sql,
  question: DurationQuestion,
  ranges: readonly Values[],
): Promise<readonly TableRow[]> {
  const { session, starts, to, most } = question
  const { many, ofEach, dialect } = sql
  const owner = ownerOf(sql, question)
  const values = filterValues(question)
  const all = { ...values, begin: starts[0] ?? to, end: to }
  const joined = (calls: string, conditions: readonly string[]) =>
    `SELECT ${columns} FROM ${calls} c ${dialect.first} @.usage_labels l ON l.label = c.label ${where(conditions)} ${newest}`
  if (session !== undefined) {
    const text = joined('@.calls', [...owner.conditions, ...callConditions({ session }), ...completed])
    return many(text, { ...all, mostRows: fewRequests })
  }
  const ofRange = (conditions: readonly string[]) =>
    `SELECT ${columns} FROM @.calls ${where([...conditions, ...completed])} ${newest}`
  const inRanges = { columns: times, rows: ranges }
  if (owner.conditions.length === 0) return ofEach(ofRange([]), inRanges, { mostRows: most })
  const found = await labelsOf(sql, owner, 'label', values, fewRequests + 1)
  const labels = found.map(({ label }) => ({ label: Number(label) }))
  const ofLabel = ofRange(['label = :label'])
  if (labels.length <= fewLabels) {
    const rows = ranges.flatMap((range) => labels.map((label) => ({ ...range, ...label })))
    const mostRows = Math.min(most, Math.max(1, Math.floor(mostOfLabels / rows.length)))
    return ofEach(ofLabel, { columns: [['label', 'int'], ...times], rows }, { mostRows })
  }
  if (labels.length <= fewRequests) {
    const ofLabels = { columns: [['label', 'int']], rows: labels } as const
    const ofRanges = `SELECT ${columns} FROM @.calls ${where(['label = :label', ...completed])} LIMIT :mostRows`
    const few = await ofEach(ofRanges, ofLabels, { ...all, mostRows: fewRequests + 1 }, { most: fewRequests + 1 })
    if (few.length <= fewRequests) return few
  }
  const latest = `(SELECT * FROM @.calls ${where(completed)} ORDER BY started_at DESC LIMIT ${mostOfRange})`
  return ofEach(joined(latest, owner.conditions), inRanges, { ...values, mostRows: most })
}
