/** Child process with one server under test. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { appOf, type App } from './apps.ts'
import { serveParent } from './child.ts'
import type { Kind } from './subjects.ts'

export interface Start {
  readonly kind: Kind
  /** The origin of the vendor. */
  readonly vendor: string
  /** The schema or key prefix in a database. */
  readonly name: string
}

/** Bytes. */
export interface Memory {
  readonly rss: number
  /** JavaScript values and buffers in use. */
  readonly heap: number
  /** The highest RSS so far. */
  readonly peak: number
}

/** Milliseconds by which timers were late. */
export interface Delay {
  readonly p50: number
  readonly p99: number
  readonly most: number
}

const server = createServer()
server.keepAliveTimeout = 60_000
let app: App | undefined
let delays: ReturnType<typeof monitorEventLoopDelay> | undefined

serveParent({
  async listen({ kind, vendor, name }: Start) {
    app = await appOf(kind, vendor, name)
    server.on('request', app.listener)
    return new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', 4096, () => resolve((server.address() as AddressInfo).port))
    })
  },
  /** Microseconds of CPU since the start, including system time. */
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  watchDelay: () => {
    delays = monitorEventLoopDelay({ resolution: 1 })
    delays.enable()
  },
  /** Since `watchDelay`. The histogram includes its own interval of a millisecond. */
  delay: (): Delay => {
    delays?.disable()
    const late = (nanoseconds = 0) => Math.max(0, nanoseconds / 1e6 - 1)
    return { p50: late(delays?.percentile(50)), p99: late(delays?.percentile(99)), most: late(delays?.max) }
  },
  memory: (): Memory => {
    globalThis.gc?.()
    const { rss, heapUsed, external } = process.memoryUsage()
    return { rss, heap: heapUsed + external, peak: process.resourceUsage().maxRSS * 1024 }
  },
  close: () => app?.close(),
})
