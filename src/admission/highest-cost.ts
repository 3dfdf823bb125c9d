/** The most that a request can cost. */
import type { BillingOptions } from '../money/options.ts'
import type { MaximumConsumption, Price } from '../money/prices/price.ts'
import { countedNames, countedUnits, type Units } from '../wire/units.ts'
import { tierName } from '../money/prices/service-tier.ts'
import { GatewayError, refusedValue } from '../errors.ts'
import type { Deployment, Model } from '../models/contract.ts'
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
  return highest(request, multiplier, options).amount
}

/** The highest price of a request in micro-units, and what it is computed of. */
export interface Highest {
  readonly amount: bigint
  /** Undefined if the request is free. */
  readonly by: { readonly price: Price; readonly asked: MaximumConsumption } | undefined
}

/** `highestCost`, with what it is computed of. */
export function highest(request: EstimatedRequest, multiplier: bigint, options: Partial<BillingOptions>): Highest {
  const { model, estimate, makes } = request
  const outputTokens = estimate.outputTokens ?? mostUnstated(request, options)
  let found: Highest = free
  for (const possible of pricesOf(model, options)) {
    const { price, set } = possible
    if (price === undefined || price.isZero || multiplier === 0n) continue
    if (makes !== undefined) requireRates(request, possible, price, makes)
    const asked = {
      promptTokens: estimate.mostPromptTokens,
      outputTokens,
      units: price.hasUnitRates ? { ...assumedUnits(options.defaults), ...estimate.units } : undefined,
      serviceTier: requestedTier(request, price, set),
      toolCalls: mostToolCalls(request, price, set, options),
    }
    const most = price.bound(asked, multiplier)
    if (most >= found.amount) found = { amount: most > 0n ? most : 1n, by: { price, asked } }
  }
  return found
}

const free: Highest = { amount: 0n, by: undefined }

type Defaults = NonNullable<BillingOptions['defaults']>

const assumed = new WeakMap<Defaults, Units>()
const noDefaults: Defaults = {}

/** The units of a request that states none. */
function assumedUnits(defaults: Defaults = noDefaults): Units {
  const known = assumed.get(defaults)
  if (known !== undefined) return known
  const counted = countedNames.map((name) => [name, defaults[name] ?? countedUnits[name].assumed])
  const made: Units = { seconds: defaults.seconds ?? usual.seconds, ...Object.fromEntries(counted) }
  assumed.set(defaults, made)
  return made
}

/** Tokens assumed for one choice of unstated length. */
export function unstatedLength(
  { maxOutputTokens = Infinity }: Model,
  options: { readonly outputTokens?: number } = {},
): number {
  return Math.min(options.outputTokens ?? usual.outputTokens, maxOutputTokens)
}

/** Tokens to hold if the request states no length. */
function mostUnstated({ model, estimate, makes }: EstimatedRequest, options: Partial<BillingOptions>): number {
  const { leastOutputTokens, choices } = estimate
  const { outputTokens = makes === 'images' ? usual.imageTokens : usual.outputTokens } = options.defaults ?? {}
  const usually = unstatedLength(model, { outputTokens }) * choices
  return options.defaults?.enforce === true ? usually : Math.max(usually, leastOutputTokens)
}

const prices = new WeakMap<Model, readonly PossiblePrice[]>()

/** The prices that may apply: the model's, otherwise those of its deployments. */
export function pricesOf(model: Model, { unpriced }: Partial<BillingOptions>): readonly PossiblePrice[] {
  let possible = prices.get(model)
  if (possible === undefined) prices.set(model, (possible = possiblePrices(model)))
  if (unpriced === 'free' || possible.every(({ price }) => price !== undefined)) return possible
  throw new GatewayError('service_unavailable', { cause: new TypeError(`the model "${model.id}" has no price`) })
}

function possiblePrices({ price, set, deployments }: Model): readonly PossiblePrice[] {
  const setFor = (each: Deployment) => (each.set === undefined ? set : { ...each.set, ...set })
  if (price === undefined) {
    return deployments.map((each) => ({ price: each.price, names: [each.model], set: setFor(each) }))
  }
  const [first] = deployments
  const names = deployments.map(({ model }) => model)
  return [{ price, names, set: deployments.length === 1 && first !== undefined ? setFor(first) : set }]
}

/**
 * The only special tier that the vendor may apply; undefined if it may apply any. Price tables list all that a vendor has, of
 * which it applies only what is requested, or what the host has set for its project there.
 */
function requestedTier(
  { order: { field }, model }: EstimatedRequest,
  price: Price,
  set: Model['set'] | undefined,
): string | undefined {
  const given = tierIn((name) => set?.[name] ?? field(name))
  if (given === undefined || given === 'auto') return price.source === undefined ? undefined : 'default'
  const byHost = set !== undefined && tierFields.some((name) => set[name] !== undefined)
  if (byHost || price.lists(given)) return given
  const param = tierFields.find((name) => specialTier(field(name)) !== undefined) ?? 'service_tier'
  const message = `The model "${model.id}" has no price for the service tier "${given.slice(0, 64)}". Omit "${param}".`
  throw refusedValue(message, param)
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
