/**
 * `npm run bench:stores`: measures how many calls per second the stores admit and end. Each call is admitted (limits and
 * money in one step), charged and recorded as in a gateway, without HTTP and without a vendor; the time includes storing
 * everything. Each round also runs plain commands of the same database from the same number of callers: on a machine that
 * does other work, the ratios are more reliable than the rates.
 *
 * Redis servers are started for the benchmark; their CPU time per call hardly depends on what else the machine does.
 *
 * `--kinds=postgres,mysql,redis,redis-cluster,memory`: stores to measure · `--open=5000`: number of other open calls of the account · `--quick`:
 * fewer and shorter rounds · `--options={"durability":"full"}`: options of the bundle · `--only=64`: only scenarios whose
 * name contains `64`.
 */
import { hasRedisServer, redisCluster, redisServer } from '../../redis-cluster.ts'
import { hasMysql, hasPostgres, ownName } from '../../servers.ts'
import { Child } from '../child.ts'
import { median, print, quantile, spread } from '../table.ts'
import type { Kind, Opening } from './server.ts'
import type { Load, Measured } from './worker.ts'

const option = (name: string) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const quick = process.argv.includes('--quick')
const plan = quick ? { rounds: 3, forMs: 700, warmMs: 1_500 } : { rounds: 7, forMs: 2_000, warmMs: 5_000 }
const open = Number(option('open') ?? 0)
const options = JSON.parse(option('options') ?? '{}') as object
const available: Readonly<Record<Kind, boolean>> = {
  memory: true,
  postgres: hasPostgres,
  mysql: hasMysql,
  redis: hasRedisServer,
  'redis-cluster': hasRedisServer,
}
const kinds = (option('kinds')?.split(',') ?? ['postgres', 'mysql', 'redis', 'redis-cluster', 'memory']) as Kind[]

interface Scenario {
  readonly name: string
  readonly callers: number
  readonly accounts: number
  readonly processes: number
}

const scenarios: Scenario[] = [
  { callers: 1, accounts: 1 },
  { callers: 16, accounts: 1 },
  { callers: 64, accounts: 1 },
  { callers: 64, accounts: 1_000 },
].flatMap(({ callers, accounts }) =>
  (callers === 1 ? [1] : [1, 2]).map((processes) => {
    const [callersText, accountsText] = [
      callers === 1 ? '1 caller' : `${callers} callers`,
      accounts === 1 ? '1 account' : '1,000 accounts',
    ]
    return {
      name: `${callersText}, ${accountsText}, ${processes === 1 ? '1 process' : '2 processes'}`,
      callers,
      accounts,
      processes,
    }
  }),
)
const chosen = scenarios.filter(({ name }) => name.includes(option('only') ?? ''))

/** Result of one round of a scenario. */
interface Round {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpu: number
  /** Microseconds of CPU time per call of the server, or of the busiest and of all servers of a cluster. */
  readonly busiest: number
  readonly servers: number
}

/** Divides the callers among the processes. With `baseline`, they send that command instead of making calls. */
async function round(
  children: readonly Child[],
  { callers, accounts, processes }: Scenario,
  forMs: number,
  baseline?: string,
) {
  const first = children[0] as Child
  const before = await first.ask<number[]>('cpu')
  const load: Load = { callers: callers / processes, accounts, forMs, baseline }
  const results = await Promise.all(children.slice(0, processes).map((child) => child.ask<Measured>('load', load)))
  const total = results.reduce((sum, { calls }) => sum + calls, 0)
  const after = await first.ask<number[]>('cpu')
  const spent = after.map((cpu, index) => (cpu - (before[index] as number)) / total)
  const times = results.flatMap(({ admitted }) => admitted)
  return {
    perSecond: results.reduce((sum, { calls, ms }) => sum + (calls * 1_000) / ms, 0),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpu: results.reduce((sum, { cpu }) => sum + cpu, 0) / total,
    busiest: Math.max(0, ...spent),
    servers: spent.reduce((sum, each) => sum + each, 0),
  } satisfies Round
}

async function measure(kind: Kind): Promise<void> {
  const [children, name] = [[new Child('./stores/worker.ts'), new Child('./stores/worker.ts')], ownName()]
  const first = children[0] as Child
  const server = kind === 'redis' ? await redisServer() : undefined
  const cluster = kind === 'redis-cluster' ? await redisCluster(15_000, { replicas: false }) : undefined
  const opening: Opening = { kind, name, options, ports: cluster?.ports ?? (server === undefined ? [] : [server.port]) }
  let baselines: string[] = []
  for (const child of children) baselines = await child.ask<string[]>('open', opening)
  for (const child of kind === 'memory' ? children : [first]) await child.ask('fund', 1_000)
  if (open > 0) await first.ask('begin', { open, account: 'account 0' })
  const lines: string[][] = []
  for (const scenario of chosen) {
    // The memory stores are not shared between processes.
    if (kind === 'memory' && scenario.processes > 1) continue
    const found = new Map<string, Round[]>(['', ...baselines].map((each) => [each, []]))
    await round(children, scenario, plan.warmMs)
    for (let number = 0; number < plan.rounds; number++) {
      for (const [baseline, rounds] of found) {
        const forMs = baseline === '' ? plan.forMs : plan.forMs / 2
        rounds.push(await round(children, scenario, forMs, baseline === '' ? undefined : baseline))
      }
    }
    const [calls = [], ...others] = found.values()
    const of = (part: keyof Round, digits: number) =>
      spread(
        calls.map((each) => each[part]),
        digits,
      )
    const ratios = others.flatMap((rounds) => [
      median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
      spread(
        calls.map(({ perSecond }, index) => perSecond / (rounds[index] as Round).perSecond),
        2,
      ),
    ])
    lines.push([
      scenario.name,
      of('perSecond', 0),
      of('p50', 2),
      of('p99', 2),
      of('cpu', 0),
      of('busiest', 0),
      of('servers', 0),
      ...ratios,
    ])
    process.stderr.write(`${kind}: ${lines.at(-1)?.join('  ')}\n`)
  }
  const head = [
    `${kind}${open > 0 ? `, ${open} calls open` : ''}`,
    'calls/s',
    'admission p50 ms',
    'p99 ms',
    'CPU µs/call',
    'busiest server',
    'all servers',
  ]
  print([[...head, ...baselines.flatMap((each) => [`${each}/s`, 'calls per command'])], ...lines])
  await first.ask('clear')
  for (const child of children) {
    await child.ask('close')
    child.stop()
  }
  await server?.close()
  await cluster?.close()
}

for (const kind of kinds) if (available[kind]) await measure(kind)
