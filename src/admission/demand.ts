/** What a call needs before it may be made: units of its limits, places, and money. */
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

/** Absent: nothing of the kind is needed. */
export interface Demand {
  readonly claim: LimitClaim | undefined
  /** The rates of the claim, with what they count. */
  readonly rates: readonly Measured[]
  readonly hold: Hold | undefined
  /** What the call can have used at most. */
  readonly bounds: Bounds & { readonly choices: number }
  /** What may have been made although its client left before the answer. */
  readonly asked?: Units | undefined
  /** Tokens of each choice that the vendor is told to stop at. */
  readonly cap?: number | undefined
}

export interface Demanding {
  readonly id: string
  readonly caller: Caller
  readonly scopes: readonly Scope[]
  readonly model: Model
  readonly asked: Estimate
  /** Absent where nothing is to be paid. */
  readonly makes?: Product | undefined
  readonly leaseMs: number
}

/** Tokens of an answer whose length the request leaves open, as the limits and the ledger take it. */
const usual = { limited: 1_024, held: 4_096, seconds: 60 }

export function claimOf(
  { id, scopes, asked, leaseMs }: Demanding,
  options: LimitOptions,
): Pick<Demand, 'claim' | 'rates'> {
  if (scopes.length === 0) return { claim: undefined, rates: [] }
  const rates: Measured[] = []
  const places: PlaceRule[] = []
  for (const { name, limits } of scopes) {
    const { requests, tokens, concurrent } = limits
    if (requests !== undefined) rates.push(measured(name, 'requests', { ...requests, cost: 1 }))
    if (tokens !== undefined) {
      rates.push(measured(name, 'tokens', { ...tokens, cost: tokensOf(asked, tokens.burst, options) }))
    }
    if (concurrent !== undefined) places.push({ bucket: `${name} places`, places: concurrent })
  }
  return { claim: { id, rates: rates.map(({ rule }) => rule), places, leaseMs }, rates }
}

/** One request, and nothing else. */
export function requestClaim(id: string, scopes: readonly Scope[]): Pick<Demand, 'claim' | 'rates'> | undefined {
  const rates = scopes.flatMap(({ name, limits: { requests } }) =>
    requests === undefined ? [] : [measured(name, 'requests', { ...requests, cost: 1 })],
  )
  if (rates.length === 0) return undefined
  return { claim: { id, rates: rates.map(({ rule }) => rule), places: [], leaseMs: 1 }, rates }
}

/** The counter of one measure in a scope. */
export function bucketOf(scope: string, measure: Measure): string {
  return `${scope} ${measure}`
}

function measured(scope: string, measure: Measure, rule: Omit<Measured['rule'], 'bucket'>): Measured {
  return { measure, rule: { bucket: bucketOf(scope, measure), ...rule } }
}

/** Question and answer. An answer of unstated length is taken to be as long as usual, and to fit the limit. */
function tokensOf({ promptTokens, outputTokens, choices, writes }: Estimate, burst: number, options: LimitOptions) {
  if (!writes) return promptTokens
  if (outputTokens !== undefined) return promptTokens + outputTokens
  const expected = (options.outputTokens ?? usual.limited) * choices
  return promptTokens + Math.max(0, Math.min(expected, burst - promptTokens))
}

/** The most that the call can cost; at least one micro-unit if it may cost anything, so that an empty account gets nothing. */
export function holdOf(
  { id, caller, asked, makes, model, leaseMs }: Demanding,
  ratio: bigint,
  options: BillingOptions,
): Hold | undefined {
  const { seconds = usual.seconds } = options.defaults ?? {}
  const output = asked.outputTokens ?? mostUnstated(asked, model, options)
  const units = { seconds, ...asked.units }
  let amount = 0n
  for (const price of pricesOf(model, options)) {
    if (price === undefined || price.isZero || ratio === 0n) continue
    if (makes !== undefined) requireChargedCall(model, price, makes)
    const bound = price.bound(asked.mostPromptTokens, output, units, ratio)
    if (bound >= amount) amount = bound > 0n ? bound : 1n
  }
  return amount === 0n ? undefined : { id, account: caller.account, amount, leaseMs }
}

/** What the vendor must be told, so that the answer fits what is held. */
export function capOf({ asked, model }: Demanding, options: BillingOptions): number | undefined {
  const enforced = options.defaults?.enforce === true && asked.writes && asked.outputTokens === undefined
  return enforced ? Math.max(1, unstatedOf(model, options)) : undefined
}

/** Where an answer is kept to what is held for it, its request cannot ask for more. */
function mostUnstated({ leastOutputTokens, choices }: Estimate, model: Model, options: BillingOptions): number {
  const usually = unstatedOf(model, options) * choices
  return options.defaults?.enforce === true ? usually : Math.max(usually, leastOutputTokens)
}

/** Tokens that are held for one choice of unstated length. */
function unstatedOf({ maxOutputTokens = Infinity }: Model, { defaults }: BillingOptions): number {
  return Math.min(defaults?.outputTokens ?? usual.held, maxOutputTokens)
}

/** Rather no call than one for nothing: a provider that can make several things leaves open what a model makes. */
export function requireChargedCall({ id }: Model, price: Price, makes: Product): void {
  const fault = uncharged(price, makes)
  if (fault === undefined) return
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the price of the model "${id}" ${fault}.`) })
}

/** The prices of which one will be charged: the model's, else those of its deployments. */
function pricesOf(model: Model, { unpriced }: BillingOptions): (Price | undefined)[] {
  if (model.price !== undefined) return [model.price]
  const prices = model.deployments.map((deployment) => deployment.price)
  if (unpriced === 'free' || !prices.includes(undefined)) return prices
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the model "${model.id}" has no price`) })
}
