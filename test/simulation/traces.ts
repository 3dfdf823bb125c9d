/** Compares what the stores answer, call by call in the order in which they carry them out, with the models of their contracts. */
import type { AdmissionEnd, AdmissionVerdict, SliceEnds, SliceWish } from '../../src/admission/contract.ts'
import type { CapClaim, CapState } from '../../src/money/caps/contract.ts'
import type { Hold, HoldVerdict, LedgerAccount, LedgerAudit, Settlement } from '../../src/money/ledger/contract.ts'
import type { LimitClaim, LimitReturn, LimitVerdict, RateRule } from '../../src/money/limits/contract.ts'
import { LedgerModel, measures, periodAt } from '../model/ledger-model.ts'
import { KeyModel, LimitModel, requireSame, TaskModel } from '../model/store-models.ts'
import type { Done } from './connections.ts'
import type { Machine } from './scheduler.ts'
import { SliceTraces } from './slice-traces.ts'

export class Traces {
  readonly ledger = new LedgerModel()
  readonly limits = new LimitModel()
  readonly keys = new KeyModel()
  readonly tasks = new TaskModel()
  readonly slices = new SliceTraces(this.ledger, this.limits)
  /** The verdicts on holds and claims, by the id of the request. */
  readonly refusals = new Map<string, Set<string>>()

  /** Tokens drawn from the rates, by the id of the request. */
  readonly drawn = new Map<string, number>()

  /** Throws if the contract does not allow the answer. */
  follow({ method, given, answer, by }: Done, now: number): void {
    const { ledger, limits, keys, tasks } = this
    const [first, second, third] = given as [never, never, never]
    switch (method) {
      case 'ledger.hold':
        return this.#hold(first, answer as HoldVerdict, now)
      case 'ledger.settle':
        return requireSame(answer, ledger.settle(first, now), `the verdict on ${this.#name(first)}`)
      case 'ledger.release':
        return ledger.release(first, now)
      case 'ledger.renew':
        return ledger.renew(first, second, now)
      case 'ledger.credit':
        return requireSame((answer as HoldVerdict).outcome, ledger.credit(first), 'the outcome of a credit')
      case 'ledger.open':
        return this.#open(first)
      case 'ledger.account':
        return this.#account(first, answer as LedgerAccount | undefined, now)
      case 'ledger.audit':
        return this.audited(answer as LedgerAudit, now)
      case 'caps.read':
        return this.#current(first, answer as CapState[], now, true)
      case 'caps.override':
        return ledger.override(first)
      case 'limits.take':
        return this.#take(first, answer as LimitVerdict, now)
      case 'limits.give':
        return this.#give(first, now)
      case 'limits.renew':
        return limits.renew(first, second, now)
      case 'admission.admit':
        this.#admit(first, second, answer as AdmissionVerdict, now)
        return this.#drawAhead(first, second, third, answer as AdmissionVerdict, by, now)
      case 'admission.finish':
        if (second !== undefined) this.#endSlices(second, by, now)
        return this.#finish(first, now)
      case 'idempotency.begin':
        return requireSame(answer, keys.begin(first, now, answer as never), 'the state of an idempotency key')
      case 'idempotency.finish':
        return keys.finish(first, now)
      case 'idempotency.forget':
        return keys.forget(first)
      case 'tasks.insert':
        return tasks.insert(first, answer as never)
      case 'tasks.find':
        return tasks.find(first, second, third, answer as never)
      case 'tasks.replace':
        return tasks.replace(first, answer as never)
      case 'tasks.claim':
        return tasks.claim(first, answer as never)
    }
  }

  /** The books: credits = balance + holds + settlements, for each account and in sum. */
  audited({ faults, credits, balances, holds, settlements }: LedgerAudit, now: number): void {
    const { ledger } = this
    ledger.expire(now)
    requireSame(faults, [], 'the faults of an audit')
    const sums = { credits: 0n, balances: 0n, holds: 0n, settlements: 0n }
    for (const account of ledger.accounts) {
      sums.credits += ledger.credited(account)
      sums.balances += ledger.balance(account)
      sums.holds += ledger.held(account)
      sums.settlements += ledger.settled(account)
    }
    requireSame({ credits, balances, holds, settlements }, sums, 'an audit')
  }

  #name({ id }: Settlement): string {
    return `the settlement of ${id}`
  }

  #hold(hold: Hold, verdict: HoldVerdict, now: number): void {
    const isRepeated = this.ledger.holds.has(hold.id)
    requireSame(verdict.outcome, this.ledger.hold(hold, now), `the outcome of the hold ${hold.id} of ${hold.amount}`)
    if (verdict.outcome === 'insufficient' || verdict.outcome === 'capped') this.#refuse(hold.id, verdict.outcome)
    const [claims, states] = [hold.caps ?? [], verdict.caps ?? []]
    if (isRepeated) this.#states(claims, states, now, false)
    else this.#current(claims, states, now, false)
    // Expired holds may still be subtracted, because stores look for them only where they matter.
    const most = this.ledger.balance(hold.account)
    if (verdict.balance > most) throw new Error(`the balance is ${verdict.balance}, and should be at most ${most}`)
  }

  /** States in the periods of this moment. */
  #current(claims: readonly CapClaim[], states: readonly CapState[], now: number, isExact: boolean): void {
    for (const [at, { name, start }] of states.entries()) {
      requireSame(start, periodAt(claims[at] as CapClaim, now).start, `the period of ${name}`)
    }
    this.#states(claims, states, now, isExact)
  }

  #states(claims: readonly CapClaim[], states: readonly CapState[], now: number, isExact: boolean): void {
    for (const { name, window, start, settled, held, limits } of states) {
      const claim = claims.find((each) => each.name === name && each.window === window) as CapClaim
      const used = this.ledger.used(claim, now, start)
      const inForce = this.ledger.limitsOf(claim, now)
      requireSame(limits, inForce, `the limits of ${name}`)
      requireSame(settled, used.settled, `what is settled of ${name}`)
      const more = held.calls - used.held.calls
      const calls = more > 0n && more <= this.slices.emptied ? used.held.calls : held.calls
      if (isExact) requireSame({ ...held, calls }, used.held, `what is held of ${name}`)
      for (const measure of measures) {
        if (held[measure] < used.held[measure]) throw new Error(`${name} does not count an open hold`)
      }
    }
  }

  #open({ id, unlimited }: { readonly id: string; readonly unlimited?: boolean }): void {
    this.ledger.accounts.add(id)
    if (unlimited === true) this.ledger.unlimited.add(id)
    else if (unlimited === false) this.ledger.unlimited.delete(id)
  }

  #account(id: string, account: LedgerAccount | undefined, now: number): void {
    this.ledger.expire(now)
    if (account === undefined) return requireSame(this.ledger.accounts.has(id), false, 'whether an account exists')
    requireSame(account.balance, this.ledger.balance(id), `the balance of ${id}`)
    requireSame(account.held, this.ledger.held(id), `what is held of ${id}`)
  }

  #take(claim: LimitClaim, verdict: LimitVerdict, now: number, isDrawn: boolean = verdict.admitted): void {
    const { admitted } = verdict
    const expected = this.limits.take(claim, now, isDrawn)
    if (expected !== undefined) requireSame(admitted, expected, `whether the limits admit ${claim.id}`)
    this.limits.requireLeft(claim, verdict, isDrawn, now)
    if (!admitted) this.#refuse(claim.id, 'limited')
    if (!isDrawn) return
    this.#draw(claim.id, claim.rates)
    this.slices.admitted(claim, now)
  }

  #give(returned: LimitReturn, now: number): void {
    this.limits.give(returned, now)
    this.slices.corrected(returned.corrections, now)
    this.#draw(returned.id, returned.corrections)
  }

  #draw(id: string, rules: readonly RateRule[]): void {
    const tokens = rules.filter(({ bucket }) => bucket.endsWith('tokens')).reduce((sum, { cost }) => sum + cost, 0)
    this.drawn.set(id, (this.drawn.get(id) ?? 0) + tokens)
  }

  #admit(claim: LimitClaim, hold: Hold, verdict: AdmissionVerdict, now: number): void {
    this.#take(claim, verdict.limits, now, verdict.limits.admitted && verdict.hold?.outcome === 'held')
    if (verdict.hold !== undefined) this.#hold(hold, verdict.hold, now)
    else requireSame(verdict.limits.admitted, false, 'whether limits refuse a call without a hold')
  }

  #drawAhead(
    claim: LimitClaim,
    hold: Hold,
    slice: SliceWish | undefined,
    { ahead = 0 }: AdmissionVerdict,
    by: Machine,
    now: number,
  ): void {
    if (ahead === 0) return
    if (slice === undefined || ahead > slice.calls) throw new Error(`${ahead} calls are drawn for, of ${slice?.calls}`)
    this.slices.draw(slice, ahead, claim, hold, by, now)
  }

  #endSlices({ draws, returns }: SliceEnds, by: Machine, now: number): void {
    for (const draw of draws) {
      if (this.slices.move(draw, by, now)) this.#draw(draw.claim.id, draw.claim.rates)
    }
    for (const each of returns) this.slices.end(each, now)
  }

  #finish(endings: readonly AdmissionEnd[], now: number): void {
    for (const { returned, end } of endings) {
      if (end !== undefined) this.slices.ended(end.id)
      if (returned !== undefined) this.#give(returned, now)
      if (end?.amount !== undefined) this.ledger.settle(end as Settlement, now)
      else if (end !== undefined) this.ledger.release(end, now)
    }
  }

  #refuse(id: string, why: string): void {
    const known = this.refusals.get(id)
    if (known === undefined) this.refusals.set(id, new Set([why]))
    else known.add(why)
  }
}
