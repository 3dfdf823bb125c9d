/** The rates that a price must have for what a request asks for, so that it is not charged as text, or not at all. */
import type { Price, Product } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import { GatewayError, refusedValue } from '../errors.ts'
import { uncharged, uncoveredBy } from '../models/price-coverage.ts'
import type { Model } from '../models/contract.ts'
import type { EstimatedRequest } from './estimate.ts'
import type { Field } from './output-length.ts'
import { isObject, mediaIn } from './media.ts'
import { runsVendorTools } from './vendor-tools.ts'

/** A price of requests for a model, and what it is for. */
export interface PossiblePrice {
  readonly price: Price | undefined
  /** The vendors' names of the models that it is for. */
  readonly names: readonly string[]
  /** The fields that the host sets for this deployment. */
  readonly set: Model['set'] | undefined
}

interface Need {
  readonly parts: readonly (keyof PriceOptions)[]
  /** What has no price. */
  readonly what: string
  /** The models that do it. Others reject it. Default: all. */
  readonly models?: RegExp
  /** The part of the request that asks for it; undefined if none does. */
  readonly askedBy: (request: EstimatedRequest, set: Model['set'] | undefined) => string | undefined
}

const needs: readonly Need[] = [
  {
    parts: ['outputAudio'],
    what: 'answers in audio',
    askedBy: ({ order: { field } }) => wants(field, 'audio') ?? (isObject(field('audio')) ? 'audio' : undefined),
  },
  { parts: ['outputImage', 'image'], what: 'images', askedBy: ({ order: { field } }) => wants(field, 'image') },
  {
    parts: ['tools'],
    what: "the vendor's own tools",
    askedBy: (request, set) => (runsVendorTools(request, set) ? 'tools' : undefined),
  },
  {
    parts: ['inputAudio'],
    what: 'audio',
    models: /audio|realtime|omni|voxtral|gemini|multimodal/i,
    askedBy: ({ order: { field } }) => mediaIn(field).find(({ kind }) => kind === 'audio')?.param,
  },
  {
    parts: ['cacheWrite1h', 'cacheWrite'],
    what: 'a cache of one hour',
    models: /claude/i,
    askedBy: ({ order: { field } }) => cached.find((name) => cachesAnHour(field(name), 0)),
  },
]

/** What a price leaves out of the requests for one product. */
interface Gaps {
  readonly product: Product
  /** Describes why no request can be charged. */
  readonly fault: string | undefined
  /** What requests must not ask for. */
  readonly needs: readonly Need[]
}

const known = new WeakMap<PossiblePrice, Gaps>()

function gapsOf(possible: PossiblePrice, price: Price, product: Product): Gaps {
  let gaps = known.get(possible)
  if (gaps?.product !== product) known.set(possible, (gaps = findGaps(possible, price, product)))
  return gaps
}

function findGaps({ names }: PossiblePrice, price: Price, product: Product): Gaps {
  const [uncovered] = names.flatMap((name) => uncoveredBy(price, name, product) ?? [])
  const isOpen = ({ parts, models }: Need) =>
    price.lacks(parts) && (models === undefined || names.some((name) => models.test(name)))
  return {
    product,
    fault: uncharged(price, product) ?? uncovered,
    needs: product === 'text' ? needs.filter(isOpen) : [],
  }
}

/** Fields that say what to cache. */
const cached = ['cache_control', 'system', 'messages', 'tools']

/**
 * Throws a 400 that names the part of the request for which the price has no rate, a 503 if that is what the model does in
 * every request. A price of requests alone covers everything. Checked per request, because for a provider of several
 * products the options do not say what a model makes.
 */
export function requireRates(request: EstimatedRequest, possible: PossiblePrice, price: Price, makes: Product): void {
  const { model } = request
  const gaps = gapsOf(possible, price, makes)
  if (gaps.fault !== undefined) throw withoutPrice(model, gaps.fault)
  for (const { parts, what, askedBy } of gaps.needs) {
    const param = askedBy(request, possible.set)
    if (param === undefined) continue
    throw refusedValue(
      `The model "${model.id}" has no price for ${what}. Omit "${param}".`,
      param,
      new TypeError(`the price of the model "${model.id}" lacks "${parts[0]}"`),
    )
  }
}

/** Throws a 503 if the price would not charge for this product. */
export function requireChargedCall(model: Model, price: Price, makes: Product): void {
  const fault = uncharged(price, makes)
  if (fault !== undefined) throw withoutPrice(model, fault)
}

function withoutPrice({ id }: Model, fault: string): GatewayError {
  return new GatewayError('service_unavailable', { cause: new TypeError(`the price of the model "${id}" ${fault}.`) })
}

function wants(field: Field, modality: string): string | undefined {
  const modalities = field('modalities')
  return Array.isArray(modalities) && modalities.includes(modality) ? 'modalities' : undefined
}

function cachesAnHour(value: unknown, depth: number): boolean {
  if (!isObject(value) || depth > 32) return false
  if (Object.hasOwn(value, 'ttl') && (value as { ttl: unknown }).ttl === '1h') return true
  return Object.values(value).some((each) => cachesAnHour(each, depth + 1))
}
