/**
 * `npm run bench:overload`: what calls of many processes cost one database, and what is served when they arrive faster than it can
 * take them. Calls arrive at random at a fixed rate, whether or not earlier ones have ended. Prints, per call, the CPU time of the
 * server (if it is on this machine), statements, transactions or scripts, and write-ahead log; and per second, calls admitted and refused.
 *
 * `--kind=postgres`, or `mysql`, or `redis` or `redis-cluster`, which are started for this · `--processes=24`, or several:
 * `1,8,24,48` · `--accounts=1` or several · `--rate=400`: calls per second of all processes · `--seconds=20` after `--warm=5` · `--each=1`: how many of the processes share one of Node, each with a gateway and connections of its own: on a small
 * machine, 48 of Node are the bottleneck · `--options={"connections":2}`: of the bundle · `--lasts=0`: milliseconds of a call, on
 * average · `--caps=0` · `--journal=250`: `billing.journalMs` · `--stall=0`: seconds for which another transaction locks all accounts of Postgres, from the third second on · `MODELHATCH_POSTGRES`: the address of the server, which should serve nothing else.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { redisCluster, redisServer } from '../../redis-cluster.ts'
import { mysqlPool, ownName, postgresPool } from '../../servers.ts'
import { Child } from '../child.ts'
import { print, quantile } from '../table.ts'
import type { Kind, Opening } from './server.ts'
import { watchMysql, watchPostgres, watchRedis } from './server-costs.ts'
import type { Offer, Offered } from './worker.ts'

const text = (name: string, otherwise: string) =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise
const options = (name: string, otherwise: number) => text(name, String(otherwise)).split(',').map(Number)
const option = (name: string, otherwise: number) => options(name, otherwise)[0] as number
const [rate, seconds, warm, stall] = [option('rate', 400), option('seconds', 20), option('warm', 5), option('stall', 0)]
const lastsMs = option('lasts', 0)
const each = option('each', 1)
if (options('processes', 24).some((processes) => processes % each > 0))
  throw new Error('--each must divide every number of --processes')

const name = ownName()
const kind = text('kind', 'postgres') as Kind
const redis = kind === 'redis' ? await redisServer() : undefined
const cluster = kind === 'redis-cluster' ? await redisCluster(15_000, { replicas: false }) : undefined
const ports = cluster?.ports ?? (redis === undefined ? [] : [redis.port])
const watch =
  kind === 'postgres'
    ? watchPostgres(postgresPool(1))
    : kind === 'mysql'
      ? watchMysql(mysqlPool(1))
      : await watchRedis(ports)
const bundle = JSON.parse(text('options', '{}')) as object
const caps = option('caps', 0)
const journalMs = option('journal', 250)
const opening: Opening = { kind, name, options: bundle, ports, caps, journalMs, gateways: each }
const children: Child[] = []

/** The most connections to the server while `act` runs. */
async function connectionsOf(act: () => Promise<unknown>): Promise<number> {
  let most = 0
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, await watch.connections().catch(() => 0))
      await pause(500)
    }
  })()
  await act()
  over.abort()
  await watching
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
    const [before, sent] = [await watch.costs(), await statementsOf()]
    let found: readonly Offered[] = []
    const most = await connectionsOf(async () => {
      ;[found] = await Promise.all([offer(seconds * 1_000), stalling()])
      await Promise.all(children.map((child) => child.ask('stored')))
    })
    const after = await watch.costs()
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
      (((after.statements ?? (await statementsOf())) - (before.statements ?? sent)) / served).toFixed(2),
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
await children[0]?.ask('clear')
for (const child of children) child.stop()
await Promise.all([watch.close(), redis?.close(), cluster?.close()])
