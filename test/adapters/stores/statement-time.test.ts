import { describe, expect, onTestFinished, test } from 'vitest'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import type { StorageBundle } from '../../../src/index.ts'
import { dropTables, hasMysql, hasPostgres, mysqlPool, ownName, postgresPool } from '../../servers.ts'
import { statementMs } from '../../patience.ts'

/** While all accounts are locked, a store gives up after the default; another one waits until they are free. */
async function waits(hurried: StorageBundle, patient: StorageBundle, lock: () => Promise<() => Promise<unknown>>) {
  await patient.ledger?.open({ id: 'acme' })
  const unlock = await lock()
  const waiting = Promise.resolve(patient.ledger?.account('acme'))
  await expect(hurried.ledger?.account('acme')).rejects.toThrow(/timeout|too slow/)
  await unlock()
  expect(await waiting).toMatchObject({ id: 'acme' })
}

describe.skipIf(!hasPostgres)('Postgres', () => {
  test('waits for a statement as long as statementMs says', async () => {
    const [pool, schema] = [postgresPool(8), ownName()]
    onTestFinished(async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    })
    await waits(postgres(pool, { schema }), postgres(pool, { schema, statementMs }), async () => {
      const client = await pool.connect()
      await client.query(`BEGIN; LOCK TABLE ${schema}.accounts`)
      return async () => {
        await client.query('COMMIT')
        client.release()
      }
    })
  })
})

describe.skipIf(!hasMysql)('MySQL', () => {
  test('waits for a statement as long as statementMs says', async () => {
    const [pool, prefix] = [mysqlPool(8), ownName()]
    onTestFinished(async () => {
      await dropTables(pool, prefix)
      await pool.end()
    })
    await waits(mysql(pool, { prefix }), mysql(pool, { prefix, statementMs }), async () => {
      const connection = await pool.getConnection()
      await connection.query(`LOCK TABLES ${prefix}_accounts WRITE`)
      return async () => {
        await connection.query('UNLOCK TABLES')
        connection.release()
      }
    })
  })
})
