/** The rates that a price must have for what a request asks for, so that it is not charged as text, or not at all. */
import type { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import { GatewayError } from '../errors.ts'
import { uncoveredBy } from '../models/price-coverage.ts'
import type { Model } from '../models/contract.ts'
import type { EstimatedRequest } from './estimate.ts'
import type { Field } from './output-length.ts'
import { isObject, mediaIn } from './media.ts'
import { runsVendorTools } from './vendor-tools.ts'

/** A price of a request, and what it is for. */
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
  /** The part of the request that asks for it; undefined if none does. */
  readonly askedBy: (request: EstimatedRequest, possible: PossiblePrice) => string | undefined
}

/** Models that read audio. Others reject it. */
const hearing = /audio|realtime|omni|voxtral|gemini|multimodal/i

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
    askedBy: (request, { set }) => (runsVendorTools(request, set) ? 'tools' : undefined),
  },
  {
    parts: ['inputAudio'],
    what: 'audio',
    askedBy: ({ order: { field } }, { names }) =>
      isAny(names, hearing) ? mediaIn(field).find(({ kind }) => kind === 'audio')?.param : undefined,
  },
  {
    parts: ['cacheWrite1h', 'cacheWrite'],
    what: 'a cache of one hour',
    askedBy: ({ order: { field } }, { names }) =>
      isAny(names, /claude/i) ? cached.find((name) => cachesAnHour(field(name), 0)) : undefined,
  },
]

/** Fields that say what to cache. */
const cached = ['cache_control', 'system', 'messages', 'tools']

/**
 * Throws a 400 that names the part of the request for which the price has no rate, a 503 if that is what the model does in
 * every request. A price of requests alone covers everything.
 */
export function requireRates(request: EstimatedRequest, possible: PossiblePrice & { readonly price: Price }): void {
  const { price, names } = possible
  const { model, makes } = request
  for (const name of names) {
    const fault = makes && uncoveredBy(price, name, makes)
    if (fault === undefined) continue
    throw new GatewayError('service_unavailable', {
      cause: new TypeError(`the price of the model "${model.id}" ${fault}.`),
    })
  }
  if (makes !== 'text') return
  for (const { parts, what, askedBy } of needs) {
    const param = price.lacks(parts) ? askedBy(request, possible) : undefined
    if (param === undefined) continue
    throw new GatewayError('unsupported_value', {
      param,
      message: `The model "${model.id}" has no price for ${what}. Omit "${param}".`,
      cause: new TypeError(`the price of the model "${model.id}" lacks "${parts[0]}"`),
    })
  }
}

function wants(field: Field, modality: string): string | undefined {
  const modalities = field('modalities')
  return Array.isArray(modalities) && modalities.includes(modality) ? 'modalities' : undefined
}

function isAny(names: readonly string[], pattern: RegExp): boolean {
  return names.some((name) => pattern.test(name))
}

function cachesAnHour(value: unknown, depth: number): boolean {
  if (!isObject(value) || depth > 32) return false
  if (Object.hasOwn(value, 'ttl') && (value as { ttl: unknown }).ttl === '1h') return true
  return Object.values(value).some((each) => cachesAnHour(each, depth + 1))
}
