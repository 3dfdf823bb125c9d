/**
 * CPU time of each server, user and system, as a multiple of the relay's: other work on the machine has little influence.
 * Rounds are interleaved, and ratios are taken within a round.
 */
import { progress, type Fleet } from './fleet.ts'
import type { Answered, Load } from './load.ts'
import type { Plan } from './plan.ts'
import { relay, type Subject } from './subjects.ts'
import type { Scenario } from './traffic.ts'

/** One measurement: microseconds of CPU per unit, and its multiple of the relay's in the same round. */
export interface Sample {
  readonly row: string
  readonly column: string
  readonly cost: number
  readonly ratio: number
}

/** Microseconds of CPU per unit of the scenario. */
async function measure(fleet: Fleet, subject: Subject, { name, unit, chunks }: Scenario, forMs: number) {
  const { child, target } = await fleet.server(subject)
  const model = subject.renamed === true ? `renamed:${name}` : name
  const before = await child.ask<number>('cpu')
  const { requests } = await fleet.load.ask<Answered>('run', { ...target, scenario: name, model, forMs } satisfies Load)
  const spent = (await child.ask<number>('cpu')) - before
  return spent / (unit === 'chunk' ? requests * chunks : requests)
}

export async function measureCosts(fleet: Fleet, subjects: readonly Subject[], plan: Plan): Promise<Sample[]> {
  const { columns, rounds, slotMs } = plan
  for (const subject of subjects) await fleet.server(subject)
  const samples: Sample[] = []
  for (let round = 1; round <= rounds; round++) {
    // The order rotates, so that no server always follows the same one.
    const order = subjects.map((_, index) => subjects[(index + round) % subjects.length] as Subject)
    for (const scenario of columns) {
      progress(`CPU, round ${round} of ${rounds}: ${scenario.name}`)
      const costs = new Map<Subject, number>()
      const note = async (subject: Subject) => void costs.set(subject, await measure(fleet, subject, scenario, slotMs))
      if (scenario.paceMs === 0) for (const subject of order) await note(subject)
      else {
        // Most of the time is spent waiting: different servers at once, but only one row of each.
        await Promise.all(order.filter(({ renamed }) => renamed !== true).map(note))
        await Promise.all(order.filter(({ renamed }) => renamed === true).map(note))
      }
      const base = costs.get(relay) as number
      for (const [{ name }, cost] of costs) samples.push({ row: name, column: scenario.name, cost, ratio: cost / base })
    }
  }
  return samples
}
