/** Pages over many rows leave connections to calls. */
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { statementMs } from '../../patience.ts'

test.skipIf(!hasPostgres)('pages that take long leave half of the connections of a pool to calls', async () => {
  const [pool, other, schema] = [postgresPool(2), postgresPool(1), ownName()]
  const { keys, ledger, close } = postgres(pool, { schema, statementMs })
  const client = await other.connect()
  onTestFinished(async () => {
    client.release()
    await close()
    await other.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await Promise.all([pool.end(), other.end()])
  })
  await ledger.open({ id: 'account' })
  await client.query(`BEGIN; LOCK TABLE ${schema}.entries`)
  const audits = Array.from({ length: 5 }, async () => ledger.audit())
  // Answered while the pages wait for the table.
  expect(await keys.find('')).toBeUndefined()
  expect(await ledger.account('account')).toMatchObject({ id: 'account' })
  await client.query('COMMIT')
  for (const { faults } of await Promise.all(audits)) expect(faults).toEqual([])
})
