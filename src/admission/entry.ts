import type { Caller } from '../callers/contract.ts'
import type { HoldVerdict } from '../money/ledger/contract.ts'
import { GatewayError } from '../errors.ts'
import { ignore } from '../http/ignore.ts'
import { limitHeaders } from '../money/limits/headers.ts'
import { refusalOf, tooManyAtOnce, tooManyRequests } from '../money/limits/refusal.ts'
import { modelScope, type Scope } from './scopes.ts'
import type { Model } from '../models/contract.ts'
import type { CountersVerdict } from './counters.ts'
import { isUnasked } from '../records/guard.ts'
import type { AdmissionServices } from './services.ts'
import { requestClaim } from './demand.ts'
import { admissionRequest, demandOf } from './request-demand.ts'
import type { Sizing } from './estimate.ts'
import type { SizedRequest } from './prompt.ts'
import { Ticket } from './ticket.ts'

/** Milliseconds to wait for a place that this process is returning. */
const placeWaitMs = 1_000

/** The admission of one request, from authentication to its end. */
export class Entry {
  readonly id: string
  readonly caller: Caller
  readonly #admission: AdmissionServices
  #scopes: readonly Scope[]
  /** Scopes of which the request has taken a place in this process. */
  readonly #entered: string[] = []
  #counted = false
  #askedAt = 0
  #over = false

  /** Throws a 429 if this process knows that a limit is reached. */
  constructor(admission: AdmissionServices, id: string, caller: Caller, scopes: readonly Scope[]) {
    this.#admission = admission
    this.id = id
    this.caller = caller
    this.#scopes = scopes
    for (const { request } of scopes) {
      const waitMs = request === undefined ? 0 : admission.reached.waitMs(request.rule.bucket)
      if (request !== undefined && waitMs > 0) throw tooManyRequests(request, waitMs)
    }
    for (const { name, owner, limits } of scopes) {
      if (limits.concurrent === undefined) continue
      if (!admission.reached.enter(name, limits.concurrent)) {
        this.leave()
        throw tooManyAtOnce(limits.concurrent, owner)
      }
      this.#entered.push(name)
    }
  }

  /**
   * Draws from the limits and holds the maximum cost, in one step. Throws or rejects with a 429 or 503. Without an order,
   * only the limits are drawn and nothing is held: video tasks hold their cost themselves.
   */
  admit(endpoint: Sizing, read: SizedRequest | undefined, model: Model): Ticket | Promise<Ticket> {
    const admission = this.#admission
    const { id, caller } = this
    const scope = modelScope(model, caller)
    if (scope !== undefined) this.#scopes = [...this.#scopes, scope]
    const request = admissionRequest(admission, { id, caller, scopes: this.#scopes }, endpoint, read, model)
    const demand = demandOf(admission, request, endpoint, read !== undefined)
    admission.requireQueueRoom(demand.hold !== undefined)
    const ticket = new Ticket(admission, this, model, demand)
    if (demand.claim === undefined && demand.hold === undefined) return this.#admitted(ticket)
    return this.#ask(ticket)
  }

  /** Ends the admission. A request that ended before `admit` is counted now. Further calls do nothing. */
  leave(): void {
    if (this.#over) return
    this.#over = true
    for (const name of this.#entered) this.#admission.reached.leave(name)
    if (!this.#counted) this.#count()
  }

  #ask(ticket: Ticket): Ticket | Promise<Ticket> {
    const { claim, hold } = ticket.demand
    this.#askedAt = this.#admission.reached.asks()
    const answer = this.#admission.counters.admit(claim, hold)
    const isFinal = !(answer instanceof Promise) && !this.#lacksMoney(answer)
    return isFinal ? this.#judge(answer, ticket) : this.#wait(answer, ticket)
  }

  async #wait(answer: CountersVerdict | Promise<CountersVerdict>, ticket: Ticket): Promise<Ticket> {
    const { counters, settlements, expiry } = this.#admission
    const { claim, hold } = ticket.demand
    const since = performance.now()
    let given: CountersVerdict
    try {
      given = await answer
      if (this.#lacksMoney(given) && (await expiry?.renews(this.caller.account)))
        given = await counters.admit(claim, hold)
      if (settlements.areReturning && (await this.#admission.mayFit(claim, hold, given))) {
        await settlements.returned(placeWaitMs)
        given = await counters.admit(claim, hold)
      }
      given = await this.#admission.retried({ claim, hold }, since, given, () => counters.admit(claim, hold))
    } catch (error) {
      // The store may have drawn the claim although the call failed, so it is given back.
      if (!isUnasked(error)) ticket.abandon()
      throw error
    }
    return this.#judge(given, ticket)
  }

  #lacksMoney({ hold }: CountersVerdict): boolean {
    return hold?.outcome === 'insufficient' && this.#admission.expiry !== undefined
  }

  #judge({ limits, hold, local = false, doubtful = false }: CountersVerdict, ticket: Ticket): Ticket {
    const { claim, rates } = ticket.demand
    if (doubtful) ticket.abandonPlaces()
    ticket.local = local
    if (limits !== undefined && claim !== undefined) {
      // Counts of this process say nothing about the state of the limit store.
      if (!local) this.#admission.reached.learn(rates, limits, this.#askedAt)
      if (!limits.admitted) {
        this.#counted = true
        throw refusalOf(claim, rates, limits)
      }
      ticket.headers = limitHeaders(rates, limits)
    }
    if (hold !== undefined && hold.outcome !== 'held') throw this.#refusal(hold, ticket)
    ticket.limits = limits
    ticket.held = hold
    return this.#admitted(ticket)
  }

  #refusal(verdict: HoldVerdict, { demand: { hold, caps } }: Ticket): GatewayError {
    if (verdict.outcome !== 'capped' || hold === undefined) return new GatewayError('insufficient_quota')
    return this.#admission.caps.refusal(caps, verdict, hold)
  }

  #admitted(ticket: Ticket): Ticket {
    this.#counted = true
    ticket.begin()
    return ticket
  }

  #count(): void {
    const { counters, reached } = this.#admission
    const demand = requestClaim(this.id, this.#scopes)
    if (demand === undefined) return
    const askedAt = reached.asks()
    const learn = ({ limits, local }: CountersVerdict) =>
      limits && !local && reached.learn(demand.rates, limits, askedAt)
    // The request is rejected anyway, so a failed count does not matter, nor one that is not what a store must return.
    try {
      const answer = counters.admit(demand.claim, undefined)
      if (answer instanceof Promise) answer.then(learn).catch(ignore)
      else learn(answer)
    } catch {}
  }
}
