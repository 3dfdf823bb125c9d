import type { Cap, ScopedCap } from '../records/cap.ts'
import type { Hold, HoldVerdict, Ledger, Settlement } from '../money/ledger/contract.ts'
import type { BillingOptions } from '../money/options.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Groups } from '../models/group-fields.ts'
import { boundedBy, needsBound } from './upper-bounds.ts'
import { capRefusal } from './cap-refusal.ts'
import { callerCaps, claimsOf, type CallerCap, type CappedCaller } from './caps.ts'
import { capOf, holdOf, type AdmissionRequest } from './demand.ts'
import { balanceThresholdsOf, chargesOf, type CapPeriodLimits } from './alert-thresholds.ts'

export interface CapHoldsOptions {
  readonly groups: Groups
  readonly billing: Partial<BillingOptions>
  readonly ledger?: Ledger | undefined
  /** Milliseconds since the epoch. */
  readonly time: () => number
}

const nothing = {}

/** A hold, and the token limit per choice to send to the vendor. */
export interface CappedHold {
  readonly hold: Hold | undefined
  readonly cap: number | undefined
}

/** The caps of calls: what a hold claims, how it is refused, and what its settlement counts. */
export class CapHolds {
  readonly #options: CapHoldsOptions
  readonly #forAll: readonly ScopedCap[] | undefined

  constructor(options: CapHoldsOptions) {
    this.#options = options
    this.#forAll = options.billing.caps
  }

  /** The caps that apply to a caller. Throws a 503 if it has caps that the ledger cannot count. */
  of(caller: CappedCaller, model?: string): readonly CallerCap[] {
    const { groups, ledger } = this.#options
    const caps = callerCaps(caller, model, groups, this.#forAll)
    if (caps.length === 0 || ledger?.caps !== undefined) return caps
    const cause = new TypeError('a caller has caps, but there is no ledger with caps: set "billing" and its storage')
    throw new GatewayError('service_unavailable', { cause })
  }

  /** Throws a 400 if a key of the group cannot have these caps. */
  requireUsable(caps: readonly Cap[] | null | undefined, group: string): void {
    if (caps === undefined || caps === null || caps.length === 0) return
    const { groups, ledger, billing } = this.#options
    if (ledger?.caps === undefined) throw invalid('Caps need the option "billing" and a ledger with caps.', 'caps')
    const others = [...(billing.caps ?? []), ...(groups[group]?.caps ?? [])]
    const twice = caps.find(({ name }) => others.some((other) => other.name === name))
    if (twice === undefined) return
    throw invalid(`The name "${twice.name}" is used by another cap of the same callers.`, 'caps')
  }

  /** The hold of a request with caps. Throws a 400 if its use cannot be bounded. */
  hold(caps: readonly CallerCap[], request: AdmissionRequest, multiplier: bigint): CappedHold {
    const { billing } = this.#options
    const claims = this.claims(caps)
    if (!needsBound(caps)) {
      return { hold: holdOf(request, multiplier, billing, { caps: claims }), cap: capOf(request, billing) }
    }
    const { estimate, tokens, cap, options } = boundedBy(caps, request, billing)
    const counted = { caps: claims, tokens: BigInt(Math.ceil(tokens)) }
    return { hold: holdOf({ ...request, estimate }, multiplier, options, counted), cap }
  }

  claims(caps: readonly CallerCap[]): NonNullable<Hold['caps']> {
    return claimsOf(caps, this.#options.time())
  }

  refusal(caps: readonly CallerCap[], verdict: Pick<HoldVerdict, 'caps'>, hold: Hold): GatewayError {
    const { time, billing } = this.#options
    return capRefusal(caps, verdict.caps ?? [], hold, time(), billing.currency ?? '')
  }

  /** What a settlement counts, and the alerts that it may record. */
  counted(
    id: string,
    caps: readonly CallerCap[],
    states: readonly CapPeriodLimits[] | undefined,
    caller: CappedCaller,
    tokens: number,
  ): Pick<Settlement, 'caps' | 'tokens' | 'balanceThresholds'> {
    if (states === undefined && this.#options.billing.lowBalance === undefined) return nothing
    const balanceThresholds = balanceThresholdsOf(this.#options.billing.lowBalance, id)
    return {
      ...(balanceThresholds !== undefined && { balanceThresholds }),
      ...(states !== undefined && { caps: chargesOf(caps, states, caller), tokens: BigInt(Math.ceil(tokens)) }),
    }
  }
}
