/** Calls with limits and prices per second, of one and of two processes on one database. */
import { ownName } from '../servers.ts'
import { progress, type Fleet } from './fleet.ts'
import type { Answered, Load } from './load.ts'
import type { Plan } from './plan.ts'
import { clear } from './stores.ts'
import { canRun, crowd, subjects } from './subjects.ts'

export interface Clustered {
  readonly name: string
  readonly perSecond: readonly number[]
  readonly p50: readonly number[]
  readonly p99: readonly number[]
  /** Microseconds of CPU of all processes, per call. */
  readonly cpu: readonly number[]
}

const concurrency = 64

export async function measureClusters(fleet: Fleet, plan: Plan): Promise<Clustered[]> {
  const results: Clustered[] = []
  for (const subject of subjects.filter(({ kind }) => kind === 'postgres' || kind === 'redis')) {
    if (!canRun(subject.kind)) continue
    const name = ownName()
    const servers = [await fleet.start(subject, name), await fleet.start(subject, name)]
    for (const processes of [1, 2]) {
      const used = servers.slice(0, processes)
      const ports = used.flatMap(({ target }) => target.ports)
      const load: Load = {
        ...(used[0] as (typeof used)[0]).target,
        ports,
        accounts: crowd.accounts,
        scenario: 'json',
        model: 'json',
        concurrency,
        forMs: plan.quick ? 700 : 2_000,
      }
      const cpu = async () => {
        const spent = await Promise.all(used.map(({ child }) => child.ask<number>('cpu')))
        return spent.reduce((sum, each) => sum + each, 0)
      }
      const found = { perSecond: [] as number[], p50: [] as number[], p99: [] as number[], cpu: [] as number[] }
      for (let round = 1; round <= plan.rounds; round++) {
        progress(`${processes} on ${subject.kind}, round ${round} of ${plan.rounds}`)
        const before = await cpu()
        const { requests, ms, p50, p99 } = await fleet.load.ask<Answered>('run', load)
        found.perSecond.push((requests * 1_000) / ms)
        found.p50.push(p50)
        found.p99.push(p99)
        found.cpu.push(((await cpu()) - before) / requests)
      }
      results.push({ name: `${subject.kind}, ${processes === 1 ? '1 process' : '2 processes'}`, ...found })
    }
    for (const server of servers) await fleet.stop(server)
    await clear(subject.kind, name)
  }
  return results
}
