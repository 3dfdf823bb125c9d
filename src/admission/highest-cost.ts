/** The most that a request can cost. */
import type { BillingOptions } from '../money/options.ts'
import type { Price, Product } from '../money/prices/price.ts'
import { tierName } from '../money/prices/service-tier.ts'
import { GatewayError } from '../errors.ts'
import { uncharged } from '../models/price-coverage.ts'
import type { Model } from '../models/contract.ts'
import type { EstimatedRequest } from './estimate.ts'
import type { Field } from './output-length.ts'
import { requireRates, type PossiblePrice } from './required-rates.ts'
import { runsVendorTools, statedToolCalls } from './vendor-tools.ts'

/**
 * Assumed for a request that states no length: output tokens, for limits and holds alike, tokens of an image (OpenAI's
 * largest has 6,240), seconds of a recording, calls of tools.
 */
const usual = { outputTokens: 4_096, imageTokens: 8_192, seconds: 60, toolCalls: 10 }

/**
 * The highest price of a request in micro-units, whichever deployment serves it: the most expensive service tier and
 * length of the prompt, all input written to a one-hour cache, a fee for each call of the vendor's own tools. At least
 * 1 unless the request is free. Throws a 400 for what has no price, such as a service tier, a 503 for a model without one.
 */
export function highestCost(request: EstimatedRequest, multiplier: bigint, options: Partial<BillingOptions>): bigint {
  const { model, estimate, makes } = request
  const { seconds = usual.seconds } = options.defaults ?? {}
  const outputTokens = estimate.outputTokens ?? mostUnstated(request, options)
  let amount = 0n
  for (const { price, names, set } of pricesOf(model, options)) {
    if (price === undefined || price.isZero || multiplier === 0n) continue
    if (makes !== undefined) requireChargedCall(model, price, makes)
    requireRates(request, { price, names, set })
    const most = price.bound(
      {
        promptTokens: estimate.mostPromptTokens,
        outputTokens,
        units: { seconds, ...estimate.units },
        serviceTier: requestedTier(request, price, set),
        toolCalls: mostToolCalls(request, price, set, options),
      },
      multiplier,
    )
    if (most >= amount) amount = most > 0n ? most : 1n
  }
  return amount
}

/** Tokens assumed for one choice of unstated length. */
export function unstatedLength(
  { maxOutputTokens = Infinity }: Model,
  options: { readonly outputTokens?: number } = {},
): number {
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

/** Tokens to hold if the request states no length. */
function mostUnstated({ model, estimate, makes }: EstimatedRequest, options: Partial<BillingOptions>): number {
  const { leastOutputTokens, choices } = estimate
  const { outputTokens = makes === 'images' ? usual.imageTokens : usual.outputTokens } = options.defaults ?? {}
  const usually = unstatedLength(model, { outputTokens }) * choices
  return options.defaults?.enforce === true ? usually : Math.max(usually, leastOutputTokens)
}

/** The prices that may apply: the model's, otherwise those of its deployments. */
export function pricesOf(
  { id, price, set, deployments }: Model,
  { unpriced }: Partial<BillingOptions>,
): PossiblePrice[] {
  if (price !== undefined) {
    const names = deployments.map(({ model }) => model)
    return [{ price, names, set: deployments.length === 1 ? { ...deployments[0]?.set, ...set } : set }]
  }
  const prices = deployments.map((each) => ({ price: each.price, names: [each.model], set: { ...each.set, ...set } }))
  if (unpriced === 'free' || prices.every((each) => each.price !== undefined)) return prices
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the model "${id}" has no price`) })
}

/** The only special tier that the vendor may apply; undefined if it may apply any. */
function requestedTier(
  { order: { field }, model }: EstimatedRequest,
  price: Price,
  set: Model['set'] | undefined,
): string | undefined {
  const given = tierIn((name) => set?.[name] ?? field(name))
  const byHost = set !== undefined && tierFields.some((name) => set[name] !== undefined)
  if (given === undefined || given === 'auto') return undefined
  if (byHost || price.lists(given)) return given
  const param = tierFields.find((name) => specialTier(field(name)) !== undefined) ?? 'service_tier'
  const message = `The model "${model.id}" has no price for the service tier "${given.slice(0, 64)}". Omit "${param}".`
  throw new GatewayError('unsupported_value', { param, message })
}

/** Fields that select a service tier. Claude has several of them, each with a factor of its own. */
const tierFields = ['service_tier', 'speed', 'inference_geo'] as const

/**
 * The service tier that a request names; several names are joined by `+`, as in `fast+us`. `auto`: the vendor may choose
 * any. Undefined if the request names none.
 */
export function tierIn(field: Field): string | undefined {
  let special: string | undefined
  for (const name of tierFields) {
    const tier = specialTier(field(name))
    if (tier !== undefined) special = special === undefined ? tier : `${special}+${tier}`
  }
  if (special !== undefined) return special
  const tier = field('service_tier')
  return typeof tier === 'string' ? tier : undefined
}

function specialTier(value: unknown): string | undefined {
  return typeof value === 'string' && tierName(value) !== 'default' ? value : undefined
}

/** Upper bound of the calls of the vendor's own tools, as far as they have a price. */
function mostToolCalls(
  request: EstimatedRequest,
  price: Price,
  set: Model['set'] = {},
  { defaults }: Partial<BillingOptions>,
): number {
  if (!price.hasToolFees || !runsVendorTools(request, set)) return 0
  return statedToolCalls(request.order.field, set) ?? defaults?.toolCalls ?? usual.toolCalls
}
