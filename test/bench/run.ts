/**
 * `npm run bench`: what the gateway costs, beside a plain relay, a proxy, and a route written by hand. The vendor, the
 * clients and every server are separate processes on loopback.
 *
 * `--quick`: fewer and shorter rounds, barely warm servers · `--parts=cpu,latency,delay,memory,cluster,translators` ·
 * `--only=json,sse50`: columns of the CPU table, and no other part; `native`, `native50`, `translated` and `translated50`
 * are messages · `--servers=express,koa`: rows · `--nodes=22,26`: the gateway on other versions of Node as well ·
 * `--streams=1000`, `--kilobytes=100`: of the part memory · `--rate=300`: requests per second of the part latency ·
 * `--rounds`, `--slot` (ms), `--warm` (s) · `--readme`: writes the results into the README · `--in-process [DIR …]`: instead,
 * the gateway alone without sockets, for busy machines, beside other checkouts · `--telemetry`: instead, what
 * OpenTelemetry and Prometheus add · `--content`: instead, what the content log adds.
 */
import { measureClusters } from './cluster.ts'
import { measureCosts } from './costs.ts'
import { measureDelays, openStreams } from './delay.ts'
import { Fleet, progress } from './fleet.ts'
import { measureLatency } from './latency.ts'
import { about, load, nodeOf } from './machine.ts'
import { holdStreams } from './memory.ts'
import { planOf, type Part, type Plan } from './plan.ts'
import { summaryOf, writeReadme } from './readme.ts'
import { canRun, relay, subjects, type Kind, type Subject } from './subjects.ts'
import { printClusters, printCosts, printDelays, printLatency, printMemory, printTranslators } from './table.ts'
import { measureTranslators } from './translators.ts'

const words = process.argv.slice(2)

function chosen({ servers, nodes }: Plan): Subject[] {
  const own = subjects.filter(({ kind }) => kind === 'relay' || (servers?.includes(kind) ?? true))
  for (const { name } of own.filter(({ kind }) => !canRun(kind))) console.log(`skipped, no database: ${name}`)
  const others = nodes.flatMap((version) => {
    const found = nodeOf(version)
    if (found === undefined) console.log(`skipped, not in the registry: Node ${version}`)
    const name = `modelhatch in Express 5, on Node ${found?.version}`
    return found === undefined ? [] : [{ name, kind: 'express', node: found.path } as const]
  })
  return [...own.filter(({ kind }) => canRun(kind)), ...others]
}

async function bench(plan: Plan): Promise<void> {
  const loads = [load()]
  console.log(about())
  const rows = chosen(plan)
  console.log(
    `Medians and quartiles of ${plan.rounds} rounds; each server was warmed for ${plan.warmMs / 1_000} s or more.${
      plan.quick ? ' Quick: too short and too cold for a comparison.' : ''
    }\n`,
  )
  const has = (part: Part) => plan.parts.includes(part)
  const ofKinds = (...kinds: Kind[]) => rows.filter(({ kind, renamed }) => renamed !== true && kinds.includes(kind))
  const fleet = new Fleet(plan)
  const samples = has('cpu') ? await measureCosts(fleet, rows, plan) : []
  const names = rows.map(({ name }) => name)
  if (has('cpu')) printCosts(names, plan.columns, samples)
  const waiting = ofKinds('relay', 'express', 'metered', 'crowded', 'koa', 'proxy', 'by-hand')
  const latency = has('latency') ? await measureLatency(fleet, waiting, plan) : []
  if (has('latency')) printLatency(latency, plan.perSecond)
  if (has('delay')) printDelays(await measureDelays(fleet, waiting, plan), openStreams)
  await fleet.stopServers()
  if (has('cluster')) printClusters(await measureClusters(fleet, plan))
  const memory = has('memory') ? await holdStreams(fleet, ofKinds('relay', 'express', 'koa', 'by-hand'), plan) : []
  if (has('memory')) printMemory(memory, plan.bodyBytes)
  await fleet.close()
  if (has('translators')) printTranslators(await measureTranslators(plan.quick ? 6 : 15))
  progress('')
  loads.push(load())
  console.log(`load ${loads[1]} at the end`)
  if (!plan.readme) return
  const nameOf = (kind: Kind) => (kind === 'relay' ? relay : subjects.find((each) => each.kind === kind))?.name ?? ''
  writeReadme(summaryOf({ samples, latency, perSecond: plan.perSecond, memory, nameOf, loads }))
}

if (words.includes('--in-process')) await import('./in-process/run.ts')
else if (words.includes('--telemetry')) await import('./telemetry/run.ts')
else if (words.includes('--content')) await import('./content/run.ts')
else await bench(planOf(words))
