/** A process of the store benchmark: a number of callers, each of which makes one call after another. */
import { setImmediate as turn } from 'node:timers/promises'
import { serveParent } from '../child.ts'
import { callsOf, type Calls } from './calls.ts'
import { openServer, type Opening, type Server } from './server.ts'

export interface Load {
  readonly callers: number
  readonly accounts: number
  readonly forMs: number
  /** A plain command of the database to send instead of making calls. */
  readonly baseline?: string | undefined
}

export interface Measured {
  readonly calls: number
  /** Milliseconds from the first call until the last one is stored. */
  readonly ms: number
  /** Milliseconds that each admission, or baseline command, took. */
  readonly admitted: readonly number[]
  /** Microseconds of CPU time of this process. */
  readonly cpu: number
}

let server: Server | undefined
let calls: Calls | undefined

/** Calls of a caller between two turns of the event loop: a memory store resolves without ever yielding to it. */
const callsPerTurn = 50

async function load({ callers, accounts, forMs, baseline }: Load): Promise<Measured> {
  const admitted: number[] = []
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  const command = baseline === undefined ? undefined : server?.baselines[baseline]
  const caller = async (index: number) => {
    for (let made = 0; performance.now() - began < forMs; made++) {
      const since = performance.now()
      if (command !== undefined) await command()
      else await call(`account ${(index + made * callers) % accounts}`)
      admitted.push(performance.now() - since)
      if (made % callsPerTurn === 0) await turn()
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  if (command === undefined) await calls?.stored()
  const { user, system } = process.cpuUsage(cpu)
  return { calls: admitted.length, ms: performance.now() - began, admitted, cpu: user + system }
}

async function call(account: string): Promise<void> {
  const ticket = await calls?.admit(account)
  if (ticket !== undefined) calls?.end(ticket, account)
}

serveParent({
  async open(opening: Opening) {
    server = await openServer(opening)
    calls = callsOf(server.storage)
    return Object.keys(server.baselines)
  },
  fund: (accounts: number) => calls?.fund(accounts),
  /** Starts calls that stay open. */
  async begin({ open, account }: { open: number; account: string }) {
    for (let made = 0; made < open; made += 50)
      await Promise.all(Array.from({ length: 50 }, async () => calls?.admit(account)))
  },
  load,
  cpu: () => server?.cpu(),
  clear: () => server?.clear(),
  close: () => server?.close(),
})
