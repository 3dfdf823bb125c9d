import type { UsageLine, UsageRecord } from '../index.ts'
import { packAttempts, unpackAttempts } from '../sql/attempt-log.ts'
import type { Database, Row } from './database.ts'

const ofAll = 'account IS NULL AND key IS NULL AND model = ? AND "group" = ? AND endpoint = ?'
const ofOne =
  'account = ? AND key = ? AND model = ? AND "group" = ? AND endpoint = ? AND provider IS ? AND provider_model IS ? ' +
  'AND "user" IS ? AND tags IS ?'

const insertSql = `
  INSERT INTO modelhatch_calls (id, label, started_at, total_ms, first_byte_ms, cost, overage, stream, prompt_tokens,
    cached_tokens, completion_tokens, reasoning_tokens, images, seconds, outcome, code, basis,
    session, attempts, lines, attempt_log, agent)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

/** Inserts a usage record unless its id exists. Must run in a transaction. */
export function insertCall(database: Database, record: UsageRecord): void {
  const { id, startedAt, totalMs, firstByteMs = null, cost, overage, stream, outcome, code = null, basis } = record
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, images, seconds } = record
  const counts = [promptTokens, cachedTokens, completionTokens, reasoningTokens, images, seconds]
  const unusual = [outcome === 'completed' ? null : outcome, code, basis === 'reported' ? null : basis]
  const times = [startedAt, totalMs, firstByteMs]
  const charged = [cost, overage, Number(stream)]
  const lines = record.lines === undefined ? null : JSON.stringify(record.lines)
  const log = record.attemptLog === undefined ? null : packAttempts(record.attemptLog, record)
  const session = record.session?.toWellFormed() ?? null
  const agent = record.agent?.toWellFormed() ?? null
  const rest = [session, record.attempts ?? null, lines, log, agent]
  database.run(insertSql, id, labelOf(database, record), ...times, ...charged, ...counts, ...unusual, ...rest)
}

/** The label of the record, inserted if it is new; see `tables` in `usage-schema.ts`. */
function labelOf(database: Database, record: UsageRecord): bigint {
  const { account, group, key = '', endpoint, provider = null, providerModel = null } = record
  // Model names may come from clients, and SQLite would change unpaired surrogates.
  const model = record.model.toWellFormed()
  const user = record.user?.toWellFormed() ?? null
  const tags = record.tags === undefined ? null : JSON.stringify(record.tags)
  const base = [account, key, model, group, endpoint, provider, providerModel]
  const own = [...base, user, tags]
  const find = (condition: string, values: readonly (string | null)[]) =>
    database.get(`SELECT label FROM modelhatch_usage_labels WHERE ${condition}`, ...values)?.['label']
  const known = find(ofOne, own)
  if (known !== undefined) return known as bigint
  const all = [model, group, endpoint]
  if (find(ofAll, all) === undefined) {
    database.run('INSERT INTO modelhatch_usage_labels (model, "group", endpoint) VALUES (?, ?, ?)', ...all)
  }
  const sql = `INSERT INTO modelhatch_usage_labels
      (within, account, key, model, "group", endpoint, provider, provider_model, "user", tags)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  database.run(sql, find(ofAll, all) as bigint, ...own)
  return find(ofOne, own) as bigint
}

/** The usage record of a request's row, joined with its label. */
export function callRecord(row: Row): UsageRecord {
  const text = (name: string) => row[name] as string
  const deployment = { ...present('provider', row['provider']), ...present('providerModel', row['provider_model']) }
  return {
    id: text('id'),
    account: text('account'),
    ...present('key', text('key') || null),
    ...present('user', row['user']),
    ...present('session', row['session']),
    ...present('agent', row['agent']),
    ...present('tags', row['tags'] === null ? null : (JSON.parse(text('tags')) as string[])),
    group: text('group'),
    endpoint: text('endpoint'),
    model: text('model'),
    ...deployment,
    outcome: (row['outcome'] ?? 'completed') as UsageRecord['outcome'],
    ...present('code', row['code']),
    ...present('attempts', row['attempts'] === null ? null : Number(row['attempts'])),
    ...present('attemptLog', row['attempt_log'] === null ? null : unpackAttempts(text('attempt_log'), deployment)),
    stream: row['stream'] === 1n,
    promptTokens: Number(row['prompt_tokens']),
    cachedTokens: Number(row['cached_tokens']),
    completionTokens: Number(row['completion_tokens']),
    reasoningTokens: Number(row['reasoning_tokens']),
    images: Number(row['images']),
    seconds: Number(row['seconds']),
    cost: row['cost'] as bigint,
    overage: row['overage'] as bigint,
    basis: (row['basis'] ?? 'reported') as UsageRecord['basis'],
    ...present('lines', row['lines'] === null ? null : (JSON.parse(text('lines')) as UsageLine[])),
    startedAt: Number(row['started_at']),
    ...present('firstByteMs', row['first_byte_ms']),
    totalMs: Number(row['total_ms']),
  }
}

/** The field, or none if the column is null. */
function present<T>(name: string, value: T | null): Readonly<Record<string, T>> {
  return value === null ? {} : { [name]: value }
}

/** A usage record as JSON. */
export function refusedRecord(row: Row): UsageRecord {
  const record = JSON.parse(row['record'] as string) as UsageRecord & { cost: string; overage: string }
  return { ...record, cost: BigInt(record.cost), overage: BigInt(record.overage) }
}
