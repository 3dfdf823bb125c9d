/** Usage records as rows: of `calls` with their labels, and of `refused`. */
import crypto from 'node:crypto'
import { usageFields, usageFieldsWith, type AttemptRecord, type UsageRecord } from '../index.ts'
import { listIn, objectIn } from '../unreadable.ts'
import { packAttempts, unpackAttempts } from './attempt-log.ts'
import { bigintsAsText, columnOf, type TableRow, type Values } from './sql.ts'
import { callFields, labelFields, personalFields, refusedFields } from './usage-columns.ts'

type Name = keyof UsageRecord

const names = usageFieldsWith()

/** The columns of calls `c` with their labels `l`. */
export const callColumns: string = [
  ...names.map((name) => selected(name, usageFields[name].shared === undefined ? 'c.' : 'l.')),
  'NULL AS record',
].join(', ')

/** The same columns of refused requests. */
export const refusedColumns: string = [
  ...names.map((name) => (refusedFields.includes(name) ? selected(name, '') : `NULL AS ${columnOf(name)}`)),
  'record',
].join(', ')

function selected(name: Name, table: string): string {
  const column = columnOf(name)
  return usageFields[name].kept === 'json' ? `CAST(${table}${column} AS text) AS ${column}` : `${table}${column}`
}

/** The record of a row, without what cannot be read. */
export function recordOf(row: TableRow): UsageRecord {
  const record: Record<string, unknown> = {}
  const isRefused = row['record'] !== null
  if (isRefused) {
    Object.assign(record, objectIn(row['record']) ?? unknownRecord)
    for (const name of amounts) if (record[name] !== undefined) record[name] = BigInt(record[name] as string)
  }
  for (const name of isRefused ? refusedFields : names) {
    const value = loaded(name, row, record)
    if (value !== undefined) record[name] = value
  }
  return record as unknown as UsageRecord
}

/** What a refused request has if only its columns can be read. */
const unknownRecord = {
  ...Object.fromEntries(names.map((name) => [name, usageFields[name].usual])),
  outcome: 'refused',
  endpoint: '(cannot be read)',
  group: '',
  stream: false,
  cost: 0n,
  totalMs: 0,
}

const amounts = usageFieldsWith(({ kept }) => kept === 'integer')
const columns = new Map(names.map((name) => [name, columnOf(name).slice(1, -1)]))

/** `record`: the fields before it. */
function loaded(name: Name, row: TableRow, record: Readonly<Record<string, unknown>>): unknown {
  const { kept, usual } = usageFields[name]
  const value = row[columns.get(name) as string]
  if (value === null) return usual
  if (kept === 'name') return value
  if (kept === 'json') return listIn(value)
  if (kept === 'packed') return unpackAttempts(value as string, record)
  if (kept === 'integer') return BigInt(value as bigint | string)
  return kept === 'flag' ? Number(value) === 1 : Number(value)
}

/** The value of a field in its column: none for the usual one, so that rows are narrow. */
function stored(name: Name, record: UsageRecord): unknown {
  const { kept, usual } = usageFields[name]
  const value: unknown = record[name]
  if (value === undefined || value === usual) return undefined
  // Model names, users and sessions may come from clients.
  if (kept === 'name') return textOf(value as string)
  if (kept === 'json') return JSON.stringify(value)
  if (kept === 'packed') return packAttempts(value as readonly AttemptRecord[], record)
  if (kept === 'integer') return (value as bigint).toString()
  return kept === 'flag' ? Number(value) : value
}

function rowOf(fields: readonly Name[], record: UsageRecord): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const name of fields) row[name] = stored(name, record)
  return row
}

/** The values of a request, and of its label. */
export function callRow(record: UsageRecord): Values {
  return Object.assign(rowOf(callFields, record), withDigest(rowOf(labelFields, record)))
}

const whole = labelFields.filter((name) => usageFields[name].shared === 'whole')

/** The label without account and key, for statistics over all accounts. */
export function wholeRow(row: Values): Values {
  return withDigest(Object.fromEntries(whole.map((name) => [name, row[name]])))
}

/** The digest finds a label by all its fields. */
function withDigest(label: Values): Values {
  return { ...label, digest: crypto.hash('sha256', JSON.stringify(label), 'base64url').slice(0, 32) }
}

/** The values of a refused request. */
export function refusedRow(record: UsageRecord): Values {
  const rest: Record<string, unknown> = { ...record, model: textOf(record.model) }
  for (const name of ['account', ...personalFields]) delete rest[name]
  return { ...rowOf(refusedFields, record), record: JSON.stringify(rest, bigintsAsText) }
}

/** Without NUL and lone surrogates, which databases reject. */
function textOf(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
