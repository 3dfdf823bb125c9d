/** PGlite runs Postgres in this process, so that the Postgres stores are tested on every machine. */
import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import * as inPostgres from '../../../adapters/stores/postgres/tasks.ts'
import { testTaskStore, type TestFunction } from '../../../src/testing/index.ts'
import { ownName } from '../../servers.ts'
import { testStores } from './kits.ts'

/** Skips the test that needs a database clock of its own: PGlite uses the clock of this process. */
const register: TestFunction = (name, body) => {
  if (name.endsWith('does not use the clock of the process')) test.skip(name, body)
  else test(name, body)
}

describe('PGlite conforms to the contract', async () => {
  const database = await PGlite.create()
  afterAll(() => database.close())

  testStores(register, postgres(database), postgres(database))

  testTaskStore(test, async () => {
    const prefix = ownName()
    for (const statement of inPostgres.taskSchema(prefix)) await database.query(statement)
    return inPostgres.taskStore((text, values) => database.query(text, values), prefix)
  })
})
