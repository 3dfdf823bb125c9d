/** What an image model takes, held against what is asked of it. */
import { GatewayError, invalid } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import type { ImageRequest } from '../../wire/images.ts'
import type { Order } from '../endpoint.ts'

const openaiQualities = ['standard', 'hd', 'low', 'medium', 'high', 'auto']

/** Throws 400 that names what would be right. */
export function requireAble(order: Order<ImageRequest>, { image = {} }: Model): void {
  const { sizes, qualities = openaiQualities, maxN = 10 } = image
  const [size, quality, n] = ['size', 'quality', 'n'].map((name) => order.field(name))
  if (typeof size === 'string') requireSize(size, sizes)
  if (typeof quality === 'string' && !qualities.includes(quality)) {
    throw invalid(`"quality" must be one of ${listed(qualities)} for this model.`, 'quality')
  }
  if (typeof n === 'number' && n > maxN) throw invalid(`"n" must be between 1 and ${maxN} for this model.`, 'n')
}

export function requireEdits({ image }: Model): void {
  if (image?.edits !== false) return
  throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not edit images.' })
}

function requireSize(size: string, allowed: readonly string[] | undefined): void {
  if (allowed !== undefined) {
    if (!allowed.includes(size)) throw invalid(`"size" must be one of ${listed(allowed)} for this model.`, 'size')
  } else if (!/^(?:[1-9]\d{0,4}x[1-9]\d{0,4}|auto)$/.test(size)) {
    throw invalid('"size" must have the form "<width>x<height>", such as "1024x1024", or be "auto".', 'size')
  }
}

function listed(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ')
}
