/** The task stores of the bundles, each against its kit: two handles on one database, as two processes have them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { Scripts } from '../../../adapters/stores/redis/scripts.ts'
import { redisTasks } from '../../../adapters/stores/redis/tasks.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { testTaskStore } from '../../../src/testing/task-store.ts'
import { sampleOf } from '../../long.ts'
import {
  dropTables,
  hasMysql,
  hasPostgres,
  hasRedis,
  mariadbPool,
  mysqlPool,
  ownName,
  postgresPool,
  redisConnection,
  type RedisConnection,
} from '../../servers.ts'

// All are made by one function.
describe.each(sampleOf(['tasks', 'background', 'batches', 'fileBatches', 'files'] as const, 2))(
  'SQLite, the %s of one file in two handles',
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
    let made = 0
    let path = ''
    const open = () => {
      const { [name]: tasks, close } = sqlite(path)
      return { ...tasks, close: async () => close() }
    }
    testTaskStore(
      test,
      () => {
        path = join(folder, `${made++}.db`)
        return open()
      },
      { reopen: open },
    )
    afterAll(() => rmSync(folder, { recursive: true }))
  },
)

describe.skipIf(!hasPostgres)('Postgres, one table over two pools', () => {
  const [left, right] = [postgresPool(), postgresPool()]
  const schema = ownName()
  const { keys, tasks } = postgres(left, { schema })
  const other = postgres(right, { schema }).tasks
  testTaskStore(
    test,
    async () => {
      await keys.find('')
      await left.query(`TRUNCATE ${schema}.tasks`)
      return tasks
    },
    { reopen: () => other },
  )
  afterAll(async () => {
    if (hasPostgres) await left.query(`DROP SCHEMA ${schema} CASCADE`)
    await Promise.all([left.end(), right.end()])
  })
})

describe.skipIf(!hasMysql)('MySQL, one table over the pools of two clients', () => {
  const [left, right] = [mysqlPool(), mariadbPool()]
  const prefix = ownName()
  const { keys, tasks } = mysql(left, { prefix })
  const other = mysql(right, { prefix }).tasks
  testTaskStore(
    test,
    async () => {
      await keys.find('')
      await left.query(`TRUNCATE ${prefix}_tasks`)
      return tasks
    },
    { reopen: () => other },
  )
  afterAll(async () => {
    if (hasMysql) await dropTables(left, prefix)
    await Promise.all([left.end(), right.end()])
  })
})

describe.skipIf(!hasRedis)('Redis, over two connections', () => {
  let connections: RedisConnection[] = []
  let prefix = ''
  const base = `modelhatch-test:${ownName()}`
  const send =
    (index: number) =>
    (...words: string[]) =>
      (connections[index] as RedisConnection).send(...words)
  beforeAll(async () => {
    connections = [await redisConnection(), await redisConnection()]
  })
  testTaskStore(
    test,
    () => {
      prefix = `${base}:{${ownName()}}:`
      return redisTasks(new Scripts(send(0), false), prefix)
    },
    { reopen: () => redisTasks(new Scripts(send(1), false), prefix) },
  )
  afterAll(async () => {
    const keys = (await send(0)('KEYS', `${base}*`)) as string[]
    if (keys.length > 0) await send(0)('DEL', ...keys)
    for (const connection of connections) connection.close()
  })
})
