/**
 * Models whose vendor charges by the image, by size and quality; the table has none of them. Sources: OpenAI's and Google's pages
 * about pricing, xAI's about its models.
 */
import type { PriceOptions, Tiers } from '../../src/money/prices/price-options.ts'
import type { Convert } from './entry.ts'

/** Dollars for a thousand images. What a request leaves open is the vendor's default: `*`, or the size alone. */
const perImage: readonly { readonly models: RegExp; readonly image: Readonly<Record<string, number>> }[] = [
  {
    models: /^openai\/dall-e-3$/,
    image: {
      '*': 40,
      hd: 80,
      '1024x1024': 40,
      '1024x1024 hd': 80,
      ...ofBoth('1792x1024'),
      ...ofBoth('1024x1792'),
    },
  },
  { models: /^openai\/dall-e-2$/, image: { '*': 20, '512x512': 18, '256x256': 16 } },
  { models: /^google\/imagen-4\.0-fast-generate-/, image: { '*': 20 } },
  { models: /^google\/imagen-4\.0-generate-/, image: { '*': 40 } },
  { models: /^google\/imagen-4\.0-ultra-generate-/, image: { '*': 60 } },
  { models: /^google\/imagen-3\.0-generate-/, image: { '*': 30 } },
  { models: /^x-ai\/grok-imagine-image$/, image: { '*': 20 } },
]

function ofBoth(size: string): Readonly<Record<string, number>> {
  return { [size]: 80, [`${size} hd`]: 120 }
}

/** The price of a model that is charged by the image; undefined for others. */
export function priceOfImages(vendor: string, model: string, convert: Convert): PriceOptions | undefined {
  const found = perImage.find(({ models }) => models.test(`${vendor}/${model}`))
  if (found === undefined) return undefined
  const tiers = Object.entries(found.image).map(([key, price]) => [key, convert(price, 1_000)])
  return { image: Object.fromEntries(tiers) as Tiers }
}
