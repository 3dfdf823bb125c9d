/** PGlite runs Postgres in this process, so that the Postgres stores are tested on every machine. */
import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { testTaskStore, type TestFunction } from '../../../src/testing/index.ts'
import { testStores } from './kits.ts'

/** Skips the test that needs a database clock of its own: PGlite uses the clock of this process. */
const register: TestFunction = (name, body) => {
  if (name.endsWith('does not use the clock of the process')) test.skip(name, body)
  else test(name, body)
}

describe('PGlite conforms to the contract', async () => {
  const database = await PGlite.create()
  afterAll(() => database.close())

  const storage = postgres(database)
  testStores(register, storage, postgres(database))

  testTaskStore(test, async () => {
    await storage.keys.find('')
    await database.query('TRUNCATE modelhatch.tasks')
    return storage.tasks
  })
})
