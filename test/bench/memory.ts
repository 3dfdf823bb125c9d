/** Memory per open stream: a fresh server, briefly warmed up, then many streams with one word a second. */
import { setTimeout as wait } from 'node:timers/promises'
import { Child } from './child.ts'
import { mountOf } from './mounts.ts'

export interface Held {
  readonly kind: string
  /** Bytes per stream. */
  readonly rss: number
  readonly heap: number
}

interface Memory {
  readonly rss: number
  readonly heap: number
}

export async function holdStreams(load: Child, vendor: string, kinds: string[], count: number): Promise<Held[]> {
  const results: Held[] = []
  for (const kind of kinds) {
    const server = new Child('./server.ts')
    const port = await server.ask<number>('listen', { kind, vendor })
    await load.ask('run', { port, mount: mountOf(kind), scenario: 'sse50', model: 'sse50', requests: 500 })
    const before = await server.ask<Memory>('memory')
    await load.ask('hold', { port, mount: mountOf(kind), count })
    await wait(2_000)
    const after = await server.ask<Memory>('memory')
    results.push({ kind, rss: (after.rss - before.rss) / count, heap: (after.heap - before.heap) / count })
    await load.ask('release')
    server.stop()
  }
  return results
}
