/** Memory per open stream: a fresh and warm server, then many streams with long conversations and one word a second. */
import { setTimeout as wait } from 'node:timers/promises'
import { progress, type Fleet } from './fleet.ts'
import type { Hold } from './load.ts'
import { openFiles } from './machine.ts'
import type { Plan } from './plan.ts'
import type { Memory } from './server.ts'
import type { Subject } from './subjects.ts'

export interface Held {
  readonly name: string
  readonly streams: number
  /** Bytes per stream above the idle server. */
  readonly rss: number
  readonly heap: number
  /** Highest RSS while the streams were opened, in bytes per stream above the idle server. */
  readonly peak: number
}

export async function holdStreams(fleet: Fleet, subjects: readonly Subject[], plan: Plan): Promise<Held[]> {
  // A server has two connections for each stream.
  const streams = Math.min(plan.streams, Math.floor((openFiles() - 500) / 2))
  const results: Held[] = []
  for (const subject of subjects) {
    const server = await fleet.start(subject)
    const before = await server.child.ask<Memory>('memory')
    progress(`memory of ${streams} streams: ${subject.name}`)
    await fleet.load.ask('hold', { ...server.target, count: streams, bytes: plan.bodyBytes } satisfies Hold)
    await wait(3_000)
    const after = await server.child.ask<Memory>('memory')
    const each = (part: keyof Memory, than: keyof Memory = part) => (after[part] - before[than]) / streams
    results.push({ name: subject.name, streams, rss: each('rss'), heap: each('heap'), peak: each('peak', 'rss') })
    await fleet.load.ask('release')
    await fleet.stop(server)
  }
  return results
}
