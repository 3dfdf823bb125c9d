/** One request between the door and the vendor: what it must pass. */
import type { Caller } from '../auth/contract.ts'
import type { Order } from '../endpoints/endpoint.ts'
import { GatewayError } from '../errors.ts'
import type { Verdict } from '../limits/contract.ts'
import { limitHeaders } from '../limits/headers.ts'
import { refusalOf, tooManyAtOnce, tooManyRequests } from '../limits/refusal.ts'
import { modelScope, type Scope } from '../limits/scopes.ts'
import type { Model } from '../models/contract.ts'
import type { Admission as Answer } from '../storage/contract.ts'
import type { Admission } from './admission.ts'
import { bucketOf, capOf, claimOf, holdOf, requestClaim } from './demand.ts'
import { estimate } from './estimate.ts'
import { Ticket } from './ticket.ts'

/** Milliseconds for which a place that is on its way back is waited for. */
const placeWaitMs = 1_000

export class Entry {
  readonly id: string
  readonly caller: Caller
  readonly #desk: Admission
  #scopes: readonly Scope[]
  /** Scopes of which it takes a place in this process. */
  readonly #entered: string[] = []
  #counted = false
  #over = false

  /** Throws 429 where this process knows enough. */
  constructor(desk: Admission, id: string, caller: Caller, scopes: readonly Scope[]) {
    this.#desk = desk
    this.id = id
    this.caller = caller
    this.#scopes = scopes
    for (const { name, limits } of scopes) {
      const waitMs = limits.requests === undefined ? 0 : desk.known.waitMs(bucketOf(name, 'requests'))
      if (waitMs > 0) throw tooManyRequests(waitMs)
    }
    for (const { name, limits } of scopes) {
      if (limits.concurrent === undefined) continue
      if (!desk.known.enter(name, limits.concurrent)) {
        this.leave()
        throw tooManyAtOnce(limits.concurrent)
      }
      this.#entered.push(name)
    }
  }

  /**
   * Takes what the call needs of limits and money, in one step. Throws, or rejects with, 429 or 503. Without an order only
   * the request itself is counted: what it comes to is somebody else's to hold.
   */
  admit(endpoint: string, order: Order<unknown> | undefined, model: Model): Ticket | Promise<Ticket> {
    const desk = this.#desk
    const { id, caller } = this
    const { ledger, billing, limitOptions } = desk.options
    const scope = modelScope(model, caller)
    if (scope !== undefined) this.#scopes = [...this.#scopes, scope]
    const asked = estimate(endpoint, order ?? nothing, model)
    const demanding = { id, caller, scopes: this.#scopes, model, asked, leaseMs: desk.leaseMs }
    const hold = ledger && order && holdOf(demanding, desk.ratioOf(caller.group), billing)
    const demand = { ...claimOf(demanding, limitOptions), hold, cap: hold && capOf(demanding, billing) }
    if (desk.overflowing) throw new GatewayError('service_unavailable', { retryAfterMs: 1_000 })
    const ticket = new Ticket(desk, this, model, demand)
    if (demand.claim === undefined && demand.hold === undefined) return this.#admitted(ticket)
    return this.#ask(ticket)
  }

  /** The request has ended. One that never got as far as the limits still counts. A second call does no harm. */
  leave(): void {
    if (this.#over) return
    this.#over = true
    for (const name of this.#entered) this.#desk.known.leave(name)
    if (!this.#counted) this.#count()
  }

  #ask(ticket: Ticket): Ticket | Promise<Ticket> {
    const { claim, hold } = ticket.demand
    try {
      const answer = this.#desk.counters.admit(claim, hold)
      return answer instanceof Promise ? this.#wait(answer, ticket) : this.#judge(answer, ticket)
    } catch (error) {
      return this.#withoutStore(error, ticket)
    }
  }

  async #wait(answer: Promise<Partial<Answer>>, ticket: Ticket): Promise<Ticket> {
    const { counters, endings } = this.#desk
    const { claim, hold } = ticket.demand
    try {
      const given = await answer
      if (!isFull(given.limits) || endings.size === 0) return this.#judge(given, ticket)
      await endings.idle(placeWaitMs)
      return this.#judge(await counters.admit(claim, hold), ticket)
    } catch (error) {
      if (GatewayError.is(error) && error.status === 429) throw error
      // Whether the store has taken it is not known: it is told that nobody wants it.
      ticket.abandon()
      return this.#withoutStore(error, ticket)
    }
  }

  /** With limits alone, a process may go on by itself; money is never spent on trust. */
  #withoutStore(error: unknown, ticket: Ticket): Ticket | Promise<Ticket> {
    const { local } = this.#desk
    const { claim, hold } = ticket.demand
    if (local === undefined || claim === undefined || hold !== undefined) throw error
    if (GatewayError.is(error) && error.status !== 503) throw error
    ticket.local = true
    return this.#judge({ limits: local.take(claim) as Verdict }, ticket)
  }

  #judge({ limits, hold }: Partial<Answer>, ticket: Ticket): Ticket {
    const { claim, rates } = ticket.demand
    if (limits !== undefined && claim !== undefined) {
      this.#desk.known.learn(rates, limits)
      if (!limits.admitted) {
        this.#counted = true
        throw refusalOf(claim, rates, limits)
      }
      ticket.headers = limitHeaders(rates, limits)
    }
    if (hold !== undefined && hold.outcome !== 'held') throw new GatewayError('insufficient_quota')
    return this.#admitted(ticket)
  }

  #admitted(ticket: Ticket): Ticket {
    this.#counted = true
    ticket.begin()
    return ticket
  }

  #count(): void {
    const { counters, known } = this.#desk
    const demand = requestClaim(this.id, this.#scopes)
    if (demand === undefined) return
    const learn = ({ limits }: Partial<Answer>) => limits && known.learn(demand.rates, limits)
    try {
      const answer = counters.admit(demand.claim, undefined)
      if (answer instanceof Promise) answer.then(learn, ignore)
      else learn(answer)
    } catch {
      // The request was refused anyway; a store that is down counts nothing.
    }
  }
}

/** Refused for want of a place, which may be on its way back from this very process. */
function isFull(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && !verdict.admitted && verdict.free.some((free) => free < 1)
}

const nothing = { promptTokens: 0, field: () => undefined }

function ignore(): void {}
