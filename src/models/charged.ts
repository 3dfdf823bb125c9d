import type { Price, Product } from '../billing/price.ts'
import type { Provider } from '../providers/contract.ts'
import type { Model } from './contract.ts'

const names: Readonly<Record<Product, string>> = {
  text: 'the text that it writes',
  vectors: 'its vectors',
  images: 'its images',
  transcripts: 'its transcripts',
  videos: 'its videos',
}

/** Describes why a price would make a product free by mistake, such as a price per token for a video model. */
export function uncharged(price: Price, product: Product): string | undefined {
  const part = price.missing(product)
  return part && `charges nothing for ${names[product]}: add "${part}", or ${part}: '0' to make it free`
}

/** Throws a `TypeError` for a model whose price charges for none of the products its provider can make. */
export function requireCharged({ id, price: own, deployments }: Model): void {
  for (const deployment of deployments) {
    const price = own ?? deployment.price
    if (price === undefined) continue
    const faults = productsOf(deployment.provider).map((product) => uncharged(price, product))
    const [first] = faults
    if (first !== undefined && !faults.includes(undefined)) throw new TypeError(`models["${id}"].price ${first}.`)
  }
}

/** The methods of a provider that make each product. */
const makers: readonly (readonly [Product, readonly (keyof Provider)[]])[] = [
  ['text', ['chat', 'complete', 'respond']],
  ['vectors', ['embed']],
  ['images', ['generateImages', 'editImages']],
  ['transcripts', ['transcribe']],
  ['videos', ['video']],
]

function productsOf(provider: Provider): Product[] {
  return makers.flatMap(([product, methods]) => (methods.some((name) => provider[name] !== undefined) ? [product] : []))
}
