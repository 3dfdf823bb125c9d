/**
 * `npm run bench`: the cost of the gateway as a multiple of a plain relay. The vendor, the clients and every server are
 * separate processes on loopback. Only the server's CPU time is counted, user and system, so that other work on the machine
 * has little influence. Rounds are interleaved; ratios are taken within a round, medians over all rounds.
 *
 * `--quick`: fewer and shorter rounds. `--only=json,sse50`: some scenarios. `--servers=relay,express`: some servers.
 */
import { Child } from './child.ts'
import type { Span } from './load.ts'
import { holdStreams } from './memory.ts'
import { mountOf } from './mounts.ts'
import { scenarios, type Scenario } from './traffic.ts'
import { canMeasure } from './stores.ts'
import { printMemory, printTable, printTimes, printTranslators, type Sample } from './table.ts'
import { measureTranslators } from './translators.ts'

/** The rows of the table: a server, and whether its models have another name at the vendor. */
const rows = [
  { name: 'bare undici relay', kind: 'relay', renamed: false },
  { name: 'modelhatch on node:http', kind: 'node', renamed: false },
  { name: 'modelhatch in Express 5', kind: 'express', renamed: false },
  { name: 'modelhatch in Express 5, model renamed', kind: 'express', renamed: true },
  { name: 'modelhatch in Express 5, limits and prices', kind: 'metered', renamed: false },
  { name: 'modelhatch in Express 5, the same on Postgres', kind: 'postgres', renamed: false },
  { name: 'modelhatch in Koa 3', kind: 'koa', renamed: false },
  { name: 'modelhatch in Koa 3, model renamed', kind: 'koa', renamed: true },
  { name: 'http-proxy-middleware 4 in Express 5', kind: 'proxy', renamed: false },
] as const

type Row = (typeof rows)[number]

const option = (name: string) =>
  process.argv
    .find((word) => word.startsWith(`--${name}=`))
    ?.slice(name.length + 3)
    .split(',')
const quick = process.argv.includes('--quick')
const plan = quick
  ? { rounds: 3, slotMs: 150, warm: 0.3, streams: 1_000, holders: ['relay', 'express'] }
  : { rounds: 9, slotMs: 300, warm: 1, streams: 2_000, holders: ['relay', 'node', 'express', 'koa'] }
const [onlyServers, onlyScenarios] = [option('servers'), option('only')]
const chosen = rows.filter(
  ({ kind }) => canMeasure(kind) && (kind === 'relay' || (onlyServers?.includes(kind) ?? true)),
)
const columns = scenarios.filter(({ name }) => onlyScenarios?.includes(name) ?? true)

/** Shows progress in one line that is overwritten. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(60)}\r`)
}

const vendor = new Child('./vendor.ts')
const load = new Child('./load.ts')
const origin = `http://127.0.0.1:${await vendor.ask<number>('listen')}`

const servers = new Map<string, { child: Child; port: number }>()
for (const { kind } of chosen) {
  if (servers.has(kind)) continue
  const child = new Child('./server.ts')
  servers.set(kind, { child, port: await child.ask<number>('listen', { kind, vendor: origin }) })
}

/** Microseconds of CPU per unit of the scenario. */
async function measure({ kind, renamed }: Row, { name, unit, chunks }: Scenario, span: Span): Promise<number> {
  const { child, port } = servers.get(kind) as { child: Child; port: number }
  const model = renamed ? `renamed:${name}` : name
  const before = await child.ask<number>('cpu')
  const answered = await load.ask<number>('run', { port, mount: mountOf(kind), scenario: name, model, ...span })
  const spent = (await child.ask<number>('cpu')) - before
  return spent / (unit === 'chunk' ? answered * chunks : answered)
}

/** Sequentially, or all at once if most of the time is spent waiting. */
async function measureAll(order: readonly Row[], scenario: Scenario): Promise<Map<Row, number>> {
  const costs = new Map<Row, number>()
  const note = async (row: Row) => void costs.set(row, await measure(row, scenario, { forMs: plan.slotMs }))
  if (scenario.paceMs === 0) for (const row of order) await note(row)
  else {
    await Promise.all(order.filter(({ renamed }) => !renamed).map(note))
    await Promise.all(order.filter(({ renamed }) => renamed).map(note))
  }
  return costs
}

// The JIT compiler needs about ten thousand requests to optimise a server.
for (const row of chosen) {
  for (const scenario of row.renamed ? [] : columns) {
    progress(`warming ${row.kind}: ${scenario.name}`)
    // With a disk sync per request, ten thousand requests would take minutes.
    const share = row.kind === 'postgres' ? plan.warm / 5 : plan.warm
    await measure(row, scenario, { requests: Math.ceil(scenario.warmUp * share) })
  }
}

const samples: Sample[] = []
for (let round = 1; round <= plan.rounds; round++) {
  progress(`round ${round} of ${plan.rounds}`)
  // The order rotates, so that no server always follows the same one.
  const order = chosen.map((_, index) => chosen[(index + round) % chosen.length] as Row)
  for (const scenario of columns) {
    const costs = await measureAll(order, scenario)
    const base = costs.get(rows[0]) as number
    for (const [row, cost] of costs) samples.push({ row: row.name, column: scenario.name, cost, ratio: cost / base })
  }
}

/** Latency in milliseconds for a single client with sequential requests, alternating between the servers. */
const times = new Map<string, number[]>(chosen.map(({ name }) => [name, []]))
for (let round = 0; round < plan.rounds && columns.some(({ name }) => name === 'json'); round++) {
  progress(`one at a time, round ${round + 1} of ${plan.rounds}`)
  for (const { name, kind, renamed } of chosen) {
    if (renamed) continue
    const { port } = servers.get(kind) as { port: number }
    const timed = await load.ask<number[]>('time', { port, mount: mountOf(kind), scenario: 'json', count: 100 })
    times.get(name)?.push(...timed)
  }
}

for (const { child } of servers.values()) {
  await child.ask('close')
  child.stop()
}

progress('')
const names = chosen.map(({ name }) => name)
printTable(names, columns, samples)
printTimes(times)
if (onlyScenarios === undefined) {
  printTranslators(await measureTranslators(quick ? 6 : 15))
  const holders = plan.holders.filter((kind) => servers.has(kind))
  printMemory(await holdStreams(load, origin, holders, plan.streams))
}
vendor.stop()
load.stop()
