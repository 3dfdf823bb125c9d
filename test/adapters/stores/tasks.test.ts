/** The task stores of the bundles, each against its kit: two handles on one database, as two processes have them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import * as inPostgres from '../../../adapters/stores/postgres/tasks.ts'
import * as inRedis from '../../../adapters/stores/redis/tasks.ts'
import * as inSqlite from '../../../adapters/stores/sqlite/tasks.ts'
import { testTaskStore } from '../../../src/testing/task-store.ts'
import { hasPostgres, hasRedis, ownName, postgresPool, redisConnection, type RedisConnection } from '../../servers.ts'

describe('SQLite, one file in two handles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  let made = 0
  let path = ''
  const open = () => {
    const database = new DatabaseSync(path)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 5000')
    for (const statement of inSqlite.taskSchema) database.exec(statement)
    return { ...inSqlite.taskStore(database), close: async () => database.close() }
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
})

describe.skipIf(!hasPostgres)('Postgres, one table over two pools', () => {
  const [left, right] = hasPostgres ? [postgresPool(), postgresPool()] : []
  let prefix = ''
  const tables: string[] = []
  const store = (pool: typeof left) =>
    inPostgres.taskStore(async (text, values) => (pool as NonNullable<typeof left>).query(text, values), prefix)
  testTaskStore(
    test,
    async () => {
      prefix = ownName()
      tables.push(`${prefix}tasks`)
      for (const statement of inPostgres.taskSchema(prefix)) await left?.query(statement)
      return store(left)
    },
    { reopen: () => store(right) },
  )
  afterAll(async () => {
    await left?.query(`DROP TABLE IF EXISTS ${tables.join(', ')}`)
    await Promise.all([left?.end(), right?.end()])
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
      return inRedis.taskStore(send(0), prefix)
    },
    { reopen: () => inRedis.taskStore(send(1), prefix) },
  )
  afterAll(async () => {
    const keys = (await send(0)('KEYS', `${base}*`)) as string[]
    if (keys.length > 0) await send(0)('DEL', ...keys)
    for (const connection of connections) connection.close()
  })
})
