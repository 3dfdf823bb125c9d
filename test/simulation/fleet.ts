/** The processes of the host: each a gateway that can be killed, replaced and suspended, and the connections to it. */
import { createGateway, type Gateway, type GatewayOptions, type Reply, type ResponseStore } from '../../src/index.ts'
import { parseMoney } from '../../src/money/money.ts'
import type { Checks } from './checks.ts'
import type { Plan } from './plan.ts'
import { Machine } from './scheduler.ts'
import { keyLeaseMs, leaseMs } from './seen.ts'
import { connect, type Network } from './connections.ts'
import type { Shared } from './stores.ts'
import { Vendor } from './vendor.ts'

interface Process {
  readonly machine: Machine
  readonly gateway: Gateway
  /** Ends the connections of clients if the process dies. */
  readonly open: Set<() => void>
  /** Requests that it works on, by account. */
  readonly working: Map<string, number>
}

export interface ClientRequest {
  readonly method: string
  readonly target: string
  readonly account: string
  readonly key?: string | undefined
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly id: string
  readonly isReplay: boolean
  readonly text: string
  readonly isWhole: boolean
  readonly mayRetry: boolean
}

/** Nothing asks for stored responses. */
const none: ResponseStore = {
  put: () => undefined,
  get: () => undefined,
  replace: () => false,
  holding: () => undefined,
  delete: () => false,
}

export class Fleet {
  /** Of all processes that were ever started: one that is replaced can still have open calls. */
  readonly machines: Machine[] = []
  readonly #network: Network
  readonly #plan: Plan
  readonly #checks: Checks
  readonly #stores: Shared
  readonly #vendor: Vendor
  readonly #client: Machine
  readonly #slots: Process[] = []

  constructor(network: Network, plan: Plan, checks: Checks, stores: Shared, client: Machine) {
    this.#network = network
    this.#plan = plan
    this.#checks = checks
    this.#stores = stores
    this.#vendor = new Vendor(network, plan, checks)
    this.#client = client
    for (let slot = 0; slot < plan.processes; slot++) this.#start(slot)
  }

  get processes(): readonly Process[] {
    return this.#slots
  }

  at(slot: number): Process {
    return this.#slots[slot] as Process
  }

  /** Kills a process, and starts another one in its place after `ms`. */
  kill(slot: number, ms: number): void {
    const { machine, open } = this.at(slot)
    machine.isDead = true
    for (const reset of Array.from(open)) reset()
    this.#network.scheduler.after(ms, this.#client, () => this.#start(slot))
  }

  /** A new process takes the requests; the old one finishes its own. */
  deploy(slot: number): void {
    const { machine, gateway, open } = this.at(slot)
    // It refuses what still arrives.
    this.#checks.disturb(machine, 60_000)
    this.#network.scheduler.after(0, machine, () => {
      void gateway.close({ graceMs: 5_000 }).then(() => {
        machine.isDead = true
        for (const reset of Array.from(open)) reset()
      })
    })
    this.#start(slot)
  }

  /** Sends a request over a connection that breaks if the process dies. `ended` runs once, at the client. */
  send(slot: number, request: ClientRequest, ended: (answer: Answer | undefined, busy: boolean) => void): () => void {
    const { machine, gateway, open, working } = this.at(slot)
    const client = new AbortController()
    let isOver = false
    let isBusy = false
    const over = (answer: Answer | undefined) => {
      open.delete(reset)
      if (isOver) return
      isOver = true
      this.#network.scheduler.after(1 + this.#network.roll(this.#client) * 5, this.#client, () => {
        ended(answer, isBusy)
      })
    }
    const reset = () => over(undefined)
    open.add(reset)
    if (machine.isDead) reset()
    const { method, target, account, key, body } = request
    this.#network.scheduler.after(1 + this.#network.roll(this.#client) * 5, machine, () => {
      const exchange = {
        method,
        target,
        headers: {
          authorization: `Bearer ${account}`,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        body: { state: 'text' as const, text: body ?? '' },
        signal: client.signal,
      }
      const others = working.get(account) ?? 0
      isBusy = others + this.#checks.working(machine) >= this.#plan.concurrent
      working.set(account, others + 1)
      void gateway.handle(exchange).then(async (reply) => {
        const answer = await read(reply, client.signal)
        working.set(account, (working.get(account) ?? 1) - 1)
        over(answer)
      })
    })
    return () => {
      this.#network.scheduler.after(0, machine, () => client.abort())
      isOver = true
      open.delete(reset)
    }
  }

  #start(slot: number): void {
    const machine = new Machine(`process ${slot}.${this.machines.length}`)
    this.machines.push(machine)
    this.#network.scheduler.machine = machine
    const gateway = createGateway(this.#options(machine))
    this.#slots[slot] = { machine, gateway, open: new Set(), working: new Map() }
  }

  #options(machine: Machine): GatewayOptions {
    const { caps, whenDown, rate, concurrent, journalMs, isAmple } = this.#plan
    const times = isAmple ? 50 : 1
    const checks = this.#checks
    return {
      authenticate: ({ headers }) => ({
        account: String(headers['authorization']).slice('Bearer '.length),
        group: 'default',
      }),
      models: {
        chat: { provider: this.#vendor.provider(machine), price: { input: '1', output: '1' } },
        film: { provider: this.#vendor.provider(machine), price: { second: '0.00003' } },
      },
      groups: {
        default: {
          models: '*',
          rate: { ...rate, concurrent },
          ...(caps && { caps: [{ name: 'day', period: 'day', money: `${0.002 * times}`, calls: 20 * times }] }),
        },
      },
      billing: {
        currency: 'EUR',
        minimumTopUp: '0.000001',
        leaseMs,
        journalMs,
        ...(caps && {
          caps: [
            { name: 'house', per: 'all', period: { rollingMs: 3_600_000, grainMs: 60_000 }, tokens: 9_000 * times },
          ],
        }),
      },
      limits: { whenDown, leaseMs },
      idempotency: { leaseMs: keyLeaseMs },
      usage: { record: false },
      tasks: { sweepMs: 8_000, deadlineMs: 150_000 },
      storage: { ...connect(this.#network, this.#stores, machine), responses: none },
      hooks: {
        receipt: ({ id, endpoint, outcome, charge }) => {
          if (endpoint === 'chat.completions') checks.receipt(id, machine, outcome, parseMoney(charge?.cost ?? '0'))
        },
        failure: ({ id, unsettled }) => {
          if (unsettled !== undefined) checks.gaveUp(id, machine)
        },
        task: ({ type, task }) => void (type === 'reconcile' && checks.reconciled.add(task.id)),
      },
    }
  }
}

function read(reply: Reply, signal: AbortSignal): Promise<Answer> {
  const { status, headers, body } = reply
  const rest = {
    status,
    id: headers['x-request-id'] ?? '',
    isReplay: headers['idempotent-replayed'] === 'true',
    mayRetry: headers['x-should-retry'] !== 'false',
  }
  if (typeof body === 'string') return Promise.resolve({ ...rest, text: body, isWhole: true })
  if (body instanceof Uint8Array) return Promise.resolve({ ...rest, text: Buffer.from(body).toString(), isWhole: true })
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const end = (isWhole: boolean) => resolve({ ...rest, text: Buffer.concat(pieces).toString(), isWhole })
    body.start({
      get closed() {
        return signal.aborted
      },
      write(piece) {
        pieces.push(Buffer.from(piece))
        return true
      },
      drained: () => Promise.resolve(),
      end: (whole = true) => end(whole),
      destroy: () => end(false),
    })
  })
}
