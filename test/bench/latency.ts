/** Latency that each server adds to a non-streaming response, at a fixed rate that all of them can serve. */
import { progress, type Fleet } from './fleet.ts'
import type { Answered, Rate, Target } from './load.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './subjects.ts'

export interface Added {
  readonly name: string
  /** Milliseconds above the vendor's own in the same round; those of the vendor itself in the first row. */
  readonly p50: readonly number[]
  readonly p99: readonly number[]
}

export async function measureLatency(fleet: Fleet, subjects: readonly Subject[], plan: Plan): Promise<Added[]> {
  const { perSecond, rounds, quick } = plan
  const forMs = quick ? 500 : 2_000
  const measure = (target: Target) =>
    fleet.load.ask<Answered>('rate', { ...target, scenario: 'json', perSecond, forMs } satisfies Rate)
  const vendor = await fleet.vendor()
  const direct: Answered[] = []
  const all = subjects.map(({ name }) => ({ name, p50: [] as number[], p99: [] as number[] }))
  for (const subject of subjects) await fleet.server(subject)
  for (let round = 1; round <= rounds; round++) {
    const base = await measure(vendor)
    direct.push(base)
    for (const [index, subject] of subjects.entries()) {
      progress(`latency, round ${round} of ${rounds}: ${subject.name}`)
      const { p50, p99 } = await measure((await fleet.server(subject)).target)
      all[index]?.p50.push(p50 - base.p50)
      all[index]?.p99.push(p99 - base.p99)
    }
  }
  const own = { name: 'the vendor itself', p50: direct.map(({ p50 }) => p50), p99: direct.map(({ p99 }) => p99) }
  return [own, ...all]
}
