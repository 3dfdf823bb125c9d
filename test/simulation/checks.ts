/** What must be true of a history: after each step, at rest, and at its end. */
import type { AdmissionVerdict } from '../../src/admission/contract.ts'
import type { Hold, HoldVerdict } from '../../src/money/ledger/contract.ts'
import type { TaskRecord } from '../../src/tasks/contract.ts'
import { fromRecord } from '../../src/tasks/stored.ts'
import type { VideoTask } from '../../src/tasks/task.ts'
import type { Plan } from './plan.ts'
import { Violation, type Job, type Request } from './request.ts'
import type { Machine, Scheduler } from './scheduler.ts'
import type { Done } from './connections.ts'
import { Traces } from './traces.ts'
import type { Script } from './vendor.ts'

/** Leases in seconds of virtual time: shorter than by default, so that histories are. */
export const leaseMs = 15_000
export const keyLeaseMs = 10_000
/** Within this time after its last disturbance a healthy process has told the stores what has ended. */
const promptMs = 4_000

interface Ended {
  readonly request: Request
  readonly held: bigint
}

export class Checks {
  readonly traces = new Traces()
  readonly requests = new Map<string, Request>()
  readonly jobs: Job[] = []
  readonly reconciled = new Set<string>()
  readonly #plan: Plan
  readonly #scheduler: Scheduler
  readonly #server: Machine
  readonly #disturbed = new Map<Machine, number>()
  /** When a call of a store last failed. */
  readonly #failed = new Map<Machine, number>()
  /** The last call of a vendor for each key. */
  readonly #served = new Map<string, Request>()
  /** Of a call whose hold was refused last: what it lacked, and the holds of calls that had ended. */
  readonly #lacking = new Map<string, { readonly missing: bigint; readonly ended: readonly Ended[] }>()
  #jumpedAt = -Infinity
  #violation: Violation | undefined

  constructor(plan: Plan, scheduler: Scheduler, server: Machine) {
    this.#plan = plan
    this.#scheduler = scheduler
    this.#server = server
  }

  get violation(): Violation | undefined {
    return this.#violation
  }

  violate(invariant: string, message: string): void {
    this.#violation ??= new Violation(invariant, message)
  }

  /** A fault has touched a machine, whose effects may last for `ms`. */
  disturb(machine: Machine, ms: number = 0): void {
    const until = this.#scheduler.now + ms
    this.#disturbed.set(machine, Math.max(until, this.#disturbed.get(machine) ?? 0))
  }

  /** A call of a store fails. */
  fail(machine: Machine, ms: number): void {
    this.#failed.set(machine, this.#scheduler.now + ms)
    this.disturb(machine, ms)
  }

  /** Whether nothing has disturbed the machine in the last `ms`. */
  isHealthy(machine: Machine, ms: number): boolean {
    const last = Math.max(this.#disturbed.get(machine) ?? -Infinity, machine.pausedUntil || -Infinity)
    return !machine.isDead && last + ms < this.#scheduler.now
  }

  observe(done: Done): void {
    const now = this.#scheduler.clockOf(this.#server)
    try {
      this.traces.follow(done, now)
    } catch (error) {
      if (error instanceof Violation) this.#violation ??= error
      return this.violate('the stores keep their contracts', `${done.method}: ${(error as Error).message}`)
    }
    if (done.method === 'ledger.hold') this.#held(done.given[0] as never, done.answer as never)
    if (done.method === 'admission.admit') this.#held(done.given[1] as never, (done.answer as AdmissionVerdict).hold)
    if (done.method === 'ledger.settle') this.#settled((done.given[0] as unknown as Hold).id)
    if (done.method === 'admission.finish') {
      for (const { end } of done.given[0] as unknown as { end?: Hold }[]) if (end !== undefined) this.#settled(end.id)
    }
  }

  /** A vendor is called. */
  vendorCalled(id: string, machine: Machine, { account, key, maxTokens }: Script): void {
    const request = this.#of(id, machine)
    request.open++
    if (key !== undefined) this.#keyUsed(`${account} ${key}`, request)
    const now = this.#scheduler.clockOf(this.#server)
    const most = BigInt(maxTokens)
    const isAhead = this.#isAhead(id, account, machine, most, now)
    if (!this.isHealthy(machine, leaseMs)) return
    if (!isAhead) this.#requireHeld(id, most, now)
    if (key !== undefined && this.traces.keys.holder({ account, key, route: 'chat.completions' }, now) !== id) {
      this.violate('a key is served once', `${id} calls a vendor and does not hold ${key}`)
    }
  }

  vendorEnded(id: string, machine: Machine, reported: bigint | undefined): void {
    const request = this.#of(id, machine)
    request.open--
    if (reported === undefined) request.hasFailed = true
    else request.reported = reported
  }

  receipt(id: string, machine: Machine, outcome: string, cost: bigint): void {
    const request = this.#of(id, machine)
    if (request.outcome !== undefined) this.violate('each call ends once', `${id} has two receipts`)
    Object.assign(request, { outcome, cost, endedAt: this.#scheduler.now })
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
    this.#of(id, machine).endedAt ??= this.#scheduler.now
  }

  /** The gateway gives up a charge, which it may only do if the ledger is down. */
  gaveUp(id: string, machine: Machine): void {
    this.#of(id, machine).unsettled = true
    if ((this.#failed.get(machine) ?? -Infinity) + 15_000 < this.#scheduler.now) {
      this.violate('each call is charged once', `${id} was given up although the ledger works`)
    }
  }

  /** The clock of the stores jumps: the leases of a machine may lapse, and rates are refilled earlier than it knows. */
  clockJumped(machine: Machine): void {
    this.#jumpedAt = this.#scheduler.now
    this.traces.slices.jump()
    this.disturb(machine, 60_000)
  }

  /**
   * Whether a process may refuse without asking: a rate is used up, but for what calls and slices are giving back; the process
   * counts alone while the store is down; or it cannot know that the rate was refilled.
   */
  mayRefuse(machine: Machine, account: string): boolean {
    const { now } = this.#scheduler
    const isAlone = this.#plan.whenDown === 'local' && (this.#failed.get(machine) ?? -Infinity) + 60_000 > now
    const isUsedUp = this.traces.limits.isDrained(
      account,
      this.#plan.isAmple ? 8.5 : 2.5,
      this.#scheduler.clockOf(this.#server),
    )
    return isUsedUp || isAlone || this.#jumpedAt + 60_000 > now
  }

  /** A client was refused with 429. `mayBeShared`: it may have waited for another request with its key, and got its answer. */
  limited(id: string, code: string, mayBeLocal: boolean, mayBeShared: boolean, sentAt: number): void {
    if (code === 'insufficient_quota' && !mayBeShared) this.#lackedBefore(id, sentAt)
    const { refusals } = this.traces
    const why = mayBeShared ? new Set([...refusals.values()].flatMap((each) => [...each])) : refusals.get(id)
    const isJust =
      code === 'insufficient_quota'
        ? why?.has('insufficient') === true || why?.has('capped') === true
        : why?.has('limited') === true || mayBeLocal
    if (!isJust) this.violate('no false refusal', `${id} was refused with ${code}, and no store has refused it`)
  }

  /** Holds and places whose call has ended long enough ago, and that nothing has ended. */
  requireNoLeaks(): void {
    const now = this.#scheduler.clockOf(this.#server)
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
    const now = this.#scheduler.clockOf(this.#server)
    this.traces.ledger.expire(now)
    for (const [id, { account }] of this.traces.ledger.holds) {
      if (this.requests.get(id)?.unsettled === true) continue
      this.violate('no hold outlives its call', `${id} of ${account} is still held`)
    }
    const [place] = this.traces.limits.held(now)
    if (place !== undefined) this.violate('no place outlives its call', place)
    for (const key of this.traces.keys.held(now)) this.violate('no key outlives its request', key)
    for (const request of this.requests.values()) this.#chargedOnce(request)
    const attempts = new Set([...this.traces.tasks.attempts.values()].flatMap((each) => [...each]))
    for (const [id, { kind }] of this.traces.ledger.ended) {
      if (kind === 'settle' && !this.requests.has(id) && !attempts.has(id)) {
        this.violate('each call is charged once', `${id} was charged, and is no call`)
      }
    }
    for (const record of this.traces.tasks.tasks.values()) this.#taskEnded(record)
    for (const { token } of this.jobs) {
      const jobs = this.jobs.filter((job) => job.token === token)
      // For a while after the clock of the stores has jumped, processes disagree about when a lease has ended.
      const isUnsure = jobs.some(({ at }) => at >= this.#jumpedAt && at <= this.#jumpedAt + 60_000)
      if (!isUnsure && jobs.length > (this.traces.tasks.attempts.get(token)?.size ?? 0))
        this.violate('a task is submitted at most once', `${token} has ${jobs.length} jobs`)
    }
  }

  /** After the longest lease, with no process left. */
  atEnd(): void {
    this.traces.ledger.expire(this.#scheduler.clockOf(this.#server))
    for (const [id] of this.traces.ledger.holds) this.violate('no hold without an owner', id)
  }

  #of(id: string, machine: Machine): Request {
    let request = this.requests.get(id)
    if (request === undefined) {
      request = { id, machine, startedAt: this.#scheduler.now, open: 0 }
      this.requests.set(id, request)
    }
    return request
  }

  /** Whether a slice of its process covers a call. */
  #isAhead(id: string, account: string, machine: Machine, most: bigint, now: number): boolean {
    try {
      return this.traces.slices.begin(id, account, machine, most, now)
    } catch (error) {
      this.#violation ??= error as Violation
      return true
    }
  }

  #requireHeld(id: string, most: bigint, now: number): void {
    const hold = this.traces.ledger.holds.get(id)
    if (hold === undefined || hold.until <= now) this.violate('no call begins without its hold', id)
    else if (hold.amounts.money < most)
      this.violate('a hold covers its call', `${id}: ${hold.amounts.money} of ${most}`)
    else if (hold.periods.length !== (this.#plan.caps ? 2 : 0)) this.violate('a hold counts for all its caps', id)
    if (this.#plan.whenDown === 'refuse' && !this.traces.limits.held(now).includes(id)) {
      this.violate('no call begins without its place', id)
    }
  }

  #isOver(id: string, healthyMs: number): boolean {
    const { endedAt = Infinity, open = 0, machine, unsettled } = this.requests.get(id) ?? {}
    if (open > 0 || unsettled === true || endedAt + promptMs > this.#scheduler.now) return false
    return machine !== undefined && this.isHealthy(machine, healthyMs)
  }

  /** No two requests with one key are served, unless the first has failed, or one of their processes. */
  #keyUsed(place: string, request: Request): void {
    const last = this.#served.get(place)
    this.#served.set(place, request)
    if (last === undefined || last.id === request.id) return
    const isHealthy = this.isHealthy(last.machine, this.#scheduler.now - last.startedAt + leaseMs)
    const isOpen = last.open > 0 && last.hasFailed !== true && last.endedAt === undefined
    if (isHealthy && this.isHealthy(request.machine, keyLeaseMs) && (isOpen || last.hasAnswered === true)) {
      this.violate('a key is served once', `${request.id} calls a vendor, as ${last.id} has`)
    }
  }

  #held({ id, account, amount }: Hold, verdict: HoldVerdict | undefined): void {
    this.#lacking.delete(id)
    if (verdict?.outcome !== 'insufficient') return
    const { ledger } = this.traces
    const ended = [...ledger.holds].flatMap(([hold, { account: payer, amounts }]) => {
      const request = this.requests.get(hold)
      return payer === account && request?.endedAt !== undefined ? { request, held: amounts.money } : []
    })
    this.#lacking.set(id, { missing: amount - ledger.balance(account), ended })
  }

  /** What had ended before a call was sent, whichever process it ended in, is there for it. */
  #lackedBefore(id: string, sentAt: number): void {
    const { missing, ended } = this.#lacking.get(id) ?? { missing: 1n, ended: [] }
    const back = ended.reduce((sum, { request: { endedAt = Infinity, machine, cost = 0n }, held }) => {
      return endedAt < sentAt && this.isHealthy(machine, promptMs) ? sum + held - cost : sum
    }, 0n)
    if (back > 0n && back >= missing) this.violate('no false refusal', `${id} was refused for what ended calls held`)
  }

  #settled(id: string): void {
    const ended = this.traces.ledger.ended.get(id)
    const request = this.requests.get(id)
    if (ended === undefined || request === undefined || ended.kind !== 'settle') return
    if (ended.overage > 0n && this.isHealthy(request.machine, this.#scheduler.now - request.startedAt + leaseMs)) {
      this.violate('a hold covers its call', `${id} was charged ${ended.overage} more than was held`)
    }
    const counts = this.#plan.caps ? { caps: 2, tokens: ended.amount } : { caps: 0, tokens: 0n }
    if (ended.periods.length !== counts.caps || ended.tokens !== counts.tokens) {
      this.violate(
        'a settlement counts for all its caps',
        `${id}: ${ended.periods.length} caps, ${ended.tokens} tokens`,
      )
    }
  }

  #chargedOnce({ id, machine, outcome, cost = 0n, reported, unsettled }: Request): void {
    const ended = this.traces.ledger.ended.get(id)
    const charged = ended?.amount ?? 0n
    if (unsettled === true) return
    // A process that was killed may not have come to settling. What it has settled is exact.
    const isLost = machine.isDead && ended === undefined
    if (outcome !== undefined && !isLost && charged !== cost) {
      this.violate('each call is charged once', `${id} ${outcome} for ${cost}, and was charged ${charged}`)
    }
    const most = reported ?? 0n
    if (outcome === undefined && charged > 0n) this.violate('each call is charged once', `${id} has no receipt`)
    const drawn = this.traces.drawn.get(id)
    const isUndisturbed = !machine.isDead && machine.pausedUntil === 0 && !this.#disturbed.has(machine)
    if (
      outcome === 'completed' &&
      isUndisturbed &&
      this.#plan.rate.tokens !== undefined &&
      drawn !== Number(reported)
    ) {
      this.violate('rates count what calls use', `${id} has drawn ${drawn} of ${reported}`)
    }
    if (outcome === 'completed' && cost !== most) this.violate('a call costs what its vendor reports', id)
  }

  #taskEnded(record: TaskRecord): void {
    const { id, data, dueAt } = fromRecord<VideoTask>(record)
    if (!data.settled || dueAt !== null) return this.violate('every task ends', `${id} is ${data.state}`)
    const jobs = this.jobs.filter(({ token }) => token === id)
    // One that was deleted may have been made anew: the jobs of both have its id.
    const job = jobs.length < (this.traces.tasks.attempts.get(id)?.size ?? 0) ? undefined : jobs[0]
    const ended = this.traces.ledger.ended.get(data.attempt)
    const cost = data.state === 'completed' || data.charged === true ? BigInt(data.held ?? 0) : 0n
    if ((ended?.amount ?? 0n) !== cost) {
      this.violate('each task is charged once', `${id} is ${data.state}: ${ended?.amount} of ${cost}`)
    }
    if (data.state === 'completed' && jobs.length === 0) this.violate('a completed task has a job', id)
    const isUnknown = data.error?.code === 'submission_unknown' || data.error?.code === 'expired'
    if (job !== undefined && data.operation === undefined && !isUnknown && data.state !== 'completed') {
      this.violate('no job is forgotten', `${id} is ${data.state} ${data.error?.code}, and has a job`)
    }
  }
}
