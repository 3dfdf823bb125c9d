/**
 * The time of admin queries over many rows, how long each blocks the event loop at most, and the size of a row: `npm run bench:rows [-- <rows> [postgres|sqlite]]`.
 * Default: a million requests in thirty days, of a thousand accounts of very different sizes. Deletes its data at the end.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Pool } from 'pg'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { sqlite } from '../../adapters/stores/sqlite/sqlite.ts'
import { slowestPage } from './filters.ts'
import type { StorageBundle, UsageRecord } from '../../src/index.ts'
import { eachUnit } from '../../src/observe/usage/units.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const kinds = process.argv[3] === undefined ? ['postgres', 'sqlite'] : [process.argv[3]]
const batch = 1_000
const day = 86_400_000
const end = Date.UTC(2031, 0, 31)
const start = end - 30 * day

interface Bench {
  readonly storage: Required<Pick<StorageBundle, 'usage' | 'ledger'>>
  /** Bytes of the records with their indexes, and of the sums. */
  readonly bytes: () => Promise<readonly [records: number, sums: number]>
  readonly settle: () => Promise<void>
  readonly close: () => Promise<void>
}

function recordAt(index: number): UsageRecord {
  const account = `account_${Math.floor(1_000 * Math.random() ** 3)}`
  const prompt = Math.floor(20 + 3_000 * Math.random() ** 2)
  const model = ['gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'gemini-2.5-flash'][index % 5] as string
  return {
    id: `req_${randomUUID().replaceAll('-', '')}`,
    account,
    key: `key_${account}_0123456789ab`,
    ...(index % 2 === 0 && { user: `user_${Math.floor(200 * Math.random() ** 2)}` }),
    ...(index % 3 === 0 && { session: `session_${index >> 8}` }),
    group: 'default',
    endpoint: 'chat.completions',
    model,
    provider: 'openai',
    providerModel: `${model}-2030-10-01`,
    ...(index % 50 === 0 ? { outcome: 'failed', code: 'server_error' } : { outcome: 'completed' }),
    attempts: 1,
    attemptLog: [
      { provider: 'openai', providerModel: `${model}-2030-10-01`, outcome: 'succeeded', startMs: 0.4, ms: 312.5 },
    ],
    stream: index % 2 === 0,
    ...eachUnit(() => 0),
    promptTokens: prompt,
    cachedTokens: index % 3 === 0 ? prompt >> 1 : 0,
    completionTokens: Math.floor(1 + 900 * Math.random()),
    cost: BigInt(Math.floor(10_000 * Math.random())),
    overage: 0n,
    basis: 'reported',
    startedAt: Math.floor(start + ((end - start) * index) / rows),
    firstByteMs: Math.floor(1_000 * Math.random()),
    totalMs: Math.floor(20_000 * Math.random()),
  }
}

/** Resolves once the last delay of the event loop has been measured, too. */
async function measured(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5))
}

async function measure(kind: string, { storage: { usage, ledger }, bytes, settle, close }: Bench): Promise<void> {
  const began = performance.now()
  for (let from = 0; from < rows; from += batch) {
    const records = Array.from({ length: Math.min(batch, rows - from) }, (_, index) => recordAt(from + index))
    await usage.append(records)
  }
  const loadedMs = performance.now() - began
  await settle()
  const last = recordAt(rows)
  await usage.append([last])
  const [records, sums] = await bytes()
  const month = { from: start + 1, to: end - 1 }
  const largest = { most: 22, measure: 'cost' } as const
  const starts = Array.from({ length: 60 }, (_, index) => start + (index * day) / 2)
  const periods = { starts, to: end, most: 100 }
  const queries: [string, () => unknown][] = [
    ['all accounts, 30 days, by day', () => usage.summarise({ by: ['day'], offsetMinutes: 480, ...month })],
    ['all accounts, 30 days, by model', () => usage.summarise({ by: ['model'], ...month })],
    ['all accounts, 30 days, by account', () => usage.summarise({ by: ['account'], ...month })],
    ['all accounts, 30 days, by user', () => usage.summarise({ by: ['user'], ...month })],
    ['the 22 largest keys of 30 days', () => usage.summarise({ by: ['key'], largest, ...month })],
    ['latencies of all, in 60 periods', () => usage.durations?.(periods)],
    ['latencies of a model, in 60 periods', () => usage.durations?.({ ...periods, model: 'gpt-5' })],
    ['latencies of an account, in 60 periods', () => usage.durations?.({ ...periods, account: 'account_0' })],
    ['all accounts, 30 days, by account and day', () => usage.summarise({ by: ['account', 'day'], ...month })],
    [
      'all accounts, 30 days, by account and day at +05:30',
      () => usage.summarise({ by: ['account', 'day'], offsetMinutes: 330, ...month }),
    ],
    ['the largest account, 30 days, by day', () => usage.summarise({ by: ['day'], account: 'account_0', ...month })],
    ['the largest account, by day and model', () => usage.summarise({ by: ['day', 'model'], account: 'account_0' })],
    ['its newest 100 calls', () => usage.list({ account: 'account_0' })],
    ['the newest 100 calls of all', () => usage.list({})],
    ['one call by its id', () => usage.find?.(last.id)],
    ['audit', () => ledger.audit()],
  ]
  const lines: string[][] = []
  for (const [name, ask] of queries) {
    await ask()
    const times: number[] = []
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    for (let time = 0; time < 3; time++) {
      const since = performance.now()
      await ask()
      times.push(performance.now() - since)
    }
    await measured()
    delay.disable()
    lines.push([name, `${Math.min(...times).toFixed(1)} ms, blocks ${(delay.max / 1e6).toFixed(1)} ms`])
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { count, ms, filter } = await slowestPage(usage, start, day)
  await measured()
  delay.disable()
  const pages = `${ms.toFixed(1)} ms, blocks ${(delay.max / 1e6).toFixed(1)} ms`
  lines.push([`the slowest first page of ${count} filters: ${filter}`, pages])
  lines.push(['bytes a record, with its indexes', String(Math.round(records / rows))])
  lines.push(['bytes of sums for each record', String(Math.round(sums / rows))])
  lines.push(['records appended a second', String(Math.round(rows / (loadedMs / 1_000)))])
  const widest = Math.max(...lines.map(([name = '']) => name.length))
  const text = lines.map(([name = '', value = '']) => `${name.padEnd(widest)}  ${value.padStart(28)}`).join('\n')
  process.stdout.write(`\n${rows} rows in ${kind}, times the best of three\n${text}\n`)
  await close()
}

async function inPostgres(): Promise<Bench> {
  const pool = new Pool({
    connectionString: process.env['MODELHATCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test',
  })
  const schema = `mh_bench_${randomUUID().slice(0, 8)}`
  const storage = postgres(pool, { schema })
  await storage.keys.find('')
  await pool.query(`INSERT INTO ${schema}.accounts (id) SELECT 'account_' || n FROM generate_series(0, 999) n`)
  await pool.query(
    `INSERT INTO ${schema}.entries (account, kind, reference, amount) SELECT 'account_' || floor(1000 * random() ^ 3)::int,
      CASE WHEN n % 50 = 0 THEN 'credit' ELSE 'settle' END, 'req_' || md5(n::text), n % 1000 FROM generate_series(1, ${rows}) n`,
  )
  const size = async (tables: string) => {
    const sql = `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
      WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname ~ '${tables}'`
    return Number((await pool.query(sql)).rows[0].bytes)
  }
  return {
    storage,
    bytes: async () => [await size('^(calls|usage_labels|usage_1|usage)$'), await size('^usage_(quarters|days)$')],
    settle: async () => void (await pool.query('VACUUM ANALYZE')),
    async close() {
      await storage.close()
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}

async function inSqlite(): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  const file = join(folder, 'bench.db')
  const storage = sqlite(file)
  await storage.keys.find('')
  const { DatabaseSync } = await import('node:sqlite')
  return {
    storage,
    async bytes() {
      const database = new DatabaseSync(file)
      const sizeOf = (names: string) =>
        Number(database.prepare(`SELECT sum(pgsize) AS bytes FROM dbstat WHERE name GLOB ?`).get(names)?.['bytes'] ?? 0)
      const sums = sizeOf('modelhatch_usage_[qd]*')
      const all = sizeOf('*modelhatch_usage*') + sizeOf('*modelhatch_calls*')
      database.close()
      return [all - sums, sums]
    },
    async settle() {
      const database = new DatabaseSync(file)
      database.exec(`BEGIN IMMEDIATE;
        INSERT INTO modelhatch_accounts (id, created_at) SELECT 'account_' || value, 0 FROM json_each('[${Array.from({ length: 1_000 }, (_, index) => index).join()}]');
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${rows})
        INSERT INTO modelhatch_entries (account, kind, reference, amount, at)
        SELECT 'account_' || (abs(random()) % 1000), CASE WHEN n % 50 = 0 THEN 'credit' ELSE 'settle' END,
          'req_' || hex(randomblob(16)), n % 1000, 0 FROM n;
        COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`)
      database.close()
    },
    async close() {
      await storage.close()
      rmSync(folder, { recursive: true })
    },
  }
}

for (const kind of kinds) await measure(kind, kind === 'postgres' ? await inPostgres() : await inSqlite())
