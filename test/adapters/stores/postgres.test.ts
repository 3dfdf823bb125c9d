import { afterAll, describe, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { testStores } from './kits.ts'
import { statementMs } from '../../patience.ts'

describe.skipIf(!hasPostgres)('Postgres conforms to the contract', () => {
  const pool = postgresPool(10)
  const schema = ownName()
  afterAll(async () => {
    if (hasPostgres) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  testStores(test, postgres(pool, { schema, statementMs }), postgres(pool, { schema, statementMs }))
})
