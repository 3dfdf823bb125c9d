/** The layout of a storage: how a later version changes tables in use, and which storage is refused. */
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Pool } from 'pg'
import type { Ledger } from '../../../adapters/stores/index.ts'
import { requireUsable, type Change } from '../../../adapters/stores/layout.ts'
import { Calls } from '../../../adapters/stores/postgres/calls.ts'
import { Database } from '../../../adapters/stores/postgres/database.ts'
import { postgresLedger } from '../../../adapters/stores/postgres/ledger.ts'
import { tables } from '../../../adapters/stores/postgres/schema.ts'
import { tables as sqliteTables } from '../../../adapters/stores/sqlite/schema.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { Database as SqliteDatabase } from '../../../adapters/stores/sqlite/database.ts'
import { sqliteLedger } from '../../../adapters/stores/sqlite/ledger.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, type StorageBundle } from '../../../src/index.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { dropKeys, hasPostgres, hasRedis, ownName, postgresPool, redisConnection } from '../../servers.ts'
import { statementMs } from '../../patience.ts'

/** A change that a later version could make. */
const later: Change = {
  serves: 1,
  postgres: [
    {
      run: 'ALTER TABLE @.accounts ADD COLUMN IF NOT EXISTS colour text; ALTER TABLE @.entries ADD COLUMN IF NOT EXISTS colour text',
    },
    {
      repeat: `UPDATE @.entries SET colour = 'red' WHERE number IN (SELECT number FROM @.entries WHERE colour IS NULL LIMIT 100)
        RETURNING 1`,
    },
    { index: 'entries_colour', table: 'entries', on: '(colour, number)' },
    { index: 'soon_gone', table: 'accounts', on: '(colour)', unique: true },
    { dropIndex: 'soon_gone' },
  ],
  sqlite: 'ALTER TABLE modelhatch_accounts ADD COLUMN colour TEXT',
}

function opened(): { pool: Pool; schema: string } {
  const [pool, schema] = [postgresPool(8), ownName()]
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  return { pool, schema }
}

/** A process of a version with these changes. */
function processOf(pool: Pool, schema: string, changes: readonly Change[]): { database: Database; ledger: Ledger } {
  const database = new Database(
    pool,
    { schema, preparedStatements: true, connections: 4, statementMs },
    tables,
    changes,
  )
  onTestFinished(() => database.close())
  return { database, ledger: postgresLedger(database, new Calls(database, false)) }
}

async function call(ledger: Ledger, id: string): Promise<void> {
  const hold = { id, account: 'acme', amount: 10n, leaseMs: 60_000 }
  expect((await ledger.hold(hold)).outcome).toBe('held')
  await ledger.settle({ id, account: 'acme', amount: 7n })
}

/** Every object of a schema, with its name replaced by `@`. */
async function objectsOf(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable AS line
      FROM information_schema.columns WHERE table_schema = $1
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = $1
    UNION ALL SELECT 'function ' || proname || pg_get_function_arguments(oid) || prosrc FROM pg_proc
      WHERE pronamespace = $1::regnamespace
    UNION ALL SELECT 'version ' || version || ' ' || serves FROM ${schema}.modelhatch_layout
    ORDER BY 1`,
    [schema],
  )
  return rows.map(({ line }: { line: string }) => line.replaceAll(schema, '@'))
}

/** The message of the innermost cause. */
async function reasonOf(act: () => unknown): Promise<string> {
  try {
    await act()
    return 'nothing was rejected'
  } catch (error) {
    let inner = error
    while ((inner as { cause?: unknown }).cause !== undefined) inner = (inner as { cause: unknown }).cause
    return (inner as Error).message
  }
}

/** What a gateway says about a storage that it cannot use, at its start and to a request. */
async function refusalOf(storage: StorageBundle): Promise<string> {
  const gateway = createGateway({ models: {}, storage, billing: { currency: 'CNY' } })
  const first = await reasonOf(async () => gateway.admin.accounts.find('a'))
  expect(await reasonOf(async () => gateway.ready())).toBe(first)
  expect(await gateway.admin.accounts.find('a').catch((error: unknown) => error)).toMatchObject({ status: 503 })
  await gateway.close()
  return first
}

describe.skipIf(!hasPostgres)('Postgres', () => {
  test('is upgraded by one of many processes while calls of both versions run', async () => {
    const { pool, schema } = opened()
    const old = processOf(pool, schema, []).ledger
    await old.credit({ account: 'acme', amount: 1_000_000n, reference: 'first' })
    for (let index = 0; index < 20; index++) await call(old, `before ${index}`)
    // An earlier process was killed while it built the index.
    await pool.query(`ALTER TABLE ${schema}.entries ADD COLUMN colour text`)
    await pool.query(`CREATE INDEX entries_colour ON ${schema}.entries (colour, number)`)
    await pool.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${schema}.entries_colour'::regclass`)

    const young = Array.from({ length: 4 }, () => processOf(pool, schema, [later]))
    let calls = 20
    const state = { done: false }
    const upgraded = Promise.all(young.map(async ({ database }) => database.has(2))).then(() => (state.done = true))
    for (let round = 0; round < 5 || !state.done; round++, calls += 5) {
      const ledgers = [old, ...young.map(({ ledger }) => ledger)]
      await Promise.all(ledgers.map(async (ledger, index) => call(ledger, `during ${round} ${index}`)))
    }
    await upgraded
    await call(old, 'after')
    const audit = await old.audit()
    expect([audit.faults, audit.settlements, audit.holds]).toEqual([[], BigInt(calls + 1) * 7n, 0n])
    const { rows } = await pool.query(`SELECT indisvalid FROM pg_index
      WHERE indexrelid = '${schema}.entries_colour'::regclass`)
    expect(rows).toEqual([{ indisvalid: true }])

    const fresh = ownName()
    onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${fresh} CASCADE`)))
    await processOf(pool, fresh, [later]).database.has(2)
    expect(await objectsOf(pool, schema)).toEqual(await objectsOf(pool, fresh))
  })

  test('a schema that a newer version has made its own is refused, also by a running process, until it serves this one again', async () => {
    const { pool, schema } = opened()
    const storage = postgres(pool, { schema, statementMs })
    await storage.keys.find('')
    await pool.query(`INSERT INTO ${schema}.modelhatch_layout (version, serves) VALUES (9, 9)`)
    await pool.query(`ALTER TABLE ${schema}.accounts RENAME TO accounts_9`)
    await reasonOf(async () => storage.ledger.account('a'))
    expect(await refusalOf(storage)).toMatch(/has layout version 9.*requires version 9.*version 1: update modelhatch/)
    await pool.query(`ALTER TABLE ${schema}.accounts_9 RENAME TO accounts`)
    await pool.query(`UPDATE ${schema}.modelhatch_layout SET serves = 1`)
    expect(await storage.ledger.account('a')).toBeUndefined()
  })

  test.each([
    [
      'tables without a version',
      'CREATE TABLE @.migrations (part text); CREATE TABLE @.accounts (id text)',
      /"accounts"/,
    ],
    ['no recorded version', '', /layout version 0/],
  ])('a schema with %s is refused and left as it is', async (_, sql, found) => {
    const { pool, schema } = opened()
    if (sql === '') {
      await postgres(pool, { schema, statementMs }).keys.find('')
      await pool.query(`DELETE FROM ${schema}.modelhatch_layout`)
    } else await pool.query(`CREATE SCHEMA ${schema}; ${sql.replaceAll('@', schema)}`)
    const tables = async () =>
      (await pool.query('SELECT count(*) FROM pg_class WHERE relnamespace = $1::regnamespace', [schema])).rows
    const before = await tables()
    const message = await refusalOf(postgres(pool, { schema, statementMs }))
    expect(message).toMatch(found)
    expect(message).toMatch(new RegExp(`the schema "${schema}".*another .schema. to postgres`))
    expect(await tables()).toEqual(before)
  })
})

describe('SQLite', () => {
  function file(): DatabaseSync {
    const database = new DatabaseSync(':memory:')
    onTestFinished(() => database.close())
    return database
  }

  test('is upgraded while calls of both versions run', async () => {
    const database = file()
    const old = sqlite(database)
    await old.ledger.credit({ account: 'acme', amount: 1_000n, reference: 'first' })
    await call(old.ledger, 'before')
    const young = sqliteLedger(new SqliteDatabase(database, 'process', sqliteTables, [later]))
    await call(young, 'during')
    await call(old.ledger, 'after')
    expect(database.prepare('SELECT colour FROM modelhatch_accounts').all()).toHaveLength(1)
    expect(await young.audit()).toMatchObject({ settlements: 21n, holds: 0n, faults: [] })
    expect(database.prepare('SELECT version, serves FROM modelhatch_layout').all()).toEqual([
      { version: 1, serves: 1 },
      { version: 2, serves: 1 },
    ])
  })

  test.each([
    ['of a newer version', 'UPDATE modelhatch_layout SET version = 9, serves = 9', /version 9.*update modelhatch/],
    ['without a recorded version', 'DELETE FROM modelhatch_layout', /layout version 0.*another file/],
    [
      'without a table of versions',
      'DROP TABLE modelhatch_layout',
      /"modelhatch_\w+" and no layout version.*another file/,
    ],
  ])('a file %s is refused', async (_, sql, found) => {
    const database = file()
    await sqlite(database).keys.find('')
    database.exec(sql)
    expect(await refusalOf(sqlite(database))).toMatch(found)
  })
})

describe.skipIf(!hasRedis)('Redis', () => {
  test.each([
    ['of the layout without hash tags', '{@}:key ids:', /keys in "\{.*\}:" and no layout version.*another .prefix./],
    ['of an older layout', '{@:layout}', /layout version 1.*another .prefix. to redis\(\), or delete/, '1 1'],
    ['of a newer layout', '{@:layout}', /layout version 9.*requires version 9.*update modelhatch/, '9 9'],
  ])('keys %s are refused, and served once they are gone', async (_, key, found, value = 'x') => {
    const [{ send, close }, prefix] = [await redisConnection(), ownName()]
    const name = key.replace('@', prefix)
    await send('SET', name, value)
    expect(await refusalOf(redis(send, { prefix }))).toMatch(found)
    const later = redis(send, { prefix })
    expect(await reasonOf(async () => later.keys.find(''))).toMatch(found)
    await send('DEL', name)
    expect(await later.ledger.account('a')).toBeUndefined()
    await redis(send, { prefix }).ledger.credit({ account: 'a', amount: 1n, reference: prefix })
    expect(await later.ledger.account('a')).toMatchObject({ balance: 1n })
    await dropKeys({ send }, prefix)
    close()
  })
})

test('code is refused by a layout that no longer serves it, and refuses one that is too old for it', () => {
  const rule = { version: 2, oldest: 2, remedy: 'delete it' }
  requireUsable('the store', { version: 2, serves: 1 }, rule)
  requireUsable('the store', { version: 3, serves: 2 }, rule)
  expect(() => requireUsable('the store', { version: 4, serves: 3 }, rule)).toThrow(/requires version 3/)
  expect(() => requireUsable('the store', { version: 1, serves: 1 }, rule)).toThrow(/layout version 1.*delete it/)
})
