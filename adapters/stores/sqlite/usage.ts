import {
  Sweep,
  cursorOf,
  pageOf,
  readCursor,
  type UsageDimension,
  type UsageFilter,
  type UsageQuestion,
  type UsageRecord,
  type UsageStore,
  type UsageSummary,
} from '../index.ts'
import type { SQLInputValue } from 'node:sqlite'
import { spanOf } from '../sql/usage-span.ts'
import type { Database, Row } from './database.ts'
import { callOf, insertCall, recordOf } from './usage-rows.ts'
import { sums } from '../sql/usage-columns.ts'

const dimensions: Readonly<Record<UsageDimension, string>> = {
  day: `strftime('%Y-%m-%d', at / 1000 + ? * 60, 'unixepoch')`,
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
}

const counted = Object.keys(sums)
const columns = Object.values(sums).join(', ')
const calls = 'modelhatch_calls c JOIN modelhatch_usage_labels l ON l.label = c.label'

/** Milliseconds after which a step stops, so that it blocks the event loop only briefly. */
const stepMs = 4

type Part = readonly [sql: string, ...values: SQLInputValue[]]

export function sqliteUsage(database: Database): Required<UsageStore> {
  const moving = new Sweep(() => database.transaction(() => move(database)))
  const read = <T>(act: () => T) => {
    moving.use()
    return database.read(act)
  }
  return {
    append(records) {
      moving.use()
      return database.transaction(() => {
        for (const record of records) insertCall(database, record)
      })
    },
    find: (id) =>
      read(() => {
        const row = database.get(`SELECT * FROM ${calls} WHERE c.id = ?`, id)
        if (row !== undefined) return callOf(row)
        const old = database.get('SELECT record FROM modelhatch_usage_1 WHERE id = ?', id)
        return old && recordOf(old)
      }),
    list: (question) =>
      read(() => {
        const { limit = 100 } = question
        const found = listed(database, question, limit + 1)
        return pageOf(found, limit, (last) => cursorOf(last.startedAt, last.id))
      }),
    summarise: (question) => read(() => summed(database, question)),
    close: () => moving.close(),
  }
}

/** The newest records that match: read per label if there is a filter, and merged with those of version 1. */
function listed(database: Database, question: UsageFilter & { readonly after?: string }, limit: number): UsageRecord[] {
  const { from, to, after } = question
  const owner = ownerParts(question)
  const when = [...part('started_at >= ?', from), ...part('started_at < ?', to)]
  if (after !== undefined) {
    const [at, id] = readCursor(after)
    when.push(['started_at <= ?', at], ['(started_at < ? OR id < ?)', at, id])
  }
  const newest = (sql: string, parts: readonly Part[]) => {
    const { text, values } = where(parts)
    return database.all(`${sql} ${text} ORDER BY started_at DESC, id DESC LIMIT ?`, ...values, limit)
  }
  const { text, values } = where([...owner, ['within IS NOT NULL']])
  const labels =
    owner.length === 0 ? [] : database.all(`SELECT label FROM modelhatch_usage_labels l ${text}`, ...values)
  const rows =
    owner.length === 0
      ? newest(`SELECT * FROM ${calls}`, when)
      : labels.flatMap(({ label }) => newest(`SELECT * FROM ${calls}`, [['c.label = ?', label as bigint], ...when]))
  const old = newest('SELECT record FROM modelhatch_usage_1', [...owner, ...when])
  const found = [...rows.map(callOf), ...old.map(recordOf)]
  return found.sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1)).slice(0, limit)
}

/** Adds the sums of whole quarters, the requests before and after these, and the records of version 1. */
function summed(database: Database, question: UsageQuestion): UsageSummary[] {
  const { by, account, key, from, to, offsetMinutes = 0 } = question
  const ofOne = account !== undefined || key !== undefined || by.includes('account') || by.includes('key')
  const owner = ownerParts(question)
  const names = 'account, "group", key, model, endpoint'
  const { quarters, edges } = spanOf(from, to, !by.includes('day') || offsetMinutes % 15 === 0)
  const sources: { readonly text: string; readonly values: readonly SQLInputValue[] }[] = []
  const add = (sql: string, parts: readonly Part[]) => {
    const { text, values } = where(parts)
    sources.push({ text: `${sql} ${text}`, values })
  }
  add(
    `SELECT ${names}, quarter * 900000.0 AS at, requests, incomplete, ${columns}, cost_high, cost_low
    FROM modelhatch_usage_labels l JOIN modelhatch_usage_sums s ON s.label = l.label`,
    [
      ...owner,
      [`within IS ${ofOne ? 'NOT ' : ''}NULL`],
      ['quarter >= ? AND quarter < ?', quarters.begin, quarters.end],
    ],
  )
  const parted = '(cost >> 32), (cost & 4294967295)'
  for (const [begin, end] of edges) {
    const edge: Part = ['started_at >= ? AND started_at < ?', begin, end]
    add(`SELECT ${names}, started_at, 1, outcome IS NOT NULL, ${columns}, ${parted} FROM ${calls}`, [...owner, edge])
  }
  const recorded = counted.map((name) => `record ->> '${name}'`).join(', ')
  const old = [...owner, ...part('started_at >= ?', from), ...part('started_at < ?', to)]
  add(
    `SELECT ${names}, started_at, 1, record ->> 'outcome' <> 'completed', ${recorded}, ${parted} FROM modelhatch_usage_1`,
    old,
  )
  const named = by.map((dimension, index) => `${dimensions[dimension]} AS d${index}, `).join('')
  const offsets = by.flatMap((dimension) => (dimension === 'day' ? [offsetMinutes] : []))
  const added = Object.entries(sums).map(([name, column]) => `total(${column}) AS ${name}`)
  const places = by.map((_, index) => index + 1).join(', ')
  const sql = `SELECT ${named} sum(requests) AS requests, sum(incomplete) AS incomplete, ${added.join(', ')},
      sum(cost_high) AS high, sum(cost_low) AS low
    FROM (${sources.map(({ text }) => text).join(' UNION ALL ')})
    ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places} ORDER BY ${places}`}`
  const rows = database.all(sql, ...offsets, ...sources.flatMap(({ values }) => values))
  return rows.map((row) => summaryOf(row, by))
}

/** Moves records of version 1 into the new tables for a few milliseconds. Returns whether there may be more. */
function move(database: Database): boolean {
  const end = performance.now() + stepMs
  while (performance.now() < end) {
    const row = database.get('SELECT id, record FROM modelhatch_usage_1 ORDER BY started_at DESC LIMIT 1')
    if (row === undefined) return false
    database.run('DELETE FROM modelhatch_usage_1 WHERE id = ?', row['id'] as string)
    insertCall(database, recordOf(row))
  }
  return true
}

function ownerParts({ account, key, model }: UsageFilter): Part[] {
  return [...part('account = ?', account), ...part('key = ?', key), ...part('model = ?', model)]
}

function part(sql: string, value: SQLInputValue | undefined): Part[] {
  return value === undefined ? [] : [[sql, value]]
}

function where(parts: readonly Part[]): { readonly text: string; readonly values: readonly SQLInputValue[] } {
  const text = parts.length === 0 ? '' : `WHERE ${parts.map(([sql]) => sql).join(' AND ')}`
  return { text, values: parts.flatMap(([, ...values]) => values) }
}

function summaryOf(row: Row, by: readonly UsageDimension[]): UsageSummary {
  const named = by.map((dimension, index) => [dimension, row[`d${index}`]] as const)
  const numbers = ['requests', 'incomplete', ...counted].map((name) => [name, Number(row[name])] as const)
  const cost = (BigInt(row['high'] ?? 0) << 32n) + BigInt(row['low'] ?? 0)
  return { ...Object.fromEntries(named), ...Object.fromEntries(numbers), cost } as UsageSummary
}
