import type { Caller } from '../callers/contract.ts'
import type { Hold } from '../money/ledger/contract.ts'
import type { BillingOptions } from '../money/options.ts'
import type { Units } from '../wire/units.ts'
import type { LimitClaim, PlaceRule, RateRule } from '../money/limits/contract.ts'
import type { Measured } from '../money/limits/headers.ts'
import type { LimitOptions } from '../money/limits/options.ts'
import type { CallerCap } from './caps.ts'
import type { Speeds } from './hidden-tokens.ts'
import type { Scope } from './scopes.ts'
import { highestCost, unstatedLength } from './highest-cost.ts'
import type { Model } from '../models/contract.ts'
import type { Estimate, EstimatedRequest } from './estimate.ts'
import type { UsageBounds } from './plausible-usage.ts'

/** What a request must draw from limits and ledger before the vendor is called. Absent parts are not needed. */
export interface Demand {
  readonly claim: LimitClaim | undefined
  /** The rates of the claim and what they count. */
  readonly rates: readonly Measured[]
  readonly hold: Hold | undefined
  /** Upper bound of the request's usage. */
  readonly bounds: UsageBounds
  /** Expected tokens of the prompt. */
  readonly promptTokens: number
  /** See `PromptEstimate`. */
  readonly hasFiles: boolean
  /** Set if the vendor may bill output that the client does not see. */
  readonly hidden?: HiddenOutput | undefined
  /** Units that are charged if the client disconnects before the response, because the vendor may have produced them. */
  readonly requestedUnits?: Units | undefined
  /** Token limit per choice to send to the vendor. */
  readonly cap?: number | undefined
  /** The caps of the hold, in the order of its claims. */
  readonly caps: readonly CallerCap[]
  /** The factor on prices at admission. */
  readonly multiplier: bigint
}

/** Output that is charged by the time that the vendor took, if the client disconnects and the vendor's count stays unknown. */
export interface HiddenOutput {
  /** Tokens in a second. */
  readonly speedOf: (deployment: Parameters<Speeds['of']>[0]) => number
  /** Upper bound of the tokens: those that are held. */
  readonly mostTokens: number
}

/** A request that is to be admitted. */
export interface AdmissionRequest extends EstimatedRequest {
  readonly id: string
  readonly caller: Caller
  readonly scopes: readonly Scope[]
  readonly leaseMs: number
}

export function claimOf(
  { id, scopes, estimate, model, leaseMs }: AdmissionRequest,
  options: LimitOptions,
): Pick<Demand, 'claim' | 'rates'> {
  if (scopes.length === 0) return { claim: undefined, rates: [] }
  const rates: Measured[] = []
  const places: PlaceRule[] = []
  for (const { limits, owner, request, place, tokens: bucket } of scopes) {
    const { tokens } = limits
    if (request !== undefined) rates.push(request)
    if (tokens !== undefined) {
      const { limit, periodMs, burst } = tokens
      const cost = tokensOf(estimate, model, burst, options)
      rates.push({ measure: 'tokens', rule: { bucket, limit, periodMs, burst, cost }, owner })
    }
    if (place !== undefined) places.push(place)
  }
  return { claim: { id, rates: rates.map(ruleOf), places, leaseMs }, rates }
}

/** A claim that counts only the request. */
export function requestClaim(id: string, scopes: readonly Scope[]): Pick<Demand, 'claim' | 'rates'> | undefined {
  const rates = scopes.flatMap(({ request }) => request ?? [])
  if (rates.length === 0) return undefined
  return { claim: { id, rates: rates.map(ruleOf), places: [], leaseMs: 1 }, rates }
}

function ruleOf({ rule }: Measured): RateRule {
  return rule
}

/** Prompt and completion tokens. If the request states no length, the default length, reduced to fit the bucket. */
function tokensOf(estimate: Estimate, model: Model, burst: number, options: LimitOptions): number {
  const { promptTokens, outputTokens, choices, writes } = estimate
  if (!writes) return promptTokens
  if (outputTokens !== undefined) return promptTokens + outputTokens
  const expected = unstatedLength(model, options) * choices
  return promptTokens + Math.max(0, Math.min(expected, burst - promptTokens))
}

/** The maximum cost of the request; at least one micro-unit unless it is free, so that an empty account is rejected. */
export function holdOf(
  request: AdmissionRequest,
  multiplier: bigint,
  options: Partial<BillingOptions>,
  capped?: Pick<Hold, 'caps' | 'tokens'>,
): Hold | undefined {
  const { id, caller, leaseMs } = request
  const amount = highestCost(request, multiplier, options)
  const hold = { id, account: caller.account, amount, leaseMs }
  if (capped !== undefined) return { ...hold, ...capped }
  return amount === 0n ? undefined : hold
}

/** The token limit per choice that keeps the cost within the hold; undefined if the vendor needs none. */
export function capOf({ estimate, model }: AdmissionRequest, options: Partial<BillingOptions>): number | undefined {
  const enforced = options.defaults?.enforce === true && estimate.writes && estimate.outputTokens === undefined
  return enforced ? Math.max(1, unstatedLength(model, options.defaults)) : undefined
}
