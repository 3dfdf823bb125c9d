/** Validation of image requests against the limits of a model. */
import { invalid } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import { ProviderError } from '../../providers/failure.ts'
import type { ImageVariationRequest } from '../../wire/images.ts'
import type { Order } from '../endpoint.ts'

const openaiQualities = ['standard', 'hd', 'low', 'medium', 'high', 'auto']

/**
 * Throws 400 for a size, quality or number of images that the model does not support; the message lists valid values.
 */
export function checkImageLimits(order: Order<ImageVariationRequest>, { image = {} }: Model): void {
  const { sizes, qualities = openaiQualities, maxN = 10 } = image
  const [size, quality, n] = ['size', 'quality', 'n'].map((name) => order.field(name))
  if (typeof size === 'string') checkSize(size, sizes)
  if (typeof quality === 'string' && !qualities.includes(quality)) {
    throw invalid(`"quality" must be one of ${listed(qualities)} for this model.`, 'quality')
  }
  if (typeof n === 'number' && n > maxN) throw invalid(`"n" must be between 1 and ${maxN} for this model.`, 'n')
}

/** Throws 400 if the model does not support edits, or variations. */
export function checkAbility({ image }: Model, ability: 'edits' | 'variations'): void {
  if (image?.[ability] === false) throw unsupportedImages(ability)
}

/** The error for a model that does not make such images. Another deployment may. */
export function unsupportedImages(ability: 'generation' | 'edits' | 'variations'): ProviderError {
  const message = `This model does not support image ${ability}.`
  return new ProviderError('unsupported_value', { param: 'model', message, retry: 'skip', begun: false })
}

function checkSize(size: string, allowed: readonly string[] | undefined): void {
  if (allowed !== undefined) {
    if (!allowed.includes(size)) throw invalid(`"size" must be one of ${listed(allowed)} for this model.`, 'size')
  } else if (!/^(?:[1-9]\d{0,4}x[1-9]\d{0,4}|auto)$/.test(size)) {
    throw invalid('"size" must have the form "<width>x<height>", such as "1024x1024", or be "auto".', 'size')
  }
}

function listed(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ')
}
