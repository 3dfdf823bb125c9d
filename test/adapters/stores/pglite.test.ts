/** Postgres within the process, on every machine: what is true of the server is true of it. */
import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import * as inPostgres from '../../../adapters/stores/postgres/tasks.ts'
import { testTaskStore, type TestFunction } from '../../../src/testing/index.ts'
import { ownName } from '../../servers.ts'
import { testStores } from './kits.ts'

/** Its clock is the one of the process. */
const register: TestFunction = (name, body) => {
  if (name.endsWith('does not use the clock of the process')) test.skip(name, body)
  else test(name, body)
}

describe('PGlite keeps the contract of', async () => {
  const database = await PGlite.create()
  afterAll(() => database.close())

  testStores(register, postgres(database), postgres(database))

  testTaskStore(test, async () => {
    const prefix = ownName()
    for (const statement of inPostgres.taskSchema(prefix)) await database.query(statement)
    return inPostgres.taskStore((text, values) => database.query(text, values), prefix)
  })
})
