/**
 * `npm run bench:overload`: what many processes on one Postgres serve when calls arrive faster than it can take them. Calls are
 * offered at a fixed rate whether or not earlier ones have ended. Prints, per second of the run, calls admitted, calls refused
 * because the store was down or late, and connections to the server.
 *
 * `--processes=24` · `--rate=400`: calls per second of all processes · `--accounts=1` · `--seconds=20` · `--stall=0`: seconds for
 * which another transaction locks all accounts, from the third second on ·
 * `MODELHATCH_POSTGRES`: the address of the server, which should serve nothing else.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ownName, postgresPool } from '../../servers.ts'
import { Child } from '../child.ts'
import { print } from '../table.ts'
import type { Opening } from './server.ts'
import type { Offer, Offered } from './worker.ts'

const option = (name: string, otherwise: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise)
const [processes, rate, accounts] = [option('processes', 24), option('rate', 400), option('accounts', 1)]
const [seconds, stall] = [option('seconds', 20), option('stall', 0)]

const name = ownName()
const pool = postgresPool(1)
const children = Array.from({ length: processes }, () => new Child('stores/worker.ts'))
const opening: Opening = { kind: 'postgres', name, options: {}, ports: [] }
await children[0]?.ask('open', opening)
await children[0]?.ask('fund', accounts)
for (const child of children.slice(1)) await child.ask('open', opening)

let most = 0
const watching = new AbortController()
const watch = (async () => {
  while (!watching.signal.aborted) {
    const sql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()`
    const { rows } = await pool.query<{ count: number }>(sql).catch(() => ({ rows: [] }))
    most = Math.max(most, rows[0]?.count ?? 0)
    await pause(200)
  }
})()
const stalling = (async () => {
  if (stall === 0) return
  const blocker = postgresPool(1)
  const client = await blocker.connect()
  await pause(3_000)
  await client.query('BEGIN')
  await client.query(`SELECT FROM ${name}.accounts FOR UPDATE`)
  await pause(stall * 1_000)
  await client.query('COMMIT')
  client.release()
  await blocker.end()
})()
const load: Offer = { rate: rate / processes, accounts, forMs: seconds * 1_000 }
const found = await Promise.all(children.map(async (child) => child.ask<Offered>('offer', load)))
watching.abort()
await Promise.all([watch, stalling])

const sum = (of: (each: Offered) => number) => found.reduce((total, each) => total + of(each), 0)
const perSecond = (of: (each: Offered) => number) => (sum(of) / seconds).toFixed(1)
const causes = new Map<string, number>()
for (const [cause, count] of found.flatMap(({ causes: own }) => Object.entries(own)))
  causes.set(cause, (causes.get(cause) ?? 0) + count)
print([
  ['processes', 'accounts', 'offered/s', 'admitted/s', 'in the second half', 'refused/s', 'connections'],
  [
    String(processes),
    String(accounts),
    perSecond(({ offered }) => offered),
    perSecond(({ admitted }) => admitted),
    (sum(({ late }) => late) / (seconds / 2)).toFixed(1),
    perSecond(({ refused }) => refused),
    String(most),
  ],
])
print([
  ['refused because', 'calls'],
  ...[...causes].sort(([, left], [, right]) => right - left).map(([cause, count]) => [cause, String(count)]),
])
for (const child of children) child.stop()
await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
await pool.end()
