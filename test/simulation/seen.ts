/** What a history has shown so far, and what has disturbed its machines. */
import type { Plan } from './plan.ts'
import { Violation, type Job, type Request } from './request.ts'
import type { Machine, Scheduler } from './scheduler.ts'
import { Traces } from './traces.ts'

/** Leases in seconds of virtual time: shorter than by default, so that histories are. */
export const leaseMs = 15_000
export const keyLeaseMs = 10_000
/** Within this time after its last disturbance a healthy process has told the stores what has ended. */
export const promptMs = 4_000

export class Seen {
  readonly plan: Plan
  readonly scheduler: Scheduler
  readonly server: Machine
  readonly traces = new Traces()
  readonly requests = new Map<string, Request>()
  readonly jobs: Job[] = []
  readonly reconciled = new Set<string>()
  readonly #disturbed = new Map<Machine, number>()
  /** When a call of a store last failed. */
  readonly #failed = new Map<Machine, number>()
  #jumpedAt = -Infinity
  #violation: Violation | undefined

  constructor(plan: Plan, scheduler: Scheduler, server: Machine) {
    this.plan = plan
    this.scheduler = scheduler
    this.server = server
  }

  /** The first one. */
  get violation(): Violation | undefined {
    return this.#violation
  }

  violate(invariant: string, message: string): void {
    this.violatedBy(new Violation(invariant, message))
  }

  violatedBy(violation: Violation): void {
    this.#violation ??= violation
  }

  /** The time of the stores. */
  get time(): number {
    return this.scheduler.clockOf(this.server)
  }

  requestOf(id: string, machine: Machine): Request {
    let request = this.requests.get(id)
    if (request === undefined) {
      request = { id, machine, startedAt: this.scheduler.now, open: 0 }
      this.requests.set(id, request)
    }
    return request
  }

  /** A fault has touched a machine, whose effects may last for `ms`. */
  disturb(machine: Machine, ms: number = 0): void {
    const until = this.scheduler.now + ms
    this.#disturbed.set(machine, Math.max(until, this.#disturbed.get(machine) ?? 0))
  }

  wasDisturbed(machine: Machine): boolean {
    return machine.isDead || machine.pausedUntil !== 0 || this.#disturbed.has(machine)
  }

  /** A call of a store fails. */
  fail(machine: Machine, ms: number): void {
    this.#failed.set(machine, this.scheduler.now + ms)
    this.disturb(machine, ms)
  }

  /** Whether a call of a store has failed in the last `ms`. */
  hasFailed(machine: Machine, ms: number): boolean {
    return (this.#failed.get(machine) ?? -Infinity) + ms >= this.scheduler.now
  }

  /** The clock of the stores jumps: the leases of a machine may lapse, and rates are refilled earlier than it knows. */
  clockJumped(machine: Machine): void {
    this.#jumpedAt = this.scheduler.now
    this.traces.slices.jump()
    this.disturb(machine, 60_000)
  }

  /** Whether the clock of the stores has jumped in the minute before a time. */
  hasJumped(at: number): boolean {
    return at >= this.#jumpedAt && at <= this.#jumpedAt + 60_000
  }

  /** Whether nothing has disturbed the machine in the last `ms`. */
  isHealthy(machine: Machine, ms: number): boolean {
    const last = Math.max(this.#disturbed.get(machine) ?? -Infinity, machine.pausedUntil || -Infinity)
    return !machine.isDead && last + ms < this.scheduler.now
  }
}
