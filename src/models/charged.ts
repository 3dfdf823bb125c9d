/** Prices that would leave what a model makes free by mistake, such as one of tokens for a video model. */
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

/** What is wrong with the price of a call that makes this product, and what to add; undefined where nothing is. */
export function uncharged(price: Price, product: Product): string | undefined {
  const part = price.missing(product)
  return part && `charges nothing for ${names[product]}: add "${part}", or ${part}: '0' if that is to be free`
}

/** Throws a `TypeError` for a model with a price that charges for nothing of what its provider can make. */
export function requireCharged({ id, price: own, deployments }: Model): void {
  for (const deployment of deployments) {
    const price = own ?? deployment.price
    if (price === undefined) continue
    const faults = productsOf(deployment.provider).map((product) => uncharged(price, product))
    const [first] = faults
    if (first !== undefined && !faults.includes(undefined)) throw new TypeError(`models["${id}"].price ${first}.`)
  }
}

/** Which methods of a provider make what. */
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
