import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test } from 'vitest'
import { postgres, type Queryable } from '../../adapters/postgres.ts'
import { testKeyStore, testLedger, testLimitStore, testUsageStore } from '../../src/testing/index.ts'
import { hasPostgres, ownName, postgresPool } from '../servers.ts'

/** On a real server where there is one; what is true of it is true of PGlite, and the other way round. */
describe(`${hasPostgres ? 'Postgres' : 'PGlite'} keeps the contract of`, async () => {
  const server = hasPostgres ? postgresPool(10) : undefined
  const embedded = hasPostgres ? undefined : await PGlite.create()
  const pool = (server ?? embedded) as Queryable
  const schema = ownName()
  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await (server?.end() ?? embedded?.close())
  })

  const storage = postgres(pool, { schema })
  /** As another process would have it. */
  const other = postgres(pool, { schema })

  testKeyStore(test, () => storage.keys, { reopen: () => other.keys })
  testLimitStore(test, () => storage.limits, { reopen: () => other.limits })
  testLedger(test, () => storage.ledger, { reopen: () => other.ledger })
  testUsageStore(test, () => storage.usage, { reopen: () => other.usage })
})
