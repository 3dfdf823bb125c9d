/** Upgrading a schema in use, while gateways of both versions use it. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Pool } from 'pg'
import type { LimitClaim } from '../../../adapters/stores/index.ts'
import { codeVersion, requireServed } from '../../../adapters/stores/sql/code-version.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, type UsageRecord } from '../../../src/index.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { usageRecord } from '../../usage/record.ts'
import { createVersion1, Version1 } from './version-1/gateway.ts'

async function opened(): Promise<{ pool: Pool; schema: string; old: Version1 }> {
  const [pool, schema] = [postgresPool(8), ownName()]
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  await createVersion1(pool, schema)
  return { pool, schema, old: new Version1(pool, schema) }
}

const jsonOf = (record: object) => ({ ...record, cost: '7', overage: '0' })

async function upgraded(pool: Pool, schema: string): Promise<boolean> {
  const { rows } = await pool.query(`SELECT part || ' ' || version AS name FROM ${schema}.migrations`)
  const names = rows.map(({ name }: { name: string }) => name)
  return ['keys 2', 'ledger 2', 'limits 2', 'usage 2', 'usage 3', 'usage 4', 'usage 5'].every((name) =>
    names.includes(name),
  )
}

/** Every object of a schema, with its name replaced by `@`. */
async function objectsOf(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable AS line
      FROM information_schema.columns WHERE table_schema = $1
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = $1
    UNION ALL SELECT 'view ' || viewname || definition FROM pg_views WHERE schemaname = $1
    UNION ALL SELECT 'constraint ' || conrelid::regclass || pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = $1::regnamespace
    UNION ALL SELECT 'function ' || proname || pg_get_function_arguments(oid) || prosrc FROM pg_proc
      WHERE pronamespace = $1::regnamespace
    UNION ALL SELECT 'version ' || part || version || serves FROM ${schema}.migrations
    ORDER BY 1`,
    [schema],
  )
  return rows.map(({ line }: { line: string }) => line.replaceAll(schema, '@'))
}

function claimOf(id: string): LimitClaim {
  const rates = [{ bucket: 'b', cost: 1, limit: 1e9, periodMs: 1_000, burst: 1e9 }]
  return { id, rates, places: [{ bucket: 'p', places: 1_000 }], leaseMs: 60_000 }
}

describe.skipIf(!hasPostgres)('Postgres: a schema of version 1', () => {
  test('is upgraded while gateways of both versions use it, without losing a record or a charge', async () => {
    const { pool, schema, old } = await opened()
    const account = 'acme'
    await pool.query(`SELECT ${schema}.credit($1, 1000000, 'first', null)`, [account])
    const before = Array.from({ length: 20 }, (_, index) => `old ${index}`)
    for (const id of before) await old.call(id, account, jsonOf(usageRecord({ id, account })))

    const storage = postgres(pool, { schema })
    const news: string[] = []
    const olds: string[] = []
    for (let round = 0; round < 5 || !(await upgraded(pool, schema)); round++) {
      const [mine, theirs] = [`new ${round}`, `old then ${round}`]
      const hold = { id: mine, account, amount: 10n, leaseMs: 60_000 }
      const newCall = async () => {
        expect((await storage.joint.admit(claimOf(mine), hold)).hold?.outcome).toBe('held')
        await storage.joint.finish([{ end: { id: mine, account, amount: 7n } }])
        await storage.usage.append([
          usageRecord({ id: mine, account, cost: 7n, user: 'ada', tags: ['t'], session: 's' }),
        ])
        await storage.usage.admitUsers?.([{ account, user: 'ada' }], 1)
      }
      await Promise.all([newCall(), old.call(theirs, account, jsonOf(usageRecord({ id: theirs, account })))])
      news.push(mine)
      olds.push(theirs)
      // Each version sees the records of the other, before, during and after the upgrade.
      const all = [...before, ...news, ...olds].sort()
      expect((await old.usage(account)).sort()).toEqual(all)
      expect((await storage.usage.list({ account, limit: 1_000 })).items.map(({ id }) => id).sort()).toEqual(all)
      expect(await old.cost(account)).toEqual({
        requests: all.length,
        cost: String(all.length * 7),
        promptTokens: all.length,
      })
      const [sums] = await storage.usage.summarise({ account, by: [] })
      expect([sums?.requests, sums?.cost]).toEqual([all.length, BigInt(all.length * 7)])
    }
    const last = usageRecord({ id: 'last', account, cost: 7n, user: 'ada', tags: ['t'], session: 's', attempts: 2 })
    await storage.usage.append([last])
    expect(await storage.usage.find?.('last')).toEqual(last)
    // Lists and sums agree on the records from before the upgrade, which keep no user.
    const { items } = await storage.usage.list({ account, user: 'ada', limit: 1_000 })
    expect(items.length).toBeGreaterThan(0)
    expect((await storage.usage.summarise({ account, user: 'ada', by: [] }))[0]?.requests).toBe(items.length)
    expect((await old.usage(account)).includes('last')).toBe(true)
    const audit = await storage.ledger.audit()
    const calls = BigInt(before.length + news.length + olds.length)
    expect([audit.faults, audit.settlements, audit.holds]).toEqual([[], calls * 7n, 0n])
    await storage.close()
  })

  test('has the same objects after the upgrade as a new schema', async () => {
    const { pool, schema } = await opened()
    const fresh = ownName()
    onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${fresh} CASCADE`)))
    const made = postgres(pool, { schema: fresh })
    await made.keys.find('')
    const raised = postgres(pool, { schema })
    await raised.keys.find('')
    await expect.poll(() => objectsOf(pool, schema), { timeout: 10_000 }).toEqual(await objectsOf(pool, fresh))
    await made.close()
    await raised.close()
  })

  test('is upgraded once by several processes that start together, even if an earlier one was killed while building an index', async () => {
    const { pool, schema } = await opened()
    await pool.query(`CREATE UNIQUE INDEX entries_ended ON ${schema}.entries (reference) WHERE kind <> 'credit'`)
    await pool.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${schema}.entries_ended'::regclass`)
    const many = Array.from({ length: 6 }, () => postgres(pool, { schema }))
    await Promise.all(many.map(async ({ ledger }) => ledger.account('a')))
    await expect.poll(() => upgraded(pool, schema), { timeout: 10_000 }).toBe(true)
    const { rows } = await pool.query('SELECT indisvalid FROM pg_index WHERE indexrelid = $1::regclass', [
      `${schema}.entries_ended`,
    ])
    expect(rows).toEqual([{ indisvalid: true }])
    for (const each of many) await each.close()
  })
})

test.skipIf(!hasPostgres)(
  'Postgres: requests are listed and recorded while the table of refused ones cannot be made yet',
  async () => {
    const { pool, schema } = await opened()
    const first = postgres(pool, { schema })
    await first.keys.find('')
    await expect.poll(() => upgraded(pool, schema), { timeout: 10_000 }).toBe(true)
    await first.close()
    await pool.query(`DROP TABLE ${schema}.refused; DELETE FROM ${schema}.migrations WHERE part = 'usage' AND version = 5;
    INSERT INTO ${schema}.upgrades VALUES ('schema', 'another process', now() + interval '1 hour')
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends = excluded.ends`)
    const { usage, close } = postgres(pool, { schema })
    const attemptLog = [{ provider: 'p', providerModel: 'm', outcome: 'succeeded', startMs: 0, ms: 1 }] as const
    const record = usageRecord({ id: 'served', account: 'acme', provider: 'p', providerModel: 'm', attemptLog })
    await usage.append([record])
    expect(await usage.find?.('served')).toEqual(record)
    expect((await usage.list({ account: 'acme' })).items).toEqual([record])
    expect((await usage.list({ account: 'acme', outcome: 'refused' })).items).toEqual([])
    expect(await usage.removeBefore?.(0, 10)).toBe(0)
    const refused = usageRecord({ id: 'refused', account: 'acme', outcome: 'refused', startedAt: 2 })
    const appended = usage.appendRefused?.([refused])
    await pool.query(`DELETE FROM ${schema}.upgrades`)
    await appended
    expect((await usage.list({ account: 'acme' })).items).toEqual([refused, record])
    await close?.()
  },
)

describe('SQLite: a file of version 1', () => {
  test('is upgraded, and the previous version can still write to it', async () => {
    const database = new DatabaseSync(':memory:')
    database.exec(readFileSync(new URL('version-1/sqlite.sql', import.meta.url), 'utf8'))
    const fresh = new DatabaseSync(':memory:')
    const storages = [sqlite(database), sqlite(fresh)]
    for (const storage of storages) await storage.keys.find('')
    const schemaOf = (of: DatabaseSync) =>
      (
        of.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all() as { sql: string | null }[]
      ).map((row) => ({ ...row, sql: row.sql?.replaceAll(/\s+/g, ' ') }))
    expect(schemaOf(database)).toEqual(schemaOf(fresh))
    for (const sql of [
      `INSERT OR IGNORE INTO modelhatch_migrations VALUES ('ledger', 1)`,
      `INSERT OR IGNORE INTO modelhatch_usage VALUES ('r', 'a', 'g', '', 'm', 'e', 1, 2, '{"outcome":"completed"}')`,
      `INSERT INTO modelhatch_tasks VALUES ('t', 'i', 1, 1, 1, NULL, 1, '{}')`,
    ]) {
      database.prepare(sql).run()
    }
    expect(database.prepare('SELECT record FROM modelhatch_usage WHERE account = ?').all('a')).toHaveLength(1)
    for (const storage of storages) await storage.close()
    database.close()
    fresh.close()
  })

  test('records of a process of the previous version are never attributed to a user', async () => {
    const database = new DatabaseSync(':memory:')
    const { usage, close } = sqlite(database)
    await usage.append([usageRecord({ id: 'new', account: 'a', key: 'k', user: 'ada', tags: ['t'] })])
    const label = database
      .prepare(
        `SELECT label FROM modelhatch_usage_labels WHERE account = ? AND key = ? AND model = ? AND "group" = ?
          AND endpoint = ? AND provider IS ? AND provider_model IS ?`,
      )
      .get('a', 'k', 'm', 'g', 'chat.completions', null, null)?.['label'] as number
    database
      .prepare(
        `INSERT INTO modelhatch_calls (id, label, started_at, total_ms, first_byte_ms, cost, overage, stream, prompt_tokens,
          cached_tokens, completion_tokens, reasoning_tokens, images, seconds, outcome, code, basis)
        VALUES ('old', ?, 1, 1, NULL, 0, 0, 0, 1, 0, 1, 0, 0, 0, NULL, NULL, NULL)`,
      )
      .run(label)
    expect((await usage.list({ account: 'a', user: 'ada' })).items.map(({ id }) => id)).toEqual(['new'])
    expect(await usage.find?.('old')).toEqual(usageRecord({ id: 'old', account: 'a', key: 'k' }))
    await close()
    database.close()
  })

  test('keeps every record: those from before and after the upgrade, and those that a process of the previous version adds', async () => {
    const database = new DatabaseSync(':memory:')
    database.exec(readFileSync(new URL('version-1/sqlite.sql', import.meta.url), 'utf8'))
    const records = Array.from({ length: 60 }, (_, index) =>
      usageRecord({
        id: `r ${String(index).padStart(2, '0')}`,
        account: 'a',
        cost: 2n ** 50n,
        startedAt: index * 100_000,
      }),
    )
    const asOld = ({ id, account, group, model, endpoint, startedAt, cost, ...rest }: UsageRecord) => {
      const kept = { id, account, group, model, endpoint, startedAt, ...rest, cost: String(cost), overage: '0' }
      const sql = 'INSERT OR IGNORE INTO modelhatch_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
      database.prepare(sql).run(id, account, group, '', model, endpoint, startedAt, cost, JSON.stringify(kept))
    }
    const oldSql = `SELECT count(*) AS requests, total(record ->> 'promptTokens') AS tokens FROM modelhatch_usage
      WHERE account = 'a' AND record ->> 'outcome' = 'completed'`
    for (const record of records.slice(0, 20)) asOld(record)
    const { usage, close } = sqlite(database)
    await usage.append(records.slice(15, 40))
    for (const record of records.slice(35)) asOld(record)
    const check = async () => {
      expect((await usage.list({ account: 'a', limit: 100 })).items).toEqual(records.toReversed())
      expect(await usage.find?.('r 17')).toEqual(records[17])
      const [sums] = await usage.summarise({ account: 'a', by: [] })
      expect([sums?.requests, sums?.promptTokens, sums?.cost]).toEqual([60, 60, 60n * 2n ** 50n])
      expect(database.prepare(oldSql).get()).toEqual({ requests: 60, tokens: 60 })
    }
    await check()
    const left = () => database.prepare('SELECT count(*) AS n FROM modelhatch_usage_1').get()
    await expect.poll(left).toEqual({ n: 0 })
    await check()
    await close()
    database.close()
  })

  test('rejects code older than it serves', async () => {
    const database = new DatabaseSync(':memory:')
    const storage = sqlite(database)
    await storage.keys.find('')
    database.prepare('INSERT INTO modelhatch_serves VALUES (?)').run(codeVersion + 1)
    await storage.close()
    await expect((async () => storage.keys.find(''))()).rejects.toThrow(/update modelhatch/)
    database.close()
  })
})

describe('code older than a schema serves', () => {
  test('is rejected, and newer code is accepted', () => {
    expect(() => requireServed('the schema', 3, 2)).toThrow(/requires table version 3 or later.*version 2: update/)
    requireServed('the schema', 2, 2)
    requireServed('the schema', 1, 2)
  })

  test.skipIf(!hasPostgres)(
    'gets 503 with a cause that names the solution, also in a running gateway, until the schema serves it again',
    async () => {
      const { pool, schema } = await opened()
      const storage = postgres(pool, { schema })
      const gateway = createGateway({ models: {}, storage, billing: { currency: 'CNY' } })
      expect(await gateway.admin.accounts.find('a')).toBeUndefined()
      // The change that a later version would make.
      const later = `INSERT INTO ${schema}.migrations (part, version, serves) VALUES ('ledger', 9, ${codeVersion + 1})`
      await expect.poll(() => upgraded(pool, schema), { timeout: 10_000 }).toBe(true)
      await pool.query(later)
      await pool.query(`ALTER FUNCTION ${schema}.account_json RENAME TO account_json_9`)
      await expect(gateway.admin.accounts.find('a')).rejects.toMatchObject({ status: 503 })
      const rejected: unknown = await gateway.admin.accounts.find('a').catch((error: unknown) => error)
      expect(rejected).toMatchObject({
        status: 503,
        cause: { cause: { message: expect.stringContaining('update modelhatch') } },
      })
      await pool.query(`ALTER FUNCTION ${schema}.account_json_9 RENAME TO account_json`)
      await pool.query(`UPDATE ${schema}.migrations SET serves = ${codeVersion} WHERE version = 9`)
      expect(await gateway.admin.accounts.find('a')).toBeUndefined()
      await gateway.close()
    },
  )
})
