/** How late the timers of each server are with 200 open streams that send a chunk every 20 ms. */
import { progress, type Fleet } from './fleet.ts'
import type { Answered, Load } from './load.ts'
import type { Plan } from './plan.ts'
import type { Delay } from './server.ts'
import type { Subject } from './subjects.ts'

export const openStreams = 200

export interface Late extends Delay {
  readonly name: string
}

export async function measureDelays(fleet: Fleet, subjects: readonly Subject[], { quick }: Plan): Promise<Late[]> {
  const results: Late[] = []
  for (const subject of subjects) {
    progress(`event-loop delay: ${subject.name}`)
    const { child, target } = await fleet.server(subject)
    const paced: Load = { ...target, scenario: 'paced', model: 'paced', concurrency: openStreams, forMs: 1_000 }
    // Opens the connections first.
    await fleet.load.ask<Answered>('run', paced)
    await child.ask('watchDelay')
    await fleet.load.ask<Answered>('run', { ...paced, forMs: quick ? 1_000 : 10_000 })
    results.push({ name: subject.name, ...(await child.ask<Delay>('delay')) })
  }
  return results
}
