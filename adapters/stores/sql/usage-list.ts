/** Pages of usage records. */
import type { UsageRecord } from '../index.ts'
import { where, type Owner, type Sql, type TableRow, type Values } from './sql.ts'
import { callConditions, filterValues, refusedConditions, timeConditions, type UsageSelection } from './usage-filter.ts'
import { labelRows, labelsOf, ownerOf } from './usage-labels.ts'
import { callColumns, recordOf, refusedColumns } from './usage-rows.ts'

/** Labels up to which each is read, and the number of the latest requests of all accounts that are read before those of many labels. */
const [few, latest] = [100, 2_000]

const order = 'ORDER BY started_at DESC, id DESC'
const newest = `${order} LIMIT :most`

/** The records of the newest `most` requests that match. Reads few rows, however many labels match. */
export async function listed(sql: Sql, question: UsageSelection, most: number): Promise<UsageRecord[]> {
  const { outcome } = question
  const values = { ...filterValues(question), most, latest }
  const found = await Promise.all([
    outcome === 'refused' ? [] : callsOf(sql, question, values, most),
    outcome === undefined || outcome === 'refused' ? refusedOf(sql, question, values, most) : [],
  ])
  const records = found.flat().map(recordOf)
  return records.sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1)).slice(0, most)
}

function refusedOf(
  { dialect, usage }: Sql,
  question: UsageSelection,
  values: Values,
  most: number,
): Promise<readonly TableRow[]> {
  const conditions = refusedConditions(question)
  const tagged = question.tag === undefined ? [] : [`tags IS NOT NULL AND ${dialect.has('tags', ':tag')}`]
  const isFound = conditions.length > 0
  const indexed = [...conditions, ...timeConditions(question), ...(isFound ? tagged : [])]
  return usage.newest(refusedColumns, 'refused', { indexed, scanned: isFound ? [] : tagged }, values, most)
}

async function callsOf(sql: Sql, question: UsageSelection, values: Values, most: number): Promise<readonly TableRow[]> {
  const { many, ofEach, dialect, usage } = sql
  const owner = ownerOf(sql, question)
  const own = [...callConditions(question), ...timeConditions(question)]
  // No completed request has a code, so the index of codes may lead to many that are not wanted.
  const hasBoth = question.outcome === 'completed' && question.code !== undefined
  const scanned = [...owner.conditions, ...(hasBoth ? ['outcome IS NULL'] : [])]
  const ofLabels = `${dialect.first} @.usage_labels l ON l.label = c.label`
  const joined = (calls: string, conditions: readonly string[]) =>
    `SELECT ${callColumns} FROM ${calls} c ${ofLabels} ${where(conditions)} ${newest}`
  const indexed = own.filter((each) => !scanned.includes(each))
  const lookedThrough = () => usage.newest(callColumns, `calls c ${ofLabels}`, { indexed, scanned }, values, most)
  if (owner.conditions.length === 0) {
    if (hasBoth) return lookedThrough()
    return many(joined(`(SELECT * FROM @.calls ${where(own)} ${newest})`, []), values)
  }
  if (question.session !== undefined) return many(joined('@.calls', [...owner.conditions, ...own]), values)
  const newestOf = `label, (SELECT started_at FROM @.calls c ${where(['c.label = l.label', ...own])}
    ORDER BY started_at DESC LIMIT 1) AS newest`
  let labels = await labelsOf(sql, owner, newestOf, values, few + 1)
  if (labels.length > few) {
    // Those with an error code or an outcome are few.
    if (own.includes('outcome IS NOT NULL') || question.code !== undefined) return lookedThrough()
    const recent = `(SELECT * FROM @.calls ${where(own)} ${order} LIMIT :latest)`
    const found = await many(joined(recent, owner.conditions), values)
    if (found.length === most) return found
    labels = await newestLabels(sql, owner, newestOf, values, most)
  }
  const ofLabel = joined('@.calls', ['c.label = :label', ...own])
  const rows = highest(labels, most).map(({ label }) => ({ label: Number(label) }))
  return ofEach(ofLabel, { columns: [['label', 'int']], rows }, values, { order, most })
}

function ranked(labels: string): string {
  return `SELECT label, newest FROM (
    SELECT label, newest, rank() OVER (ORDER BY newest DESC) AS place FROM (${labels}) found WHERE newest IS NOT NULL
  ) ranked WHERE place <= :most`
}

/** Of many labels, those that can have one of the newest requests. */
async function newestLabels(
  { usage }: Sql,
  owner: Owner,
  columns: string,
  values: Values,
  most: number,
): Promise<readonly TableRow[]> {
  const rows = labelRows(columns, owner.conditions)
  let found: readonly TableRow[] = []
  await usage.inParts([{ rows }], owner, ranked, values, (more) => void (found = highest([...found, ...more], most)))
  return found
}

/** The labels that can have one of the newest requests: those with the newest of their own, and all with the same time as the last. */
function highest(labels: readonly TableRow[], most: number): readonly TableRow[] {
  const ordered = labels
    .filter(({ newest: at }) => at !== null)
    .sort((left, right) => Number(right['newest']) - Number(left['newest']))
  const last = Number(ordered[most - 1]?.['newest'] ?? -Infinity)
  return ordered.filter(({ newest: at }) => Number(at) >= last)
}
