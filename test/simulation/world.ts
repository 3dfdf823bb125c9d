/** One history: processes on shared stores, their vendors, their clients, and everything that goes wrong. */
import { seeded } from '../../src/testing/random.ts'
import { Checks } from './checks.ts'
import { Clients } from './clients.ts'
import { Fleet } from './fleet.ts'
import { accounts, quietMs, unlimitedAccount, type Event, type Fate, type Place, type Plan } from './plan.ts'
import type { Violation } from './request.ts'
import { Machine, Scheduler } from './scheduler.ts'
import { leaseMs } from './seen.ts'
import { connect, type Done, type Network } from './connections.ts'
import type { Shared } from './stores.ts'

export interface Outcome {
  readonly violation: Violation | undefined
  readonly steps: number
  readonly requests: number
  /** Tells two runs apart. */
  readonly digest: string
  /** What was called and answered, if it was asked for. */
  readonly log: readonly string[]
}

export class World implements Network {
  readonly scheduler: Scheduler
  readonly server = new Machine('stores', true)
  readonly checks: Checks
  readonly #plan: Plan
  readonly #stores: Shared
  readonly #client = new Machine('clients')
  readonly #fleet: Fleet
  readonly #clients: Clients
  readonly #rolls = new Map<Machine, () => number>()
  readonly #outages: (Extract<Event, { do: 'outage' }> & { readonly until: number })[] = []
  readonly #log: string[] | undefined
  #noise = 0
  #digest = 0

  constructor(plan: Plan, open: (scheduler: Scheduler) => Shared, logs: boolean) {
    this.#plan = plan
    this.scheduler = new Scheduler(plan.seed)
    this.scheduler.shuffles = plan.isAmple
    this.checks = new Checks(plan, this.scheduler, this.server)
    this.scheduler.machine = this.server
    this.#stores = open(this.scheduler)
    this.#log = logs ? [] : undefined
    this.#fleet = new Fleet(this, plan, this.checks, this.#stores, this.#client)
    this.#clients = new Clients(this, plan, this.checks, this.#fleet, this.#client)
  }

  async play(): Promise<Outcome> {
    const { scheduler, checks } = this
    const run = async (end: number) => {
      if (checks.violation === undefined) await scheduler.run(end, this.#settled)
    }
    scheduler.machine = this.#client
    await this.#fund()
    for (const event of this.#plan.events) scheduler.after(event.at, this.#client, () => this.#begin(event))
    await run(quietMs)
    await run(quietMs + (this.#plan.events.some((each) => each.do === 'video') ? 240_000 : 75_000))
    if (checks.violation === undefined) checks.atRest()
    await this.#audit()
    if (this.#plan.closes) {
      for (const { machine, gateway } of this.#fleet.processes) scheduler.after(0, machine, () => void gateway.close())
      await run(scheduler.now + 30_000)
    }
    for (const machine of this.#fleet.machines) machine.isDead = true
    await run(scheduler.now + 25 * 3_600_000)
    if (checks.violation === undefined) checks.atEnd()
    await this.#audit()
    const { violation, requests } = checks
    const digest = (this.#digest >>> 0).toString(16)
    return { violation, steps: scheduler.steps, requests: requests.size, digest, log: this.#log ?? [] }
  }

  roll(machine: Machine): number {
    let random = this.#rolls.get(machine)
    if (random === undefined) {
      const salt = Array.from(machine.name).reduce(
        (sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0),
        this.#plan.seed,
      )
      this.#rolls.set(machine, (random = seeded(salt)))
    }
    return random()
  }

  fateOf(place: Place, machine: Machine): Fate | undefined {
    const { now } = this.scheduler
    if (now > quietMs) return undefined
    let fate = this.#outages.find((each) => each.place === place && each.at <= now && now < each.until)?.fate
    if (fate === undefined && this.#noise > 0 && this.roll(machine) < this.#noise) {
      const fates = ['refused', 'lost', 'unanswered', 'failed after commit', 'late', 'repeated'] as const
      fate = fates[Math.floor(this.roll(machine) * fates.length)]
    }
    if (fate !== undefined) this.checks.fail(machine, lastsMs(fate))
    return fate
  }

  observe(done: Done): void {
    this.note(`${done.by.name} ${done.method}`, done)
    this.checks.observe(done)
  }

  readonly #settled = (): void => {
    if (this.scheduler.steps % 32 === 0) this.checks.requireNoLeaks()
    if (this.checks.violation !== undefined) this.scheduler.stop()
  }

  note(what: string, details?: object): void {
    const line = `${this.scheduler.now.toFixed(2)} ${what}`
    for (let at = 0; at < line.length; at++) this.#digest = Math.imul(this.#digest ^ line.charCodeAt(at), 0x01000193)
    this.#log?.push(details === undefined ? line : `${line} ${inText(details)}`)
  }

  async #fund(): Promise<void> {
    const { ledger } = connect(this, this.#stores, this.#client)
    for (const account of accounts) {
      if (account === unlimitedAccount) void ledger.open({ id: account, unlimited: true })
      else void ledger.credit({ account, amount: BigInt(this.#plan.credit), reference: `first ${account}` })
    }
    await this.scheduler.run(1_000, this.#settled)
    this.scheduler.now = 0
  }

  async #audit(): Promise<void> {
    if (this.checks.violation !== undefined) return
    this.scheduler.machine = this.server
    const { ledger } = this.#stores
    const done = (method: string, given: unknown[], answer: unknown) =>
      this.checks.observe({ method, given: given as never[], answer, by: this.server })
    // It may read in turns, which only the scheduler takes.
    const over = new AbortController()
    const audited = Promise.resolve(ledger.audit()).finally(() => over.abort())
    while (!over.signal.aborted) await this.scheduler.run(this.scheduler.now, this.#settled)
    this.scheduler.machine = this.server
    done('ledger.audit', [], await audited)
    for (const account of accounts) done('ledger.account', [account], await ledger.account(account))
  }

  #begin(event: Event): void {
    this.note(event.do, event)
    switch (event.do) {
      case 'chat':
        return this.#clients.chat(event, event.process, 3)
      case 'video':
        return this.#clients.video(event, event.process, 4)
      case 'topUp': {
        const { account, amount, at } = event
        const payment = {
          account,
          amount: `0.${String(amount).padStart(6, '0')}`,
          reference: `top-up-${at}-${account}-${amount}`,
        }
        return this.#clients.manage(({ admin }) => admin.accounts.topUp(payment), event.process, 4)
      }
      case 'refund':
        return this.#refund(event.part)
      case 'limit': {
        if (!this.#plan.caps) return
        const limits = { calls: Math.floor(event.part * (this.#plan.isAmple ? 300 : 30)) }
        const override = { account: accounts[0], group: 'default', cap: 'day', limits }
        return this.#clients.manage(({ admin }) => admin.caps.override(override), event.process, 1)
      }
      case 'kill':
        return this.#fleet.kill(event.process, event.ms)
      case 'deploy':
        return this.#fleet.deploy(event.process)
      case 'suspend': {
        const { machine } = this.#fleet.at(event.process)
        machine.pausedUntil = Math.max(machine.pausedUntil, this.scheduler.now + event.ms)
        return
      }
      case 'jump': {
        const { machine } = this.#fleet.at(event.process)
        machine.clockMs += event.ms
        return this.checks.disturb(machine, 60_000)
      }
      case 'clock':
        this.server.clockMs += event.ms
        for (const machine of this.#fleet.machines) this.checks.clockJumped(machine)
        return
      case 'outage':
        return void this.#outages.push({ ...event, until: event.at + event.ms })
      case 'noise':
        this.#noise = event.share
    }
  }

  /** Gives half of some charge back. */
  #refund(part: number): void {
    const settled = [...this.checks.traces.ledger.ended].filter(([, { amount }]) => amount > 1n)
    const [id, ended] = settled[Math.floor(part * settled.length)] ?? []
    if (id === undefined || ended === undefined) return
    const credit = { account: ended.account, amount: ended.amount / 2n, reference: `refund of ${id}`, refunds: id }
    const { ledger } = connect(this, this.#stores, this.#client)
    void Promise.resolve(ledger.credit(credit)).catch(() => undefined)
  }
}

function inText(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

/** How long the effects of a failed call of a store last. A hold that was refused may be made when its call is repeated. */
function lastsMs(fate: Fate): number {
  return fate === 'repeated' ? 3_500 + leaseMs : fate === 'late' ? 11_000 : 3_000
}
