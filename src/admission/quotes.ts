import type { Caller } from '../callers/contract.ts'
import { GatewayError } from '../errors.ts'
import type { Model } from '../models/contract.ts'
import { capFits } from '../money/caps/period.ts'
import type { Hold, Ledger } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import { Guard } from '../records/guard.ts'
import type { CallerCap } from './caps.ts'
import type { Sizing } from './estimate.ts'
import type { SizedRequest } from './prompt.ts'
import { quoteOf, type Quote } from './quote.ts'
import { admissionRequest, demandOf } from './request-demand.ts'
import type { AdmissionServices } from './services.ts'

/** A request whose cost is asked for. */
export interface QuotedRequest {
  readonly id: string
  readonly caller: Caller
  readonly endpoint: Sizing & { readonly name: string }
  readonly order: SizedRequest
  readonly model: Model
}

/** Why a call would be rejected now. */
export interface QuotedRefusal {
  readonly type: 'balance' | 'cap'
  /** The name of the cap. */
  readonly cap?: string
  readonly message: string
}

/** What a request may cost, what it would hold, and what refuses it. */
export interface HeldQuote extends Quote {
  /** Undefined without billing. */
  readonly currency: string | undefined
  /** A decimal string. */
  readonly held: string
  readonly refusals: readonly QuotedRefusal[]
}

/** Says what requests may cost. Reads balances and caps, and takes nothing. */
export class Quotes {
  readonly #admission: AdmissionServices
  readonly #guard: Guard

  constructor(admission: AdmissionServices) {
    this.#admission = admission
    const { timeoutMs, now, observer } = admission.options
    this.#guard = new Guard({ name: 'the ledger', timeoutMs, now, failed: observer.storeFailed })
  }

  /** Rejects as the call itself would: with 400 for what has no price or cannot be bounded, with 503 if the ledger fails. */
  async of({ id, caller, endpoint, order, model }: QuotedRequest): Promise<HeldQuote> {
    const admission = this.#admission
    const { ledger, billing } = admission.options
    const request = admissionRequest(admission, { id, caller, scopes: [] }, endpoint, order, model)
    const demand = demandOf(admission, request, endpoint, true)
    const { hold, caps } = demand
    // Without a ledger nothing is charged.
    const multiplier = ledger === undefined ? 0n : demand.multiplier
    const usualTokens = admission.usualTokens.of(endpoint.name, model.id)
    return {
      ...quoteOf(request, demand, endpoint, { billing, multiplier, usualTokens }),
      currency: ledger && billing.currency,
      held: formatMoney(hold?.amount ?? 0n),
      refusals: ledger === undefined || hold === undefined ? [] : await this.#refusals(ledger, hold, caps),
    }
  }

  async #refusals(ledger: Ledger, hold: Hold, caps: readonly CallerCap[]): Promise<QuotedRefusal[]> {
    const { amount, account, tokens = 0n } = hold
    const found: QuotedRefusal[] = []
    const known = await this.#guard.call(() => ledger.account(account))
    const isShort = known === undefined || (known.balance < amount && !known.unlimited)
    const isFree = amount === 0n && caps.length > 0
    if (isShort && !isFree) found.push({ type: 'balance', message: new GatewayError('insufficient_quota').message })
    if (caps.length === 0) return found
    const states = (await this.#guard.call(() => ledger.caps?.read(hold.caps ?? []))) ?? []
    for (const [index, state] of states.entries()) {
      const cap = caps[index]
      if (cap === undefined || capFits(state, { money: amount, tokens, calls: 1n })) continue
      const { message } = this.#admission.caps.refusal([cap], { caps: [state] }, hold)
      found.push({ type: 'cap', cap: cap.cap.name, message })
    }
    return found
  }
}
