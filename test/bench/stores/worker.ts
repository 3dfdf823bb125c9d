/** A process of the benchmark of stores: so many callers, each of which makes one call after the other. */
import { setImmediate as turn } from 'node:timers/promises'
import { serveParent } from '../child.ts'
import { callsOf, type Calls } from './calls.ts'
import { openServer, type Kind, type Server } from './server.ts'

export interface Load {
  readonly callers: number
  readonly accounts: number
  readonly forMs: number
  /** Instead of calls: a command of the database alone. */
  readonly baseline?: string | undefined
}

export interface Measured {
  readonly calls: number
  /** From the first call to the moment when the last one was stored. */
  readonly ms: number
  /** Milliseconds until each call was admitted. */
  readonly admitted: readonly number[]
  /** Microseconds of CPU of this process. */
  readonly cpu: number
}

let server: Server | undefined
let calls: Calls | undefined

/** For a store that answers at once: calls between two turns of the event loop. */
const together = 50

async function load({ callers, accounts, forMs, baseline }: Load): Promise<Measured> {
  const admitted: number[] = []
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  const ask = baseline === undefined ? undefined : server?.baselines[baseline]
  const caller = async (own: number) => {
    for (let made = 0; performance.now() - began < forMs; made++) {
      const since = performance.now()
      if (ask !== undefined) await ask()
      else await call(`account ${(own + made * callers) % accounts}`)
      admitted.push(performance.now() - since)
      if (made % together === 0) await turn()
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  if (ask === undefined) await calls?.stored()
  const { user, system } = process.cpuUsage(cpu)
  return { calls: admitted.length, ms: performance.now() - began, admitted, cpu: user + system }
}

async function call(account: string): Promise<void> {
  const ticket = await calls?.admit(account)
  if (ticket !== undefined) calls?.end(ticket, account)
}

serveParent({
  async open({ kind, name, options }: { kind: Kind; name: string; options: object }) {
    server = await openServer(kind, name, options)
    calls = callsOf(server.storage)
    return Object.keys(server.baselines)
  },
  fund: (accounts: number) => calls?.fund(accounts),
  /** Calls that stay open. */
  async begin({ open, account }: { open: number; account: string }) {
    for (let made = 0; made < open; made += 50)
      await Promise.all(Array.from({ length: 50 }, async () => calls?.admit(account)))
  },
  load,
  clear: () => server?.clear(),
  close: () => server?.close(),
})
