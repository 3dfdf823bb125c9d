import { readCursor, type UsageFilter } from '../index.ts'
import { conditions, where } from './conditions.ts'
import type { Rows } from './database.ts'
import { callConditions, labelConditions } from './usage-filter.ts'
import { refusedConditions } from './usage-refused.ts'

/**
 * How requests of some labels are found. `each`: the newest of each label, for few labels. `join`: those with an error code or
 * an outcome, which are few, with their labels. `latest`: among the latest requests of all labels.
 */
type Way = 'each' | 'join' | 'latest'

type Question = UsageFilter & { readonly after?: string }

/** Number of labels up to which `each` is used at once. */
const fewLabels = 200
/** Number of requests among which `latest` looks. */
const manyRequests = 5_000

/** The records of the newest `limit` requests, as JSON. */
export async function newestRecords(rows: Rows, question: Question, limit: number): Promise<readonly string[]> {
  const way = question.outcome === 'refused' ? 'each' : await wayTo(rows, question, limit)
  const values: unknown[] = []
  const found = await rows<{ record: string }>(listing(question, limit, values, way), values)
  return found.map(({ record }) => record)
}

/** The way that reads few rows, however many labels the question selects. */
async function wayTo(rows: Rows, question: Question, limit: number): Promise<Way> {
  const { session, outcome = 'completed', code } = question
  const values: unknown[] = []
  const ofLabels = labelConditions(values, question)
  if (ofLabels.length === 0 || session !== undefined) return 'join'
  const some = where([...ofLabels, 'within IS NOT NULL'])
  const [labels] = await rows<{ count: number }>(counting(`@.usage_labels l ${some}`, fewLabels + 1), values)
  if (labels === undefined || labels.count <= fewLabels) return 'each'
  if (code !== undefined || outcome !== 'completed') return 'join'
  const newValues: unknown[] = []
  const latest = `(${latestCalls(callFilter(newValues, question))}) c JOIN @.usage_labels l ON l.label = c.label
    ${where(labelConditions(newValues, question))}`
  const [recent] = await rows<{ count: number }>(counting(latest, limit), newValues)
  return recent?.count === limit ? 'latest' : 'each'
}

function counting(from: string, most: number): string {
  return `SELECT count(*)::int AS count FROM (SELECT FROM ${from} LIMIT ${most}) counted`
}

function latestCalls(filter: readonly string[]): string {
  return `SELECT * FROM @.calls ${where(filter)} ORDER BY started_at DESC, id DESC LIMIT ${manyRequests}`
}

/** The conditions on single requests, with times and cursor. Appends to `values`. */
function callFilter(values: unknown[], question: Question): string[] {
  const { from, to } = question
  return [
    ...callConditions(values, question),
    ...conditions(values, { 'started_at >=': from, 'started_at <': to }),
    ...cursorConditions(values, question),
  ]
}

function cursorConditions(values: unknown[], { after }: Question): string[] {
  if (after === undefined) return []
  const [startedAt, id] = readCursor(after)
  const [at, than] = [values.push(startedAt), values.push(id)]
  return [`started_at <= $${at} AND (started_at < $${at} OR id < $${than}::text COLLATE "C")`]
}

/** The statement that lists the newest requests: those with a label, and refused ones. Appends to `values`. */
function listing(question: Question, limit: number, values: unknown[], way: Way): string {
  const { outcome } = question
  const newest = `ORDER BY started_at DESC, id DESC LIMIT ${limit}`
  const refused = () => {
    const parts = where([...refusedConditions(values, question), ...cursorConditions(values, question)])
    return `(SELECT started_at, id, record FROM @.refused ${parts} ${newest})`
  }
  if (outcome === 'refused') return `SELECT record::text FROM ${refused()} found ${newest}`
  const ofLabels = labelConditions(values, question)
  const filter = callFilter(values, question)
  return `SELECT record::text FROM (
      (SELECT c.started_at, c.id, @.usage_record(c, l) AS record FROM ${source()} ${newest})
      ${outcome === undefined ? `UNION ALL ${refused()}` : ''}
    ) found ${newest}`

  function source(): string {
    if (ofLabels.length === 0)
      return `(SELECT * FROM @.calls ${where(filter)} ${newest}) c JOIN @.usage_labels l ON l.label = c.label`
    if (way === 'latest')
      return `(${latestCalls(filter)}) c JOIN @.usage_labels l ON l.label = c.label ${where(ofLabels)}`
    if (way === 'join') return `@.calls c JOIN @.usage_labels l ON l.label = c.label ${where([...ofLabels, ...filter])}`
    const own = where([...filter, 'calls.label = l.label'])
    // Only the labels with the newest requests of their own can have one of the newest of all.
    return `(
        SELECT l.label FROM @.usage_labels l
        CROSS JOIN LATERAL (SELECT started_at FROM @.calls ${own} ORDER BY started_at DESC LIMIT 1) own
        ${where([...ofLabels, 'within IS NOT NULL'])}
        ORDER BY own.started_at DESC FETCH FIRST ${limit} ROWS WITH TIES
      ) top JOIN @.usage_labels l ON l.label = top.label
      CROSS JOIN LATERAL (SELECT * FROM @.calls ${own} ${newest}) c`
  }
}
