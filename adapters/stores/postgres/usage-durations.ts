import type { DurationQuestion, Durations } from '../index.ts'
import { conditions, where } from './conditions.ts'
import type { Rows } from './database.ts'
import { callConditions, labelConditions } from './usage-filter.ts'

/** Number of labels up to which each of them is read in each range. */
const fewLabels = 200
/** Number of requests up to which all are read, and the number of their labels. */
const fewRequests = 20_000
/** Number of requests that are read of each range, or of all ranges if there are several labels. */
const [mostOfRange, mostOfLabels] = [2_000, 60_000]

interface Found {
  readonly place: number
  readonly total: readonly number[]
  readonly first: readonly (number | null)[]
}

/** The durations of the last requests of each range. However many requests and labels match, it reads a bounded number. */
export async function readDurations(rows: Rows, question: DurationQuestion): Promise<Durations[]> {
  const { starts, to } = question
  const ranges = starts.map((start, place) => ({ place, from: start, to: starts[place + 1] ?? to }))
  const values: unknown[] = [JSON.stringify(ranges), question.most]
  const text = `WITH ranges AS (SELECT * FROM json_to_recordset($1::json) AS r (place int, "from" float8, "to" float8)),
    found AS (${await selection(rows, question, values)}),
    newest AS (SELECT *, row_number() OVER (PARTITION BY place ORDER BY started_at DESC) AS number FROM found)
    SELECT json_build_object('place', place, 'total', json_agg(total_ms), 'first', json_agg(first_byte_ms))::text AS row
    FROM newest WHERE number <= $2 GROUP BY place`
  const found = new Map<number, Found>()
  for (const { row } of await rows<{ row: string }>(text, values)) {
    const one = JSON.parse(row) as Found
    found.set(one.place, one)
  }
  return ranges.map(({ place }) => {
    const { total = [], first = [] } = found.get(place) ?? {}
    return { totalMs: [...total], firstByteMs: first.filter((ms) => ms !== null) }
  })
}

const columns = 'place, started_at, total_ms, first_byte_ms'
const inRange = 'started_at >= r."from" AND started_at < r."to"'
const inAnyRange = 'started_at >= (SELECT min("from") FROM ranges) AND started_at < (SELECT max("to") FROM ranges)'
const newestFirst = 'ORDER BY started_at DESC LIMIT'
/** As CASE, because without statistics the planner takes NULL for rare, and would sort all requests of a range. */
const isCompleted = 'CASE WHEN outcome IS NULL THEN true ELSE false END'

/** The statement that selects requests, each with the place of its range. Appends to `values`. */
async function selection(rows: Rows, question: DurationQuestion, values: unknown[]): Promise<string> {
  const { session, starts, most } = question
  const owner = labelConditions(values, question)
  if (session !== undefined) {
    const filter = where([...owner, ...callConditions(values, { session }), isCompleted, inAnyRange])
    const some = `SELECT * FROM @.calls c JOIN @.usage_labels l ON l.label = c.label ${filter}`
    return `SELECT ${columns} FROM (${some} ${newestFirst} ${fewRequests}) c JOIN ranges r ON ${inRange}`
  }
  const ofRange = (filter: string, limit: number) =>
    `CROSS JOIN LATERAL (SELECT * FROM @.calls ${filter} ${newestFirst} ${limit}) c`
  const any = where([inRange, isCompleted])
  if (owner.length === 0) return `SELECT ${columns} FROM ranges r ${ofRange(any, most)}`
  const labels = `SELECT label FROM @.usage_labels l ${where([...owner, 'within IS NOT NULL'])}`
  const own = where(['label = l.label', inRange, isCompleted])
  const count = await countOf(rows, question)
  if (count.labels <= fewLabels) {
    const limit = Math.min(most, Math.max(1, Math.floor(mostOfLabels / (count.labels * starts.length))))
    return `SELECT ${columns} FROM ranges r CROSS JOIN (${labels}) l ${ofRange(own, limit)}`
  }
  if (count.labels <= fewRequests && count.requests <= fewRequests) {
    // OFFSET 0 keeps the order: the requests of each label by their index.
    const each = `SELECT * FROM @.calls ${where(['label = l.label', inAnyRange, isCompleted])} OFFSET 0`
    return `SELECT ${columns} FROM (${labels}) l CROSS JOIN LATERAL (${each}) c JOIN ranges r ON ${inRange}`
  }
  return `SELECT ${columns} FROM ranges r CROSS JOIN LATERAL (
      SELECT c.* FROM (SELECT * FROM @.calls ${any} ${newestFirst} ${mostOfRange}) c
      JOIN @.usage_labels l ON l.label = c.label ${where(owner)} ${newestFirst} ${most}
    ) c`
}

/** The number of labels, and if these are many, of their requests in all ranges: both up to one above their limits. */
async function countOf(rows: Rows, question: DurationQuestion): Promise<{ labels: number; requests: number }> {
  const { starts, to } = question
  const values: unknown[] = []
  const counted = (from: string) => `SELECT count(*)::int AS count FROM (${from} LIMIT ${fewRequests + 1}) n`
  const some = `SELECT label FROM @.usage_labels l ${where([...labelConditions(values, question), 'within IS NOT NULL'])}`
  const [labels = { count: 0 }] = await rows<{ count: number }>(counted(some), values)
  if (labels.count <= fewLabels || labels.count > fewRequests) return { labels: labels.count, requests: 0 }
  const range = where(['label = l.label', ...conditions(values, { 'started_at >=': starts[0], 'started_at <': to })])
  const own = `SELECT FROM (${some}) l CROSS JOIN LATERAL (SELECT FROM @.calls ${range} OFFSET 0) c`
  const [requests = { count: 0 }] = await rows<{ count: number }>(counted(own), values)
  return { labels: labels.count, requests: requests.count }
}
