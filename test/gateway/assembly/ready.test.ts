/** `gateway.ready()` detects an unusable store before the first request. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, type GatewayError, type StorageBundle } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { hasPostgres, ownName, postgresPool, postgresUrl } from '../../servers.ts'

const price = { input: '1', output: '1' }

function serving(storage?: StorageBundle) {
  const gateway = createGateway({
    models: { m: { provider: demo(), price } },
    billing: { currency: 'CNY' },
    ...(storage && { storage }),
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway
}

async function readyError(storage: StorageBundle): Promise<{ message: string; cause: string }> {
  const error = await serving(storage)
    .ready()
    .then(() => undefined)
    .catch((thrown: GatewayError) => thrown)
  return { message: String(error?.message), cause: String(error?.cause) }
}

function file(content?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'gateway.db')
  if (content !== undefined) writeFileSync(path, content)
  return path
}

const everyStore =
  /not ready: the key store, the limit store, the ledger, the usage store, the response store, the task store, the idempotency store failed\./

test('memory stores and a new SQLite file are ready, and stay empty', async () => {
  await expect(serving().ready()).resolves.toBeUndefined()
  const storage = sqlite(file())
  const gateway = serving(storage)
  await gateway.ready()
  await gateway.ready()
  expect(await storage.ledger.accounts?.({})).toEqual({ items: [] })
  expect(await storage.usage.list({})).toEqual({ items: [] })
})

test('rejects for a file that is not a database', async () => {
  const { message, cause } = await readyError(sqlite(file('This is a letter and not a database.'.repeat(100))))
  expect(message).toMatch(everyStore)
  expect(cause).toMatch(/file is not a database/)
})

test('names the one store of several that fails', async () => {
  const bundle = sqlite(file())
  const ledger = { ...bundle.ledger, account: () => Promise.reject(new Error('permission denied for table account')) }
  expect(await readyError({ ...bundle, ledger })).toEqual({
    message: expect.stringContaining('not ready: the ledger failed. See the cause'),
    cause: 'Error: permission denied for table account',
  })
})

test('rejects for a Redis that rejects the password', async () => {
  const { message, cause } = await readyError(
    redis(async () => Promise.reject(new Error('WRONGPASS invalid username'))),
  )
  expect(message).toMatch(/the key store, the limit store, the ledger, the response store, the task store, the idem/)
  expect(cause).toMatch(/WRONGPASS/)
})

describe.skipIf(!hasPostgres)('Postgres', () => {
  const errorWith = async (options: object) => {
    const pool = new Pool({ connectionString: postgresUrl, max: 2, ...options })
    pool.on('error', () => undefined)
    onTestFinished(() => pool.end())
    return readyError(postgres(pool, { schema: ownName() }))
  }

  test('rejects for a database that does not exist', async () => {
    const url = new URL(postgresUrl)
    url.pathname = '/no_such_database'
    const { message, cause } = await errorWith({ connectionString: url.href })
    expect(message).toMatch(everyStore)
    expect(cause).toMatch(/database "no_such_database" does not exist/)
  })

  test('rejects for a role that may not create tables', async () => {
    const role = ownName()
    const owner = postgresPool(1)
    onTestFinished(async () => {
      await owner.query(`DROP ROLE ${role}`)
      await owner.end()
    })
    await owner.query(`CREATE ROLE ${role}`)
    const { message, cause } = await errorWith({ options: `-c role=${role}` })
    expect(message).toMatch(everyStore)
    expect(cause).toMatch(/permission denied/)
  })
})
