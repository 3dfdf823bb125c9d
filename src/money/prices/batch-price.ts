import { Price } from './price.ts'
import type { PriceOptions } from './price-options.ts'
import { parseFactor } from './rate.ts'
import { scaledOptions } from './scaled-options.ts'

/** The factor on tokens and units of a price that says nothing of batches: that of Anthropic, OpenAI, Google and Groq. */
const usual = '0.5'

/** The service tier of requests in batches. */
const tier = 'batch'

const made = new WeakMap<Price, Price>()

/**
 * The price of a request in a batch: that of the service tier `batch`, otherwise half of it. Fees per request and per call of a
 * tool stay as they are.
 */
export function batchPrice(price: Price): Price {
  let known = made.get(price)
  if (known === undefined) made.set(price, (known = new Price(optionsOf(price.options), price.source)))
  return known
}

function optionsOf({ serviceTiers = {}, ...options }: PriceOptions): PriceOptions {
  const { [tier]: given = usual } = serviceTiers
  // A vendor's other tiers, such as one of a place, are factors on this one.
  const others = Object.entries(serviceTiers).filter(([name, each]) => typeof each === 'string' && !isBatch(name))
  const tiers = others.length > 0 && { serviceTiers: Object.fromEntries(others) }
  if (typeof given !== 'string') return { ...options, ...given, ...tiers }
  const { request, tools } = options
  const scaled = scaledOptions(options, parseFactor(given, `price.serviceTiers.${tier}`))
  return { ...scaled, ...(request !== undefined && { request }), ...(tools && { tools }), ...tiers }
}

function isBatch(name: string): boolean {
  return name.split('+').includes(tier)
}

/** The service tier of a request in a batch, as its price names it. */
export function tierInBatch(reported: string | undefined): string | undefined {
  const rest = reported?.split('+').filter((name) => name !== tier)
  return rest === undefined || rest.length === 0 ? undefined : rest.join('+')
}
