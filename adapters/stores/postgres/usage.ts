/** Usage: one row per request, and precomputed sums. */
import { cursorOf, pageOf, type UsageRecord, type UsageStore } from '../index.ts'
import type { Database } from './database.ts'
import { usageLife } from './usage-life.ts'
import { readDurations } from './usage-durations.ts'
import { newestRecords } from './usage-list.ts'
import { packAttempts, unpackAttempts } from '../sql/attempt-log.ts'
import { appendingRefused } from './usage-refused.ts'
import { readSums } from './usage-sums.ts'

/** The usage store of a schema.  */
export function postgresUsage(database: Database): Required<Omit<UsageStore, 'close'>> {
  const rows = <Row>(sql: string, values: unknown[]) => database.manyRows<Row>(sql, values)
  return {
    async append(records) {
      if (records.length > 0) await database.call('append_usage', JSON.stringify(records, storable))
    },
    async appendRefused(records) {
      if (records.length > 0) await database.rows(appendingRefused, [JSON.stringify(records, storable)])
    },
    async find(id) {
      const [row] = await database.rows<{ record: string }>(
        `SELECT @.usage_record(c, l)::text AS record FROM @.calls c JOIN @.usage_labels l ON l.label = c.label
          WHERE c.id = $1
        UNION ALL SELECT record::text FROM @.refused WHERE id = $1`,
        [id],
      )
      return row && usageRecord(row.record)
    },
    async list(question) {
      const { limit = 100 } = question
      const found = await newestRecords(rows, question, limit + 1)
      return pageOf(found.map(usageRecord), limit, (last) => cursorOf(last.startedAt, last.id))
    },
    async durations(question) {
      return readDurations((sql, values) => database.manyRows(sql, values), question)
    },
    ...usageLife(database),
    async admitUsers(users, most) {
      const admitted = await database.call<Readonly<Record<string, boolean>>>(
        'admit_users',
        JSON.stringify(users),
        most,
      )
      return users.map((_, index) => admitted[index + 1] === true)
    },
    async summarise(question) {
      return readSums((sql, values) => database.manyRows(sql, values), question)
    },
  }
}

/**
 * Replaces NUL and lone surrogates, which Postgres rejects and clients may send in names. Amounts and the log of attempts
 * become text.
 */
function storable(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (name === 'attemptLog' && Array.isArray(value)) return packAttempts(value, this as UsageRecord)
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}

function usageRecord(json: string): UsageRecord {
  const record = JSON.parse(json) as UsageRecord & { cost: string; overage: string; attemptLog?: unknown }
  const amounts = { cost: BigInt(record.cost), overage: BigInt(record.overage) }
  if (typeof record.attemptLog !== 'string') return { ...record, ...amounts }
  return { ...record, ...amounts, attemptLog: unpackAttempts(record.attemptLog, record) }
}
