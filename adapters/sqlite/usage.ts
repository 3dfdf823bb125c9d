/** Usage: one row for each call of a model. */
import { pageOf } from '../../src/billing/page.ts'
import type { SQLInputValue } from 'node:sqlite'
import type { Dimension, UsageFilter, UsageRecord, UsageStore, UsageSummary } from '../../src/index.ts'
import type { Database, Part, Row } from './database.ts'

/** What is asked for and summed up are columns; the record as it was given is kept beside them. */
export const usagePart: Part = {
  name: 'usage',
  versions: [
    `
    CREATE TABLE modelhatch_usage (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      "group" TEXT NOT NULL,
      key TEXT NOT NULL,
      model TEXT NOT NULL,
      endpoint TEXT NOT NULL,
      started_at REAL NOT NULL,
      cost INTEGER NOT NULL,
      record TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX modelhatch_usage_of ON modelhatch_usage (account, started_at, id);
    CREATE INDEX modelhatch_usage_at ON modelhatch_usage (started_at, id);
    `,
  ],
}

const dimensions: Readonly<Record<Dimension, string>> = {
  day: `strftime('%Y-%m-%d', started_at / 1000 + ? * 60, 'unixepoch')`,
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
}

const counted = ['promptTokens', 'cachedTokens', 'completionTokens', 'reasoningTokens', 'images', 'seconds'] as const

export function sqliteUsage(database: Database): UsageStore {
  return {
    append: (records) =>
      database.transaction(() => {
        for (const record of records) insert(database, record)
      }),
    list: (question) =>
      database.read(() => {
        const { limit = 100, after } = question
        const [conditions, values] = filterOf(question)
        if (after !== undefined) {
          const [startedAt, id] = JSON.parse(after) as [number, string]
          conditions.push('(started_at, id) < (?, ?)')
          values.push(startedAt, id)
        }
        const sql = `SELECT record FROM modelhatch_usage WHERE ${conditions.join(' AND ')}
          ORDER BY started_at DESC, id DESC LIMIT ?`
        const found = database.all(sql, ...values, limit + 1).map(recordOf)
        return pageOf(found, limit, (last) => JSON.stringify([last.startedAt, last.id]))
      }),
    summarise: (question) =>
      database.read(() => {
        const { by, offsetMinutes = 0 } = question
        const [conditions, values] = filterOf(question)
        const columns = by.map((dimension) => dimensions[dimension])
        const offsets = by.flatMap((dimension) => (dimension === 'day' ? [offsetMinutes] : []))
        const named = columns.map((column, index) => `${column} AS d${index}, `).join('')
        const sums = counted.map((name) => `total(record ->> '${name}') AS ${name}`).join(', ')
        const places = columns.map((_, index) => index + 1).join(', ')
        const sql = `SELECT ${named} count(*) AS requests,
            count(*) FILTER (WHERE record ->> 'outcome' <> 'completed') AS incomplete, ${sums}, sum(cost) AS cost
          FROM modelhatch_usage WHERE ${conditions.join(' AND ')}
          ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places} ORDER BY ${places}`}`
        return database.all(sql, ...offsets, ...values).map((row) => summaryOf(row, by))
      }),
  }
}

function insert(database: Database, record: UsageRecord): void {
  const { id, account, group, key = '', endpoint, startedAt, cost, overage } = record
  // Names of models may come from clients: half characters would come back as others.
  const model = record.model.toWellFormed()
  const json = JSON.stringify({ ...record, model, cost: String(cost), overage: String(overage) })
  const sql = 'INSERT OR IGNORE INTO modelhatch_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
  database.run(sql, id, account, group, key, model, endpoint, startedAt, cost, json)
}

function filterOf({ account, key, model, from, to }: UsageFilter): [string[], SQLInputValue[]] {
  const conditions: string[] = ['true']
  const values: SQLInputValue[] = []
  const where = (condition: string, value: SQLInputValue | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(value)
  }
  where('account = ?', account)
  where('key = ?', key)
  where('model = ?', model)
  where('started_at >= ?', from)
  where('started_at < ?', to)
  return [conditions, values]
}

function recordOf(row: Row): UsageRecord {
  const record = JSON.parse(row['record'] as string) as UsageRecord & { cost: string; overage: string }
  return { ...record, cost: BigInt(record.cost), overage: BigInt(record.overage) }
}

function summaryOf(row: Row, by: readonly Dimension[]): UsageSummary {
  const named = by.map((dimension, index) => [dimension, row[`d${index}`]] as const)
  const numbers = ['requests', 'incomplete', ...counted].map((name) => [name, Number(row[name])] as const)
  return {
    ...Object.fromEntries(named),
    ...Object.fromEntries(numbers),
    cost: BigInt(row['cost'] ?? 0),
  } as UsageSummary
}
