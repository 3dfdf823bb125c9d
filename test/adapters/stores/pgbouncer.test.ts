/** The Postgres stores behind PgBouncer in transaction mode: each transaction may use another connection to the server. */
import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { hasPostgres, ownName, postgresPool, postgresUrl } from '../../servers.ts'
import { usageRecord } from '../../observe/usage/record.ts'

const installed = spawnSync('pgbouncer', ['--version']).status === 0

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a PgBouncer with three connections to the server. Returns its address. */
async function pooler(): Promise<string> {
  const [directory, port] = [await mkdtemp(join(tmpdir(), 'pgbouncer-')), await freePort()]
  const { hostname, port: serverPort, username, password, pathname } = new URL(postgresUrl)
  const database = pathname.slice(1)
  const login = `user=${username}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`
  const config = join(directory, 'pgbouncer.ini')
  await writeFile(
    config,
    `[databases]
${database} = host=${hostname} port=${serverPort === '' ? 5432 : serverPort} dbname=${database} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`,
  )
  await chmod(directory, 0o755)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn('pgbouncer', [...user, config], { stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true })
  })
  const url = `postgres://${username}@127.0.0.1:${port}/${database}`
  await expect
    .poll(
      async () => {
        const pool = new Pool({ connectionString: url, max: 1 })
        pool.on('error', () => undefined)
        return pool.query('SELECT 1').then(
          async () => pool.end().then(() => true),
          async () => pool.end().then(() => false),
        )
      },
      { timeout: 10_000 },
    )
    .toBe(true)
  return url
}

describe.skipIf(!hasPostgres || !installed)('Postgres behind PgBouncer in transaction mode', () => {
  test.each([true, false])('admits and charges exactly, with preparedStatements: %s', async (preparedStatements) => {
    const [url, schema] = [await pooler(), ownName()]
    const pools = [1, 2].map(() => new Pool({ connectionString: url, max: 8 }))
    for (const pool of pools) pool.on('error', () => undefined)
    const storages = pools.map((pool) => postgres(pool, { schema, preparedStatements }))
    onTestFinished(async () => {
      for (const storage of storages) await storage.close()
      for (const pool of pools) await pool.end()
      const direct = postgresPool(1)
      await direct.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await direct.end()
    })
    const [{ ledger, usage, limits }] = storages as [(typeof storages)[number]]
    await ledger.credit({ account: 'acme', amount: 1_000n, reference: 'start' })
    const cap = { name: 'cap', window: 'w', periods: { boundaries: [0, 8e15] }, limits: { calls: 150n } }
    const admitted = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const { admission, usage: records } = storages[index % 2] as (typeof storages)[number]
        const id = `call ${index}`
        const rates = [{ bucket: 'rate', cost: 1, limit: 1, periodMs: 1e9, burst: 200 }]
        const claim = { id, rates, places: [{ bucket: 'slots', places: 250 }], leaseMs: 60_000 }
        const hold = { id, account: 'acme', amount: 5n, leaseMs: 60_000, caps: [cap] }
        const verdict = await admission.admit(claim, hold)
        if (verdict.hold?.outcome !== 'held') return false
        await ledger.renew([hold], 60_000)
        const returned = { id, places: ['slots'], corrections: [] }
        await admission.finish([{ returned, end: { id, account: 'acme', amount: 3n, caps: verdict.hold.caps ?? [] } }])
        await records.append([usageRecord({ id, account: 'acme' })])
        return true
      }),
    )
    expect(admitted.filter(Boolean).length).toBe(150)
    expect(await ledger.account('acme')).toMatchObject({ balance: 1_000n - 450n, held: 0n })
    expect((await ledger.caps?.read([cap]))?.[0]?.settled).toEqual({ money: 450n, tokens: 0n, calls: 150n })
    expect((await usage.summarise({ by: [] }))[0]?.requests).toBe(150)
    const probe = { id: 'probe', rates: [], places: [{ bucket: 'slots', places: 250 }], leaseMs: 1 }
    expect((await limits.take(probe)).free).toEqual([249])
  })

  test('a statement that waits too long for a lock is ended by the server', async () => {
    const [pool, schema, direct] = [new Pool({ connectionString: await pooler(), max: 2 }), ownName(), postgresPool(1)]
    pool.on('error', () => undefined)
    const { ledger, close } = postgres(pool, { schema })
    onTestFinished(async () => {
      await close()
      await pool.end()
      await direct.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await direct.end()
    })
    await ledger.credit({ account: 'acme', amount: 1n, reference: 'start' })
    const blocker = await direct.connect()
    await blocker.query('BEGIN')
    await blocker.query(`SELECT FROM ${schema}.accounts FOR UPDATE`)
    const hold = { id: 'call', account: 'acme', amount: 1n, leaseMs: 60_000 }
    await expect(ledger.hold(hold)).rejects.toMatchObject({ code: '55P03' })
    await blocker.query('COMMIT')
    blocker.release()
    expect(await ledger.hold(hold)).toMatchObject({ outcome: 'held' })
  })
})
