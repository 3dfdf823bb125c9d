import type { Caller } from '../auth/contract.ts'
import type { Hold } from '../billing/contract.ts'
import type { BillingOptions } from '../billing/options.ts'
import type { Price, Product } from '../billing/price.ts'
import type { Units } from '../billing/receipt.ts'
import { GatewayError } from '../errors.ts'
import type { LimitClaim, PlaceRule } from '../limits/contract.ts'
import type { Measured, Measure } from '../limits/headers.ts'
import type { LimitOptions } from '../limits/options.ts'
import type { Scope } from './scopes.ts'
import { uncharged } from '../models/charged.ts'
import type { Model } from '../models/contract.ts'
import type { Estimate } from './estimate.ts'
import type { Bounds } from './plausible.ts'

/** What a request must draw from limits and ledger before the vendor is called. Absent parts are not needed. */
export interface Demand {
  readonly claim: LimitClaim | undefined
  /** The rates of the claim and what they count. */
  readonly rates: readonly Measured[]
  readonly hold: Hold | undefined
  /** Upper bound of the request's usage. */
  readonly bounds: Bounds & { readonly choices: number }
  /** Units that are charged if the client disconnects before the response, because the vendor may have produced them. */
  readonly asked?: Units | undefined
  /** Token limit per choice to send to the vendor. */
  readonly cap?: number | undefined
}

export interface Demanding {
  readonly id: string
  readonly caller: Caller
  readonly scopes: readonly Scope[]
  readonly model: Model
  readonly asked: Estimate
  /** Absent if the endpoint is free. */
  readonly makes?: Product | undefined
  readonly leaseMs: number
}

/** Assumed for a request that states no length: output tokens, for limits and holds alike, and seconds of a recording. */
const usual = { outputTokens: 4_096, seconds: 60 }

export function claimOf(
  { id, scopes, asked, model, leaseMs }: Demanding,
  options: LimitOptions,
): Pick<Demand, 'claim' | 'rates'> {
  if (scopes.length === 0) return { claim: undefined, rates: [] }
  const rates: Measured[] = []
  const places: PlaceRule[] = []
  for (const { name, limits } of scopes) {
    const { requests, tokens, concurrent } = limits
    if (requests !== undefined) rates.push(measured(name, 'requests', { ...requests, cost: 1 }))
    if (tokens !== undefined) {
      rates.push(measured(name, 'tokens', { ...tokens, cost: tokensOf(asked, model, tokens.burst, options) }))
    }
    if (concurrent !== undefined) places.push({ bucket: `${name} places`, places: concurrent })
  }
  return { claim: { id, rates: rates.map(({ rule }) => rule), places, leaseMs }, rates }
}

/** A claim that counts only the request. */
export function requestClaim(id: string, scopes: readonly Scope[]): Pick<Demand, 'claim' | 'rates'> | undefined {
  const rates = scopes.flatMap(({ name, limits: { requests } }) =>
    requests === undefined ? [] : [measured(name, 'requests', { ...requests, cost: 1 })],
  )
  if (rates.length === 0) return undefined
  return { claim: { id, rates: rates.map(({ rule }) => rule), places: [], leaseMs: 1 }, rates }
}

/** Name of the bucket of one measure in a scope. */
export function bucketOf(scope: string, measure: Measure): string {
  return `${scope} ${measure}`
}

function measured(scope: string, measure: Measure, rule: Omit<Measured['rule'], 'bucket'>): Measured {
  return { measure, rule: { bucket: bucketOf(scope, measure), ...rule } }
}

/** Prompt and completion tokens. If the request states no length, the default length, reduced to fit the bucket. */
function tokensOf(asked: Estimate, model: Model, burst: number, options: LimitOptions): number {
  const { promptTokens, outputTokens, choices, writes } = asked
  if (!writes) return promptTokens
  if (outputTokens !== undefined) return promptTokens + outputTokens
  const expected = unstatedOf(model, options) * choices
  return promptTokens + Math.max(0, Math.min(expected, burst - promptTokens))
}

/** The maximum cost of the request; at least one micro-unit unless it is free, so that an empty account is rejected. */
export function holdOf(
  { id, caller, asked, makes, model, leaseMs }: Demanding,
  multiplier: bigint,
  options: Partial<BillingOptions>,
): Hold | undefined {
  const { seconds = usual.seconds } = options.defaults ?? {}
  const output = asked.outputTokens ?? mostUnstated(asked, model, options)
  const units = { seconds, ...asked.units }
  let amount = 0n
  for (const price of pricesOf(model, options)) {
    if (price === undefined || price.isZero || multiplier === 0n) continue
    if (makes !== undefined) requireChargedCall(model, price, makes)
    const bound = price.bound(asked.mostPromptTokens, output, units, multiplier)
    if (bound >= amount) amount = bound > 0n ? bound : 1n
  }
  return amount === 0n ? undefined : { id, account: caller.account, amount, leaseMs }
}

/** The token limit per choice that keeps the cost within the hold; undefined if the vendor needs none. */
export function capOf({ asked, model }: Demanding, options: Partial<BillingOptions>): number | undefined {
  const enforced = options.defaults?.enforce === true && asked.writes && asked.outputTokens === undefined
  return enforced ? Math.max(1, unstatedOf(model, options.defaults)) : undefined
}

/** Tokens to hold if the request states no length. */
function mostUnstated(
  { leastOutputTokens, choices }: Estimate,
  model: Model,
  options: Partial<BillingOptions>,
): number {
  const usually = unstatedOf(model, options.defaults) * choices
  return options.defaults?.enforce === true ? usually : Math.max(usually, leastOutputTokens)
}

/** Tokens assumed for one choice of unstated length. */
function unstatedOf({ maxOutputTokens = Infinity }: Model, options: { readonly outputTokens?: number } = {}): number {
  return Math.min(options.outputTokens ?? usual.outputTokens, maxOutputTokens)
}

/**
 * Throws a 503 if the price would not charge for this product. Checked per request, because for a provider of several
 * products the options do not say what a model makes.
 */
export function requireChargedCall({ id }: Model, price: Price, makes: Product): void {
  const fault = uncharged(price, makes)
  if (fault === undefined) return
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the price of the model "${id}" ${fault}.`) })
}

/** The prices that may apply: the model's, otherwise those of its deployments. */
function pricesOf(model: Model, { unpriced }: Partial<BillingOptions>): (Price | undefined)[] {
  if (model.price !== undefined) return [model.price]
  const prices = model.deployments.map((deployment) => deployment.price)
  if (unpriced === 'free' || !prices.includes(undefined)) return prices
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the model "${model.id}" has no price`) })
}
