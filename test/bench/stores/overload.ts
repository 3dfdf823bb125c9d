/**
 * `npm run bench:overload`: what calls of many processes cost one Postgres, and what is served when they arrive faster than it can
 * take them. Calls arrive at random at a fixed rate, whether or not earlier ones have ended. Prints, per call, the CPU time of the
 * server (if it is on this machine), statements, transactions and write-ahead log; and per second, calls admitted and refused.
 *
 * `--processes=24`, or several: `1,8,24,48` · `--accounts=1` or several · `--rate=400`: calls per second of all processes · `--seconds=20`
 * after `--warm=5` · `--each=1`: how many of the processes share one of Node, each with a gateway and connections of its own: on a small
 * machine, 48 of Node are the bottleneck · `--options={"connections":2}`: of `postgres()` · `--lasts=0`: milliseconds of a call, on
 * average · `--caps=0` · `--stall=0`: seconds for which another transaction locks all accounts, from the third second on · `MODELHATCH_POSTGRES`: the address of the server, which should serve nothing else.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ownName, postgresPool } from '../../servers.ts'
import { Child } from '../child.ts'
import { print, quantile } from '../table.ts'
import type { Opening } from './server.ts'
import { serverCosts } from './server-costs.ts'
import type { Offer, Offered } from './worker.ts'

const options = (name: string, otherwise: number) =>
  (process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? String(otherwise))
    .split(',')
    .map(Number)
const option = (name: string, otherwise: number) => options(name, otherwise)[0] as number
const [rate, seconds, warm, stall] = [option('rate', 400), option('seconds', 20), option('warm', 5), option('stall', 0)]
const lastsMs = option('lasts', 0)

const name = ownName()
const pool = postgresPool(1)
const each = option('each', 1)
const given = process.argv.find((word) => word.startsWith('--options='))?.slice(10) ?? '{}'
const bundle = JSON.parse(given) as object
const caps = option('caps', 0)
const opening: Opening = { kind: 'postgres', name, options: bundle, ports: [], caps, gateways: each }
const children: Child[] = []

/** The most connections to the server while `act` runs. */
async function connectionsOf(act: () => Promise<unknown>): Promise<number> {
  let most = 0
  const over = new AbortController()
  const watch = (async () => {
    while (!over.signal.aborted) {
      const sql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()`
      const { rows } = await pool.query<{ count: number }>(sql).catch(() => ({ rows: [] }))
      most = Math.max(most, rows[0]?.count ?? 0)
      await pause(500)
    }
  })()
  await act()
  over.abort()
  await watch
  return most
}

async function statementsOf(): Promise<number> {
  const counts = await Promise.all(children.map((child) => child.ask<number>('statements')))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function stalling(): Promise<void> {
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
}

const lines: string[][] = []
const causes = new Map<string, number>()
for (const processes of options('processes', 24)) {
  while (children.length * each < processes) {
    const child = new Child('./stores/worker.ts')
    await child.ask('open', opening)
    if (children.length === 0) await child.ask('fund', Math.max(...options('accounts', 1)))
    children.push(child)
  }
  for (const accounts of options('accounts', 1)) {
    const offer = (forMs: number) => {
      const load: Offer = { rate: (rate * each) / processes, accounts, forMs, lastsMs }
      return Promise.all(children.slice(0, processes / each).map(async (child) => child.ask<Offered>('offer', load)))
    }
    if (warm > 0) await offer(warm * 1_000)
    const [before, sent] = [await serverCosts(pool), await statementsOf()]
    let found: readonly Offered[] = []
    const most = await connectionsOf(async () => {
      ;[found] = await Promise.all([offer(seconds * 1_000), stalling()])
      await Promise.all(children.map((child) => child.ask('stored')))
    })
    const after = await serverCosts(pool)
    const sum = (of: (each: Offered) => number) => found.reduce((total, each) => total + of(each), 0)
    const perSecond = (of: (each: Offered) => number) => (sum(of) / seconds).toFixed(1)
    const served = sum(({ admitted }) => admitted)
    const waits = found.flatMap((each) => each.waits)
    lines.push([
      String(processes),
      String(accounts),
      perSecond(({ offered }) => offered),
      perSecond(({ admitted }) => admitted),
      (sum(({ late }) => late) / (seconds / 2)).toFixed(1),
      perSecond(({ refused }) => refused),
      ((after.cpu - before.cpu) / served).toFixed(2),
      (((await statementsOf()) - sent) / served).toFixed(2),
      ((after.transactions - before.transactions) / served).toFixed(2),
      ((after.wal - before.wal) / served / 1_000).toFixed(1),
      `${quantile(waits, 0.5).toFixed(2)}, ${quantile(waits, 0.99).toFixed(1)}`,
      String(most),
      String(after.sessions - before.sessions),
    ])
    for (const [cause, count] of found.flatMap(({ causes: own }) => Object.entries(own)))
      causes.set(cause, (causes.get(cause) ?? 0) + count)
  }
}
print([
  [
    'processes',
    'accounts',
    'offered/s',
    'admitted/s',
    'in the second half',
    'refused/s',
    'CPU ms/call',
    'statements/call',
    'transactions/call',
    'WAL kB/call',
    'admission p50, p99 ms',
    'connections',
    'opened',
  ],
  ...lines,
])
if (causes.size > 0)
  print([
    ['refused because', 'calls'],
    ...[...causes].sort(([, left], [, right]) => right - left).map(([cause, count]) => [cause, String(count)]),
  ])
for (const child of children) child.stop()
await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
await pool.end()
