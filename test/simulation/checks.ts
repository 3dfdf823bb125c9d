/** What must be true of a history: after each step, at rest, and at its end. */
import type { AdmissionVerdict } from '../../src/admission/contract.ts'
import type { Hold } from '../../src/money/ledger/contract.ts'
import type { Done } from './connections.ts'
import { Endings } from './endings.ts'
import { Refusals } from './refusals.ts'
import { Violation, type Request } from './request.ts'
import type { Machine } from './scheduler.ts'
import { keyLeaseMs, leaseMs, promptMs, Seen } from './seen.ts'
import type { Script } from './vendor.ts'

export class Checks extends Seen {
  readonly refusals = new Refusals(this)
  readonly #endings = new Endings(this)
  /** The last call of a vendor for each key. */
  readonly #served = new Map<string, Request>()

  observe(done: Done): void {
    const now = this.time
    try {
      this.traces.follow(done, now)
    } catch (error) {
      if (error instanceof Violation) this.violatedBy(error)
      return this.violate('the stores keep their contracts', `${done.method}: ${(error as Error).message}`)
    }
    if (done.method === 'ledger.hold') this.refusals.held(done.given[0] as never, done.answer as never)
    if (done.method === 'admission.admit')
      this.refusals.held(done.given[1] as never, (done.answer as AdmissionVerdict).hold)
    if (done.method === 'ledger.settle') this.#endings.settled((done.given[0] as unknown as Hold).id)
    if (done.method === 'admission.finish') {
      for (const { end } of done.given[0] as unknown as { end?: Hold }[])
        if (end !== undefined) this.#endings.settled(end.id)
    }
  }

  /** A vendor is called. */
  vendorCalled(id: string, machine: Machine, { account, key, maxTokens }: Script): void {
    const request = this.requestOf(id, machine)
    request.open++
    if (key !== undefined) this.#keyUsed(`${account} ${key}`, request)
    const now = this.time
    const most = BigInt(maxTokens)
    const isAhead = this.#isAhead(id, account, machine, most, now)
    if (!this.isHealthy(machine, leaseMs)) return
    if (!isAhead) this.#requireHeld(id, most, now)
    if (key !== undefined && this.traces.keys.holder({ account, key, route: 'chat.completions' }, now) !== id) {
      this.violate('a key is served once', `${id} calls a vendor and does not hold ${key}`)
    }
  }

  vendorEnded(id: string, machine: Machine, reported: bigint | undefined): void {
    const request = this.requestOf(id, machine)
    request.open--
    if (reported === undefined) request.hasFailed = true
    else request.reported = reported
  }

  receipt(id: string, machine: Machine, outcome: string, cost: bigint): void {
    const request = this.requestOf(id, machine)
    if (request.outcome !== undefined) this.violate('each call ends once', `${id} has two receipts`)
    Object.assign(request, { outcome, cost, endedAt: this.scheduler.now })
    if (outcome === 'completed' && cost !== request.reported) {
      this.violate('a call costs what its vendor reports', `${id}: ${cost} of ${request.reported}`)
    }
  }

  /** The calls of a machine that its vendors are working on. */
  working(machine: Machine): number {
    let open = 0
    for (const request of this.requests.values()) if (request.machine === machine) open += request.open
    return open
  }

  /** A request has ended otherwise than with a receipt. */
  ended(id: string, machine: Machine): void {
    this.requestOf(id, machine).endedAt ??= this.scheduler.now
  }

  /** The gateway gives up a charge, which it may only do if the ledger is down. */
  gaveUp(id: string, machine: Machine): void {
    this.requestOf(id, machine).unsettled = true
    if (!this.hasFailed(machine, 15_000)) {
      this.violate('each call is charged once', `${id} was given up although the ledger works`)
    }
  }

  /** Holds and places whose call has ended long enough ago, and that nothing has ended. */
  requireNoLeaks(): void {
    const now = this.time
    for (const [id, { until }] of this.traces.ledger.holds) {
      if (until > now && this.#isOver(id, promptMs)) this.violate('no hold outlives its call', id)
    }
    for (const id of this.traces.limits.held(now)) {
      // A claim that arrives late may take a place that was given back before; it is free after its lease.
      if (this.#isOver(id, leaseMs)) this.violate('no place outlives its call', id)
    }
    const slice = this.traces.slices.left((machine) => this.isHealthy(machine, promptMs), promptMs, now)
    if (slice !== undefined) this.violate('no slice outlives its time', slice)
  }

  /** Long after the last fault, with all processes alive. */
  atRest(): void {
    const now = this.time
    this.traces.ledger.expire(now)
    for (const [id, { account }] of this.traces.ledger.holds) {
      if (this.requests.get(id)?.unsettled === true) continue
      this.violate('no hold outlives its call', `${id} of ${account} is still held`)
    }
    const [place] = this.traces.limits.held(now)
    if (place !== undefined) this.violate('no place outlives its call', place)
    for (const key of this.traces.keys.held(now)) this.violate('no key outlives its request', key)
    for (const request of this.requests.values()) this.#endings.chargedOnce(request)
    const attempts = new Set([...this.traces.tasks.attempts.values()].flatMap((each) => [...each]))
    for (const [id, { kind }] of this.traces.ledger.ended) {
      if (kind === 'settle' && !this.requests.has(id) && !attempts.has(id)) {
        this.violate('each call is charged once', `${id} was charged, and is no call`)
      }
    }
    for (const record of this.traces.tasks.tasks.values()) this.#endings.taskEnded(record)
    this.#endings.submittedOnce()
  }

  /** After the longest lease, with no process left. */
  atEnd(): void {
    this.traces.ledger.expire(this.time)
    for (const [id] of this.traces.ledger.holds) this.violate('no hold without an owner', id)
  }

  /** Whether a slice of its process covers a call. */
  #isAhead(id: string, account: string, machine: Machine, most: bigint, now: number): boolean {
    try {
      return this.traces.slices.begin(id, account, machine, most, now)
    } catch (error) {
      this.violatedBy(error as Violation)
      return true
    }
  }

  #requireHeld(id: string, most: bigint, now: number): void {
    const hold = this.traces.ledger.holds.get(id)
    if (hold === undefined || hold.until <= now) this.violate('no call begins without its hold', id)
    else if (hold.amounts.money < most)
      this.violate('a hold covers its call', `${id}: ${hold.amounts.money} of ${most}`)
    else if (hold.periods.length !== (this.plan.caps ? 2 : 0)) this.violate('a hold counts for all its caps', id)
    if (this.plan.whenDown === 'refuse' && !this.traces.limits.held(now).includes(id)) {
      this.violate('no call begins without its place', id)
    }
  }

  #isOver(id: string, healthyMs: number): boolean {
    const { endedAt = Infinity, open = 0, machine, unsettled } = this.requests.get(id) ?? {}
    if (open > 0 || unsettled === true || endedAt + promptMs > this.scheduler.now) return false
    return machine !== undefined && this.isHealthy(machine, healthyMs)
  }

  /** No two requests with one key are served, unless the first has failed, or one of their processes. */
  #keyUsed(place: string, request: Request): void {
    const last = this.#served.get(place)
    this.#served.set(place, request)
    if (last === undefined || last.id === request.id) return
    const isHealthy = this.isHealthy(last.machine, this.scheduler.now - last.startedAt + leaseMs)
    const isOpen = last.open > 0 && last.hasFailed !== true && last.endedAt === undefined
    if (isHealthy && this.isHealthy(request.machine, keyLeaseMs) && (isOpen || last.hasAnswered === true)) {
      this.violate('a key is served once', `${request.id} calls a vendor, as ${last.id} has`)
    }
  }
}
