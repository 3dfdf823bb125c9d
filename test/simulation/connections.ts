/** The connections of processes to the server of the stores, on which calls are lost, late, repeated and refused. */
import type { Fate, Place } from './plan.ts'
import type { Machine, Scheduler } from './scheduler.ts'
import type { Shared } from './stores.ts'

/** One call that a store has carried out. */
export interface Done {
  readonly method: string
  // What it is depends on the method: `checks.ts` knows.
  readonly given: readonly never[]
  readonly answer: unknown
  /** Who called. */
  readonly by: Machine
}

export interface Network {
  readonly scheduler: Scheduler
  readonly server: Machine
  /** What becomes of the next call of this place by this machine. Undefined: it succeeds. */
  fateOf(place: Place, machine: Machine): Fate | undefined
  /** Called after each call, in the order in which they were carried out. */
  observe(done: Done): void
  /** Tells two runs apart, and is written to the log. */
  note(what: string, details?: object): void
  /** A number from 0 to 1 for this machine. */
  roll(machine: Machine): number
}

const methods = {
  ledger: ['hold', 'settle', 'release', 'renew', 'credit', 'open', 'account', 'audit'],
  limits: ['take', 'give', 'renew'],
  tasks: ['insert', 'find', 'replace', 'claim', 'now', 'list'],
  idempotency: ['begin', 'finish', 'forget'],
} as const

/** Calls that may be carried out twice. */
const repeatable = new Set(['ledger.hold', 'ledger.settle', 'ledger.release', 'ledger.credit'])

/** The stores as one process sees them. */
export function connect(network: Network, stores: Shared, process: Machine): Shared {
  const calls = (place: Place, names: readonly string[], target: object, prefix: string = place) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (...given: unknown[]) =>
          call(network, place, process, `${prefix}.${name}`, given, (copies) => {
            const method = (target as Record<string, (...values: unknown[]) => unknown>)[name]
            return method?.apply(target, copies)
          }),
      ]),
    )
  const caps = {
    ...calls('ledger', ['read', 'override', 'overrides'], stores.ledger.caps ?? {}, 'caps'),
    // Alerts are not simulated.
    claimNotices: () => [],
    endNotice: () => undefined,
  }
  const ledger = { ...calls('ledger', methods.ledger, stores.ledger), caps } as unknown as Shared['ledger']
  const limits = calls('limits', methods.limits, stores.limits) as unknown as Shared['limits']
  return {
    ledger,
    limits,
    tasks: calls('tasks', methods.tasks, stores.tasks) as unknown as Shared['tasks'],
    idempotency: calls('idempotency', methods.idempotency, stores.idempotency) as unknown as Shared['idempotency'],
    ...(stores.admission && {
      admission: {
        ...calls('ledger', ['admit', 'finish'], stores.admission, 'admission'),
        drawsSlices: stores.admission.drawsSlices,
        limits,
        ledger,
      } as never,
    }),
  }
}

/** Carries out a call on another machine, unless the network or the other machine fails. */
export function call(
  network: Network,
  place: Place,
  process: Machine,
  method: string,
  given: readonly unknown[],
  act: (given: unknown[]) => unknown,
  callee: Machine = network.server,
): Promise<unknown> {
  const { scheduler } = network
  const fate = network.fateOf(place, process)
  const copies = copy(given) as unknown[]
  const delay = () => 0.2 + network.roll(process) * (network.roll(process) < 0.05 ? 300 : 4)
  return new Promise((resolve, reject) => {
    const answer = (end: () => void) => {
      if (fate !== 'unanswered') scheduler.after(delay(), process, end)
    }
    const fail = () => answer(() => reject(new Error(`connection to ${place} lost`)))
    if (fate === 'refused') return fail()
    if (fate === 'lost') return
    const run = async () => {
      const made = await act(copy(copies) as unknown[])
      network.observe({ method, given: copies as never[], answer: made, by: process })
      return made
    }
    const wait = delay() + (fate === 'late' ? 1_000 + network.roll(process) * 9_000 : 0)
    scheduler.after(wait, callee, () => {
      run().then(
        (made) => (fate === 'failed after commit' ? fail() : answer(() => resolve(copy(made)))),
        (error: unknown) => answer(() => reject(error)),
      )
    })
    if (fate === 'repeated' && repeatable.has(method)) {
      scheduler.after(wait + network.roll(process) * 3_000, callee, () => void run().catch(() => undefined))
    }
  })
}

/** What arrives at the other side of a connection: the same data in other objects. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value.map(copy)
  const made: Record<string, unknown> = {}
  for (const name in value) made[name] = copy((value as Record<string, unknown>)[name])
  return made
}
