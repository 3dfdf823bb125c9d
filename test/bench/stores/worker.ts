/** A process of the store benchmark: a number of callers, each of which makes one call after another. */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
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

/** Calls that arrive whether or not earlier ones have ended. */
export interface Offer {
  /** Calls per second. */
  readonly rate: number
  readonly accounts: number
  readonly forMs: number
  /** Milliseconds that a call lasts, on average. */
  readonly lastsMs: number
}

export interface Offered {
  readonly offered: number
  /** Milliseconds that each admission took. */
  readonly waits: readonly number[]
  readonly admitted: number
  /** Those of the second half of the time. */
  readonly late: number
  readonly refused: number
  readonly causes: Readonly<Record<string, number>>
}

/** One of each for every gateway of this process. */
let servers: Server[] = []
let gateways: Calls[] = []

/** Calls of a caller between two turns of the event loop: a memory store resolves without ever yielding to it. */
const callsPerTurn = 50

async function load({ callers, accounts, forMs, baseline }: Load): Promise<Measured> {
  const admitted: number[] = []
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  const command = baseline === undefined ? undefined : servers[0]?.baselines[baseline]
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
  if (command === undefined) await stored()
  const { user, system } = process.cpuUsage(cpu)
  return { calls: admitted.length, ms: performance.now() - began, admitted, cpu: user + system }
}

async function offer({ rate, accounts, forMs, lastsMs }: Offer): Promise<Offered> {
  const offered = { offered: 0, admitted: 0, late: 0, refused: 0, causes: {} as Record<string, number> }
  const waits: number[] = []
  const began = performance.now()
  const open: Promise<void>[] = []
  const one = async (account: string) => {
    const since = performance.now()
    const calls = gateways[Math.floor(Math.random() * gateways.length)]
    try {
      const ticket = await calls?.admit(account)
      waits.push(performance.now() - since)
      if (lastsMs > 0) await pause(lastsMs * (0.2 + 1.6 * Math.random()))
      if (ticket !== undefined) calls?.end(ticket, account)
      offered.admitted++
      if (performance.now() - began > forMs / 2) offered.late++
    } catch (error) {
      offered.refused++
      const cause = causeOf(error)
      offered.causes[cause] = (offered.causes[cause] ?? 0) + 1
    }
  }
  let due = began
  while (performance.now() - began < forMs) {
    due -= (Math.log(1 - Math.random()) * 1_000) / rate
    const early = due - performance.now()
    if (early > 0) await pause(early)
    offered.offered++
    open.push(one(`account ${Math.floor(Math.random() * accounts)}`))
  }
  await Promise.all(open)
  return { ...offered, waits }
}

function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  return cause === undefined ? String(error) : causeOf(cause)
}

async function call(account: string): Promise<void> {
  const [calls] = gateways
  // Without vendors, slices admit calls faster than their charges are stored.
  for (let room = calls?.room(); room !== undefined; room = calls?.room()) await room
  const ticket = await calls?.admit(account)
  if (ticket !== undefined) calls?.end(ticket, account)
}

async function stored(): Promise<void> {
  await Promise.all(gateways.map((calls) => calls.stored()))
}

serveParent({
  async open(opening: Opening) {
    const first = await openServer(opening)
    servers = [
      first,
      ...(await Promise.all(Array.from({ length: (opening.gateways ?? 1) - 1 }, () => openServer(opening)))),
    ]
    gateways = servers.map(({ storage }) => callsOf(storage, opening.caps, opening.journalMs))
    return Object.keys(first.baselines)
  },
  fund: (accounts: number) => gateways[0]?.fund(accounts),
  /** Starts calls that stay open. */
  async begin({ open, account }: { open: number; account: string }) {
    for (let made = 0; made < open; made += 50)
      await Promise.all(Array.from({ length: 50 }, async () => gateways[0]?.admit(account)))
  },
  load,
  offer,
  stored,
  cpu: () => servers[0]?.cpu(),
  statements: () => servers.reduce((sum, server) => sum + (server.statements?.() ?? 0), 0),
  clear: () => servers[0]?.clear(),
  close: () => Promise.all(servers.map((server) => server.close())),
})
