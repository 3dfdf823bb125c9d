/** What a request may cost, computed like its hold, without holding or calling anything. */
import type { BillingOptions } from '../money/options.ts'
import type { Consumption, Price } from '../money/prices/price.ts'
import { formatMoney } from '../money/money.ts'
import type { ChargeLines } from '../money/prices/sum.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import { GatewayError } from '../errors.ts'
import type { AdmissionRequest, Demand } from './demand.ts'
import type { Sizing } from './estimate.ts'
import { highest, pricesOf, tierIn } from './highest-cost.ts'
import type { PossiblePrice } from './required-rates.ts'
import { boundedBy, needsBound } from './upper-bounds.ts'

/** A possible cost. */
export interface QuotedCost extends ChargeLines {
  /** A decimal string: what `lines` and `rounding` add up to. */
  readonly cost: string
}

/** What a request may cost. */
export interface Quote {
  /** The expected prompt, from the vendor's cache if that is cheaper, and no answer. */
  readonly least: QuotedCost
  /** The expected prompt, and an answer of the usual length. */
  readonly likely: QuotedCost
  /** Undefined if nothing bounds it. */
  readonly most: QuotedCost | undefined
  /** The part of the request that nothing bounds. */
  readonly unbounded: string | undefined
  /** Expected tokens. */
  readonly tokens: { readonly prompt: number; readonly output: number }
}

export interface QuoteOptions {
  readonly billing: Partial<BillingOptions>
  readonly multiplier: bigint
  /** Output tokens of the last answers to such requests; undefined if there were none. */
  readonly usualTokens: number | undefined
}

/** `demand`: that of the request, for which everything in it has a price. */
export function quoteOf(request: AdmissionRequest, demand: Demand, endpoint: Sizing, options: QuoteOptions): Quote {
  const { estimate, makes, model } = request
  const { billing, multiplier } = options
  const output = usualOutput(request, demand.cap, options.usualTokens)
  const possible = multiplier === 0n ? [] : pricesOf(model, billing)
  const costs = possible.map((each): [least: Exact, likely: Exact] => [
    costAt(each, request, multiplier, (price) => cheapest(estimate.promptTokens, price)),
    costAt(each, request, multiplier, () => ofKind(makes, usageOf(estimate.promptTokens, output))),
  ])
  const [first] = costs
  const least = costs.reduce<Exact | undefined>(
    (found, [each]) => (found && found.micros <= each.micros ? found : each),
    undefined,
  )
  return {
    least: least?.shown ?? nothing,
    likely: first?.[1].shown ?? nothing,
    ...mostOf(request, demand, endpoint, options),
    tokens: { prompt: estimate.promptTokens, output },
  }
}

interface Exact {
  readonly micros: bigint
  readonly shown: QuotedCost
}

const nothing: QuotedCost = { cost: '0', lines: [], rounding: '0' }

function costAt(
  { price, set }: PossiblePrice,
  { estimate: { units }, order }: AdmissionRequest,
  multiplier: bigint,
  usage: (price: Price) => Usage,
): Exact {
  if (price === undefined) return { micros: 0n, shown: nothing }
  const serviceTier = price.hasServiceTiers ? tierIn((name) => set?.[name] ?? order.field(name)) : undefined
  const consumed: Consumption = { usage: usage(price), units, serviceTier }
  const micros = price.cost(consumed, multiplier)
  return { micros, shown: { cost: formatMoney(micros), ...price.lines(consumed, multiplier) } }
}

function cheapest(promptTokens: number, { options: { cached } }: Price): Usage {
  const usage = usageOf(promptTokens, 0)
  return cached === undefined ? usage : { ...usage, prompt_tokens_details: { cached_tokens: promptTokens } }
}

/** With the output tokens as what they are. */
function ofKind(makes: Sizing['makes'], usage: Usage): Usage {
  const { completion_tokens: output } = usage
  if (makes === 'images') return { ...usage, completion_tokens_details: { image_tokens: output } }
  return makes === 'speech' ? { ...usage, completion_tokens_details: { audio_tokens: output } } : usage
}

/** Assumed before the first answer. An image of 1024 × 1024 in the medium quality has so many tokens. */
const assumed = { text: 512, image: 1_056 }

/** `cap`: the limit of one answer that is sent to the vendor. */
function usualOutput(
  { estimate, makes, model }: AdmissionRequest,
  cap: number | undefined,
  usual: number | undefined,
): number {
  const { writes, choices, outputTokens = (cap ?? model.maxOutputTokens ?? Infinity) * choices } = estimate
  if (!writes) return usual ?? (makes === 'images' ? assumed.image * choices : 0)
  return Math.min(usual ?? assumed.text * choices, outputTokens)
}

function mostOf(
  request: AdmissionRequest,
  { caps, cap }: Demand,
  { lengthFields }: Sizing,
  { billing, multiplier }: QuoteOptions,
): Pick<Quote, 'most' | 'unbounded'> {
  if (multiplier === 0n) return { most: nothing, unbounded: undefined }
  const { estimate, model } = request
  const isOpen = estimate.writes && estimate.outputTokens === undefined && !needsBound(caps)
  const limit = cap ?? model.maxOutputTokens ?? model.contextWindow
  if (isOpen && limit === undefined) return { most: undefined, unbounded: lengthFields?.[0] }
  const limited = isOpen ? { ...estimate, outputTokens: (limit as number) * estimate.choices } : estimate
  try {
    const { estimate: bounded, options } = boundedBy(caps, { ...request, estimate: limited }, billing)
    const { by } = highest({ ...request, estimate: bounded }, multiplier, options)
    if (by === undefined) return { most: nothing, unbounded: undefined }
    const { price, asked } = by
    const cost = formatMoney(price.bound(asked, multiplier))
    return { most: { cost, ...price.boundLines(asked, multiplier) }, unbounded: undefined }
  } catch (error) {
    if (!GatewayError.is(error) || error.code !== 'unsupported_value') throw error
    return { most: undefined, unbounded: error.param ?? 'model' }
  }
}
