/** How many images a request asks for, and of which kind: what is held for them is the price of these. */
import { choicesIn } from '../../admission/choices.ts'
import type { Units } from '../../billing/receipt.ts'
import type { Model } from '../../models/contract.ts'
import type { Order } from '../endpoint.ts'

type Asked = Pick<Order<unknown>, 'field' | 'form'>

/** A form that is still arriving may yet say how many. */
export function imagesAsked({ field, form }: Asked, { image }: Model): number {
  return choicesIn(field, form === undefined || form.kept || image === undefined ? 1 : (image.maxN ?? 10))
}

export function imageUnits({ field }: Asked, images: number): Units {
  const size = field('size')
  const quality = field('quality')
  return { images, ...(typeof size === 'string' && { size }), ...(typeof quality === 'string' && { quality }) }
}
