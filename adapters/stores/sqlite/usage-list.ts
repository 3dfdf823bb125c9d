/** Pages of usage records. */
import { readCursor, type UsageFilter, type UsageRecord } from '../index.ts'
import { given, where, type Condition } from './conditions.ts'
import type { Database, Row } from './database.ts'
import { SliceSize, SlicedReads } from './sliced-reads.ts'
import { callConditions, ownerConditions } from './usage-filter.ts'
import { labelsOf, readsAllLabels } from './usage-labels.ts'
import { refusedConditions } from './usage-refused.ts'
import { callRecord, refusedRecord } from './usage-rows.ts'

const calls = 'modelhatch_calls c JOIN modelhatch_usage_labels l ON l.label = c.label'
const newestFirst = 'ORDER BY started_at DESC, id DESC LIMIT ?'

/** A question about records, and how many of them. */
type Question = UsageFilter & { readonly after?: string }

/**
 * The newest records that match: read per label if there is a filter. Where no index
 * leads to a tag, it reads in slices of a few milliseconds.
 */
export async function listed(database: Database, question: Question, limit: number): Promise<UsageRecord[]> {
  const when = timesOf(question)
  const refused = await refusedOf(database, question, when, limit)
  if (question.outcome === 'refused') return refused.map(refusedRecord)
  const rows = await callsOf(database, question, when, limit)
  const found = [...rows.map(callRecord), ...refused.map(refusedRecord)]
  return found.sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1)).slice(0, limit)
}

function timesOf({ from, to, after }: Question): Condition[] {
  const when = [...given('started_at >= ?', from), ...given('started_at < ?', to)]
  if (after === undefined) return when
  const [at, id] = readCursor(after)
  return [...when, ['started_at <= ?', at], ['(started_at < ? OR id < ?)', at, id]]
}

function newest(database: Database, sql: string, parts: readonly Condition[], limit: number): Row[] {
  const { text, values } = where(parts)
  return database.all(`${sql} ${text} ${newestFirst}`, ...values, limit)
}

/** Refused requests. With a tag alone, the newest ones are read slice by slice until enough match. */
async function refusedOf(
  database: Database,
  question: Question,
  when: readonly Condition[],
  limit: number,
): Promise<readonly Row[]> {
  const { outcome = 'refused', model, session, code } = question
  if (outcome !== 'refused') return []
  const matching = refusedConditions(question)
  if (!readsAllLabels(question) || (model ?? session ?? code) !== undefined) {
    const sql = 'SELECT record FROM modelhatch_refused'
    return database.read(() => newest(database, sql, [...matching, ...when], limit))
  }
  const [slices, size] = [new SlicedReads(database), new SliceSize(100)]
  const isWanted = matching.map(([sql]) => sql).join(' AND ')
  const wanted = matching.flatMap(([, ...values]) => values)
  const found: Row[] = []
  for (let before: readonly Condition[] = []; found.length < limit;) {
    const { text, values } = where([...when, ...before])
    const sql = `SELECT started_at, id, iif(${isWanted}, record, NULL) AS record FROM modelhatch_refused ${text} ${newestFirst}`
    const rows = await slices.take(size, () => database.all(sql, ...wanted, ...values, size.value))
    found.push(...rows.filter(({ record }) => record !== null))
    const last = rows.at(-1)
    if (last === undefined) break
    const { started_at: at = null, id = null } = last
    before = [['(started_at, id) < (?, ?)', at, id]]
  }
  return found.slice(0, limit)
}

async function callsOf(
  database: Database,
  question: Question,
  when: readonly Condition[],
  limit: number,
): Promise<readonly Row[]> {
  const owner = ownerConditions(question)
  const own = [...callConditions(question), ...when]
  if (owner.length === 0 || question.session !== undefined) {
    return database.read(() => newest(database, `SELECT * FROM ${calls}`, [...owner, ...own], limit))
  }
  const some = await labelsOf(database, question, owner, manyLabels)
  const isMany = some.length > manyLabels
  const early = isMany ? await database.read(() => ofManyLabels(database, question, owner, own, limit)) : undefined
  if (early !== undefined) return early
  const labels = await newestLabels(database, isMany ? undefined : some, { question, owner, own, limit })
  return database.read(() =>
    labels.flatMap((label) => newest(database, `SELECT * FROM ${calls}`, [['c.label = ?', label], ...own], limit)),
  )
}

/** Labels from which on the latest records of all accounts are read first, and how many of these. */
const [manyLabels, latest] = [100, 2_000]

/**
 * For an account with many labels: its newest records among those with an error code or an outcome, which are few, or among
 * the latest ones of all accounts. Undefined if older ones may be missing.
 */
function ofManyLabels(
  database: Database,
  { code, outcome = 'completed' }: UsageFilter,
  owner: readonly Condition[],
  own: readonly Condition[],
  limit: number,
): Row[] | undefined {
  if (code !== undefined || outcome !== 'completed') {
    // CROSS JOIN keeps the order: the records by their index, and then the label of each.
    const from = 'modelhatch_calls c CROSS JOIN modelhatch_usage_labels l ON l.label = c.label'
    return newest(database, `SELECT * FROM ${from}`, [...owner, ...own], limit)
  }
  const [labels, records] = [where(owner), where(own)]
  const rows = database.all(
    `SELECT * FROM (
      SELECT * FROM modelhatch_calls ${records.text} ORDER BY started_at DESC, id DESC LIMIT ${latest}
    ) c JOIN modelhatch_usage_labels l ON l.label = c.label ${labels.text} ${newestFirst}`,
    ...records.values,
    ...labels.values,
    limit,
  )
  return rows.length < limit ? undefined : rows
}

interface Search {
  readonly question: Question
  readonly owner: readonly Condition[]
  readonly own: readonly Condition[]
  readonly limit: number
}

/** The labels that can have one of the newest `limit` records: of those given or of all, those with the newest of their own. */
async function newestLabels(
  database: Database,
  labels: readonly bigint[] | undefined,
  { question, owner, own, limit }: Search,
): Promise<bigint[]> {
  const records = where([['c.label = l.label'], ...own])
  let found: Row[] = []
  const read = (some: readonly Condition[], hint: string) => {
    const { text, values } = where([...some, ...owner, ['within IS NOT NULL']])
    const rows = database.all(
      `SELECT label, (SELECT started_at FROM modelhatch_calls c ${records.text} ORDER BY started_at DESC LIMIT 1) AS newest
      FROM modelhatch_usage_labels l ${hint} ${text}`,
      ...records.values,
      ...values,
    )
    found = highest([...found, ...rows.filter((row) => row['newest'] !== null)], limit)
  }
  const slices = new SlicedReads(database)
  if (labels !== undefined || readsAllLabels(question)) await slices.ofLabels(labels, (some) => read([some], ''))
  else await database.read(() => read([], ''))
  return found.map(({ label }) => label as bigint)
}

/** The rows with the newest records, and all with the same time as the last of them. */
function highest(rows: readonly Row[], limit: number): Row[] {
  const ordered = rows.toSorted((left, right) => Number(right['newest']) - Number(left['newest']))
  const last = Number(ordered[limit - 1]?.['newest'] ?? -Infinity)
  return ordered.filter(({ newest: at }) => Number(at) >= last)
}
