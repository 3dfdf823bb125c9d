/**
 * Two processes on one port that share everything in Postgres: keys, limits, balances, responses, videos.
 *
 *     DATABASE_URL=postgres://localhost/app npm run example examples/postgres-cluster.ts
 *
 * `WORKERS` sets the number of processes (2), `SCHEMA` the schema of the tables (`modelhatch`).
 */
import cluster from 'node:cluster'
import express from 'express'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { prepareShutdown } from 'modelhatch/node'
import { postgres } from 'modelhatch/postgres'
import { demo } from 'modelhatch/providers'
import { Pool } from 'pg'

if (cluster.isPrimary) primary()
else await worker()

/** Starts the workers, and replaces one that dies. */
function primary(): void {
  const count = Number(process.env['WORKERS'] ?? 2)
  let stopping = false
  for (let each = 0; each < count; each++) cluster.fork()
  cluster.on('exit', () => {
    if (!stopping) cluster.fork()
    else if (Object.keys(cluster.workers ?? {}).length === 0) process.exit()
  })
  let listening = 0
  cluster.on('listening', (_, { port }) => {
    if (++listening === count) console.log(`Serving http://127.0.0.1:${port}/ai/v1 with the key sk-demo.`)
  })
  process.once('SIGTERM', () => {
    stopping = true
    for (const each of Object.values(cluster.workers ?? {})) each?.process.kill('SIGTERM')
  })
}

async function worker(): Promise<void> {
  const connectionString = process.env['DATABASE_URL'] ?? 'postgres://127.0.0.1/postgres'
  // A server that accepts connections but does not respond must not exhaust the pool.
  const pool = new Pool({ connectionString, max: 10, connectionTimeoutMillis: 2_000 })
  pool.on('error', (error) => console.error('Postgres:', error.message))

  const gateway = createGateway({
    storage: postgres(pool, { schema: process.env['SCHEMA'] ?? 'modelhatch' }),
    models: { demo: { provider: demo(), price: { input: '2', output: '8' } } },
    groups: { default: { models: '*', rate: { requests: '30/min', concurrent: 8 } } },
    keys: { 'sk-demo': { account: 'acme' } },
    billing: { currency: 'EUR' },
  })
  // Rejects if the database cannot be used, with the reason.
  await gateway.ready()
  // Both processes do this at their start; the reference makes it count once.
  await gateway.admin.accounts.topUp({ account: 'acme', amount: '5', reference: 'welcome' })

  const app = express()
  app.use((_, response, next) => {
    response.set('x-served-by', String(process.pid))
    next()
  })
  app.use('/ai', mount(gateway))
  app.get('/balance', async (_, response) => response.json(await gateway.admin.accounts.find('acme')))

  const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
    if (error) throw error
  })
  const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })
  const stop = async () => {
    await shutdown()
    await pool.end()
    process.exit()
  }
  process.once('SIGTERM', () => void stop())
}
