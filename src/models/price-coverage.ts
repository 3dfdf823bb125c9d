import type { Price, Product } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Provider } from '../providers/contract.ts'
import type { Model } from './contract.ts'

const names: Readonly<Record<Product, string>> = {
  text: 'the text that it writes',
  vectors: 'its vectors',
  images: 'its images',
  transcripts: 'its transcripts',
  speech: 'its speech',
  ranking: 'its rankings',
  decisions: 'its decisions',
  videos: 'its videos',
}

/** Describes why a price would make a product free by mistake, such as a price per token for a video model. */
export function uncharged(price: Price, product: Product): string | undefined {
  const part = price.missing(product)
  return part && `charges nothing for ${names[product]}: add "${part}", or ${part}: '0' to make it free`
}

/** What models of certain names do in every request, and the parts of a price of which one must be set for it. */
const always: readonly Always[] = [
  // They do not report how often they search.
  { names: /search-(?:preview|api)/i, makes: ['text'], parts: ['request'], what: 'its searches' },
  { names: /sonar|deep-research/i, makes: ['text'], parts: ['request', 'tools'], what: 'its searches' },
  { names: /gemini.*-image/i, makes: ['text', 'images'], parts: ['outputImage', 'image'], what: 'its images' },
]

interface Always {
  readonly names: RegExp
  readonly makes: readonly Product[]
  readonly parts: readonly [keyof PriceOptions, ...(keyof PriceOptions)[]]
  readonly what: string
}

/** Describes why a price would not charge for what a vendor's model does in every request, such as searches. */
export function uncoveredBy(price: Price, model: string, product: Product): string | undefined {
  const need = always.find(({ names: pattern, makes }) => pattern.test(model) && makes.includes(product))
  if (need === undefined || !price.lacks(need.parts)) return undefined
  const [part] = need.parts
  return `charges nothing for ${need.what}: add "${part}", or ${part}: '0' to make it free`
}

/** Throws a `TypeError` for a model whose price charges for none of the products its provider can make. */
export function requireCharged({ id, price: own, deployments }: Model): void {
  for (const deployment of deployments) {
    const price = own ?? deployment.price
    if (price === undefined) continue
    const products = productsOf(deployment.provider)
    const faults = products.map((product) => uncharged(price, product) ?? uncoveredBy(price, deployment.model, product))
    const [first] = faults
    if (first !== undefined && !faults.includes(undefined)) throw new TypeError(`models["${id}"].price ${first}.`)
  }
}

/** The methods of a provider that make each product. */
const makers: readonly (readonly [Product, readonly (keyof Provider)[]])[] = [
  ['text', ['generate', 'chat', 'complete', 'respond', 'message']],
  ['vectors', ['embed']],
  ['images', ['generateImages', 'editImages', 'varyImage']],
  ['transcripts', ['transcribe', 'translateSpeech']],
  ['speech', ['speak']],
  ['ranking', ['rerank']],
  ['decisions', ['decide']],
  ['videos', ['video']],
]

function productsOf(provider: Provider): Product[] {
  return makers.flatMap(([product, methods]) => (methods.some((name) => provider[name] !== undefined) ? [product] : []))
}
