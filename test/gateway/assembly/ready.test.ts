/** `gateway.ready()` detects an unusable store before the first request. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, type GatewayError, type GatewayOptions, type StorageBundle } from '../../../src/index.ts'
import { demo, openai } from '../../../src/providers/index.ts'
import { scriptedVendor } from '../../../src/testing/index.ts'
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
  /not ready: the key store, the limit store, the ledger, the usage store, the response store, the task store, the store of background responses, the idempotency store, the audit log failed\./

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
  expect(message).toMatch(
    /the key store, the limit store, the ledger, the response store, the task store, the store of background responses, the idem/,
  )
  expect(cause).toMatch(/WRONGPASS/)
})

describe('with vendors', () => {
  const listing = (apiKey: string, model: string) =>
    scriptedVendor((request, response) => {
      const isKnown = request.headers.authorization === `Bearer ${apiKey}`
      const body = isKnown ? { data: [{ id: model, object: 'model' }] } : { error: { code: 'invalid_api_key' } }
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  const readyWith = async (models: GatewayOptions['models']) => {
    const gateway = createGateway({ models })
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const ready = gateway.ready({ vendors: true })
    return ready.then(() => 'ready').catch((error: GatewayError) => [error.message, String(error.cause)])
  }

  test('resolves where each lists its models: the listed name, or what it stands for', async () => {
    const vendor = await listing('sk-a', 'gpt-9-2026-01-01')
    onTestFinished(() => vendor.close())
    const provider = openai({ apiKey: 'sk-a', baseURL: vendor.baseURL })
    expect(await readyWith({ 'gpt-9': provider, 'gpt-9-2026-01-01': provider, any: demo() })).toBe('ready')
  })

  test('names a wrong key, a wrong address and an unknown model', async () => {
    const vendor = await listing('sk-a', 'gpt-9')
    onTestFinished(() => vendor.close())
    const { baseURL } = vendor
    expect(await readyWith({ 'gpt-9': openai({ apiKey: 'sk-b', baseURL }) })).toEqual([
      expect.stringContaining('not ready: the vendor openai failed'),
      'Error: the vendor answered 401 invalid_api_key',
    ])
    const closed = openai({ name: 'mine', apiKey: 'sk-a', baseURL: 'http://127.0.0.1:1/v1' })
    expect(await readyWith({ m: closed })).toEqual([
      expect.stringContaining('the vendor mine failed'),
      expect.stringContaining('ECONNREFUSED'),
    ])
    const cheap = { provider: openai({ apiKey: 'sk-a', baseURL }), providerModel: 'gtp-9' }
    expect(await readyWith({ cheap })).toEqual([
      expect.any(String),
      'Error: openai does not list "gtp-9", which "cheap" names: correct "providerModel"',
    ])
  })
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
