/** What `gateway.health()` says. */
import { expect, onTestFinished, test } from 'vitest'
import { Pool } from 'pg'
import { DatabaseSync } from 'node:sqlite'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, type GatewayOptions } from '../../../src/index.ts'
import { defineProvider, demo, finish, retrySame, text } from '../../../src/providers/index.ts'
import { askChat, hosted } from '../../hosted.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { storeTimeouts, statementMs } from '../../patience.ts'

const good = defineProvider({
  name: 'good',
  async *generate() {
    yield text('Hello')
    yield finish('stop')
  },
})

function gatewayWith(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ models: { m: good }, keys: { 'sk-test': {} }, ...options })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway
}

test('a gateway in memory is ready, with its deployments', async () => {
  const gateway = gatewayWith({
    models: { m: good, two: { route: ['m', { provider: demo(), providerModel: 'demo' }] } },
  })
  const health = await gateway.health()
  expect(health).toMatchObject({ ready: true, draining: false, openCalls: 0, holds: 0, droppedRecords: 0 })
  expect(health.queues).toEqual({ settlements: 0, returns: 0, usage: 0 })
  expect(health.deployments).toEqual([
    { model: 'm', provider: 'good', providerModel: 'm', state: 'closed' },
    { model: 'two', provider: 'good', providerModel: 'm', state: 'closed' },
    { model: 'two', provider: 'demo', providerModel: 'demo', state: 'closed' },
  ])
  expect(health.stores.map(({ store, reachable }) => [store, reachable])).toEqual([
    ['keys', true],
    ['limits', true],
    ['responses', true],
    ['audit', true],
  ])
  expect(JSON.parse(JSON.stringify(health))).toEqual(health)
})

test('the breaker of a failing deployment is open, also of one that a wildcard chose', async () => {
  const bad = defineProvider({
    name: 'bad',
    chat: () => {
      throw retrySame(new Error('down'))
    },
  })
  const gateway = gatewayWith({
    models: { m: { route: [{ provider: bad }, { provider: good }] }, 'any/*': { provider: bad } },
    retry: { maxAttempts: 1, backoffMs: 1 },
    breaker: { failures: 1, coolDownMs: 600_000 },
  })
  const url = await hosted(gateway)
  expect((await askChat(url)).status).toBe(200)
  await askChat(url, { model: 'any/thing' })
  expect((await gateway.health()).deployments).toEqual([
    { model: 'm', provider: 'bad', providerModel: 'm', state: 'open' },
    { model: 'm', provider: 'good', providerModel: 'm', state: 'closed' },
    { provider: 'bad', providerModel: 'thing', state: 'open' },
  ])
})

test('open calls, and the start of the shutdown', async () => {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const slow = defineProvider({
    name: 'slow',
    async *generate() {
      begun.resolve()
      await end.promise
      yield finish('stop')
    },
  })
  const gateway = gatewayWith({ models: { m: slow } })
  const url = await hosted(gateway)
  const answer = askChat(url)
  await begun.promise
  expect(await gateway.health()).toMatchObject({ openCalls: 1, ready: true })
  const closed = gateway.close()
  expect(await gateway.health()).toMatchObject({ openCalls: 1, ready: false, draining: true })
  end.resolve()
  await answer
  await closed
})

test('SQLite: every store is reachable, the file is not opened again by a closed gateway, and due tasks are counted', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const storage = sqlite(database)
  const at = Date.now() - 60_000
  const times = { createdAt: at, expiresAt: at + 3_600_000, dueAt: at, leasedUntil: 0 }
  const gateway = gatewayWith({ storage, tasks: { sweepMs: 600_000 } })
  for (const id of ['a', 'b']) await storage.tasks.insert({ account: 'acme', id, version: 1, ...times, data: {} })
  const health = await gateway.health()
  expect(health.stores.map(({ store, reachable }) => [store, reachable])).toEqual(
    ['keys', 'limits', 'usage', 'responses', 'tasks', 'background', 'idempotency', 'audit'].map((store) => [
      store,
      true,
    ]),
  )
  expect(health.tasksDue).toBe(2)
  await gateway.close()
  expect(await gateway.health()).toMatchObject({ ready: false, draining: true, tasksDue: 2 })
})

test('Postgres that refuses connections makes the gateway unready, with the code of the error', async () => {
  const pool = new Pool({ host: '127.0.0.1', port: 1, connectionTimeoutMillis: 1_000, password: 'hunter2' })
  onTestFinished(() => pool.end())
  const gateway = gatewayWith({ storage: postgres(pool) })
  const health = await gateway.health()
  expect(health.ready).toBe(false)
  expect(health.stores.every(({ lastError }) => lastError?.code === 'ECONNREFUSED')).toBe(true)
  expect(JSON.stringify(health)).not.toMatch(/hunter2|127\.0\.0\.1/)
})

test.skipIf(!hasPostgres)('Postgres: every store is reachable, and due tasks are counted', async () => {
  const [pool, schema] = [postgresPool(), ownName()]
  const storage = postgres(pool, { schema, statementMs })
  const gateway = gatewayWith({ storage, tasks: { sweepMs: 600_000 }, timeouts: storeTimeouts })
  const at = Date.now() - 1_000
  const task = { createdAt: at, expiresAt: at + 3_600_000, dueAt: at, leasedUntil: 0, version: 1, data: {} }
  await storage.tasks.insert({ account: 'acme', id: 'now', ...task })
  await storage.tasks.insert({ account: 'acme', id: 'later', ...task, dueAt: at + 3_600_000 })
  const health = await gateway.health()
  expect(health.stores.map(({ reachable }) => reachable)).toEqual(Array.from({ length: 8 }, () => true))
  expect(health.tasksDue).toBe(1)
  await gateway.close()
  await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  await pool.end()
})
