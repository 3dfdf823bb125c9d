/** The number and kind of images that a request can produce, for which money is held. */
import { choicesIn } from '../../admission/output-length.ts'
import type { SizedRequest } from '../../admission/prompt.ts'
import type { Units } from '../../money/receipt.ts'
import type { Model } from '../../models/contract.ts'

/** The number of images; the model's maximum while a form that may still set `n` is arriving. */
export function imageCount({ field, form }: SizedRequest, { image }: Model): number {
  return choicesIn(field, form === undefined || form.kept || image === undefined ? 1 : (image.maxN ?? 10))
}

/** The billable units of so many images. */
export function imageUnits({ field }: SizedRequest, images: number): Units {
  const size = field('size')
  const quality = field('quality')
  return { images, ...(typeof size === 'string' && { size }), ...(typeof quality === 'string' && { quality }) }
}
