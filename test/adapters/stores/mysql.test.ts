import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { MysqlPool } from '../../../adapters/stores/mysql/database.ts'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { fresh } from '../../../src/testing/kit.ts'
import { dropTables, hasMysql, mariadbPool, mysqlPool, ownName } from '../../servers.ts'
import { testStores } from './kits.ts'
import { statementMs } from '../../patience.ts'

const [mysql2, mariadb] = [mysqlPool(8), mariadbPool(8)]
const prefix = ownName()
afterAll(async () => {
  if (hasMysql) await dropTables(mysql2, prefix)
  await Promise.all([mysql2.end(), mariadb.end()])
})

describe.skipIf(!hasMysql)('one handle through mysql2, one through mariadb', () => {
  testStores(test, mysql(mysql2, { prefix, statementMs }), mysql(mariadb, { prefix, statementMs }))
})

describe.skipIf(!hasMysql)('a pool', () => {
  /** Of one client, with other options. */
  const poolWith = (options: object) => {
    const pool = mariadbPool(4, options)
    onTestFinished(() => pool.end())
    return pool
  }

  test('that sends one statement at a time admits exactly what the balance and a cap allow', async () => {
    const { admission, ledger, limits } = mysql(poolWith({}), { prefix, statementMs })
    const account = fresh('account')
    await ledger.credit({ account, amount: 1_000n, reference: fresh('reference') })
    const cap = { name: fresh('cap'), window: 'always', periods: { boundaries: [0, 8e15] }, limits: { calls: 90n } }
    const bucket = fresh('bucket')
    const admit = async (amount: bigint) => {
      const id = fresh('call')
      const claim = { id, rates: [], places: [{ bucket, places: 1_000 }], leaseMs: 60_000 }
      const verdict = await admission.admit(claim, { id, account, amount, leaseMs: 60_000, caps: [cap] })
      return { id, hold: verdict.hold }
    }
    const all = await Promise.all(Array.from({ length: 150 }, async () => admit(10n)))
    const held = all.filter(({ hold }) => hold?.outcome === 'held')
    expect(held).toHaveLength(90)
    await admission.finish(
      held.map(({ id, hold }) => ({
        returned: { id, places: [bucket], corrections: [] },
        end: { id, account, amount: 3n, caps: hold?.caps ?? [] },
      })),
    )
    expect(await ledger.account(account)).toMatchObject({ balance: 730n, held: 0n })
    expect(await ledger.caps?.read([cap])).toMatchObject([
      { settled: { money: 270n, calls: 90n }, held: { calls: 0n } },
    ])
    const places = [{ bucket, places: 1 }]
    expect(await limits.take({ id: fresh('call'), rates: [], places, leaseMs: 1_000 })).toMatchObject({
      admitted: true,
    })
  })

  test.each([
    ["sql_mode = ''", /set STRICT_TRANS_TABLES in its sql_mode/],
    ["sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'", /remove NO_BACKSLASH_ESCAPES from its sql_mode/],
    ['autocommit = 0', /set autocommit to 1/],
    ['character_set_connection = latin1', /set the charset of the pool to utf8mb4/],
  ])('with %s is refused, because data would be changed or lost', async (setting, message) => {
    const { keys } = mysql(poolWith({ initSql: `SET SESSION ${setting}` }), { prefix, statementMs })
    await expect(keys.find('')).rejects.toThrow(message)
  })

  test('whose database has another character set stores any text', async () => {
    const database = ownName()
    await mysql2.query(`CREATE DATABASE ${database} CHARACTER SET latin1`)
    onTestFinished(async () => void (await mysql2.query(`DROP DATABASE ${database}`)))
    const { responses, usage } = mysql(poolWith({ database }))
    const record = { account: 'naïve 🎈', id: 'é', items: ['🎈', 'b'], body: '"日本"' }
    await responses.put(record)
    await responses.put({ ...record, items: ['🎈'] })
    expect(await responses.holding(record.account, 'b')).toBeUndefined()
    expect(await responses.holding(record.account, '🎈')).toEqual({ ...record, items: ['🎈'] })
    expect(await usage.list({ account: record.account, tag: '日本' })).toEqual({ items: [] })
  })

  test('is one of ten that begin at once, and the tables are made once', async () => {
    const own = ownName()
    const pools = Array.from({ length: 10 }, () => poolWith({}))
    const found = await Promise.all(pools.map(async (pool) => mysql(pool, { prefix: own, statementMs }).keys.find('')))
    expect(found).toEqual(pools.map(() => undefined))
    const [rows] = await mysql2.query(`SELECT version, serves FROM ${own}_layout`)
    expect(rows).toEqual([{ version: 1, serves: 1 }])
    await mysql2.query(`UPDATE ${own}_layout SET version = 3, serves = 2`)
    await expect(mysql(mysql2, { prefix: own, statementMs }).keys.find('')).rejects.toThrow(/update modelhatch here/)
    await dropTables(mysql2, own)
  })
})

test.each([
  [[{ Variable_name: 'tx_isolation' }], 'tx_isolation'],
  [[], 'transaction_isolation'],
])('a transaction sets the isolation level by the variable that the server has', async (named, variable) => {
  const sent: string[] = []
  const answers = new Map<RegExp, unknown>([
    [/@@sql_mode/, [{ mode: 'STRICT_TRANS_TABLES', autocommit: '1', letters: 'utf8mb4' }]],
    [/tx_isolation'$/, named],
    [/layout/, [{ version: '1', serves: '1' }]],
  ])
  const query = async ({ sql }: { sql: string }) => {
    if (sql.includes(';')) throw new Error('one statement at a time')
    sent.push(sql)
    return [...answers].find(([pattern]) => pattern.test(sql))?.[1] ?? { affectedRows: 0 }
  }
  const connection = { query, execute: query, release: () => undefined, destroy: () => undefined }
  const pool = { getConnection: async () => connection } as unknown as MysqlPool
  await mysql(pool).ledger.renew([{ id: 'hold', account: 'acme' }], 1_000)
  expect(sent.filter((sql) => sql.includes('READ-COMMITTED'))).toEqual([
    `SET SESSION innodb_lock_wait_timeout = 1, wait_timeout = 5, ${variable} = 'READ-COMMITTED', autocommit = 0`,
  ])
  expect(sent.at(-1)).toBe(
    `SET SESSION autocommit = 1, innodb_lock_wait_timeout = DEFAULT, wait_timeout = DEFAULT, ${variable} = DEFAULT`,
  )
})

test('what is not a pool is refused', () => {
  expect(() => mysql({} as never)).toThrow(/needs a pool of mysql2 or mariadb/)
  expect(() => mysql(mysql2, { prefix: 'a`; DROP' })).toThrow(/lower-case letters/)
})
