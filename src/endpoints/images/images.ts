/** The image endpoints. */
import { eventFrame } from '../../http/sse.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, ImageAnswer, Provider } from '../../providers/contract.ts'
import type { ImageEditRequest, ImageRequest, ImageVariationRequest } from '../../wire/images.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Order, Context } from '../endpoint.ts'
import { discard } from '../open.ts'
import { amend } from '../order.ts'
import { checkAbility, checkImageLimits, unsupportedImages } from './limits.ts'
import { imageFrames, imagesReply, openImages, type OpenImages } from './answer.ts'
import { readEdit, readVariation } from './edit-request.ts'
import { generationFailure } from './failure.ts'
import type { EventPrefix } from './image-event.ts'
import { readGeneration } from './request.ts'
import { choicesIn } from '../../admission/output-length.ts'
import type { SizedRequest } from '../../admission/prompt.ts'
import type { Units } from '../../wire/units.ts'

/** `POST /v1/images/generations`. */
export const imageGenerations: CallEndpoint<ImageRequest, OpenImages> = defineEndpoint({
  method: 'POST',
  path: '/v1/images/generations',
  name: 'images.generations',
  makes: 'images',
  read: readGeneration,
  fit: checkImageLimits,
  texts: ['prompt'],
  ...commonParts('generation', (provider, call: Call<ImageRequest>) => provider.generateImages?.(call)),
  ...streamParts('image_generation'),
})

/** `POST /v1/images/edits`. */
export const imageEdits: CallEndpoint<ImageEditRequest, OpenImages> = defineEndpoint({
  method: 'POST',
  path: '/v1/images/edits',
  name: 'images.edits',
  makes: 'images',
  read: readEdit,
  fit: (order, model) => fitForm(order, model, 'edits'),
  texts: ['prompt'],
  ...commonParts('edits', (provider, call: Call<ImageEditRequest>) => provider.editImages?.(call)),
  ...streamParts('image_edit'),
})

/** `POST /v1/images/variations`. */
export const imageVariations: CallEndpoint<ImageVariationRequest, OpenImages> = defineEndpoint({
  method: 'POST',
  path: '/v1/images/variations',
  name: 'images.variations',
  makes: 'images',
  read: readVariation,
  fit: (order, model) => fitForm(order, model, 'variations'),
  ...commonParts('variations', (provider, call: Call<ImageVariationRequest>) => provider.varyImage?.(call)),
})

async function fitForm(order: Order<ImageVariationRequest>, model: Model, ability: 'edits' | 'variations') {
  checkAbility(model, ability)
  checkImageLimits(order, model)
  // A form that is passed on as it arrives could not be sent to a second deployment.
  if (model.deployments.length > 1) await order.form?.keep()
}

/** The common parts of the endpoints. Each attempt costs money, so it is made once. */
function commonParts<Request extends ImageVariationRequest>(
  ability: 'generation' | 'edits' | 'variations',
  make: (provider: Provider, call: Call<Request>) => ImageAnswer | Promise<ImageAnswer> | undefined,
) {
  return {
    once: true,
    choices: imageCount,
    units: imageUnits,
    async ask(provider: Provider, call: Call<Request>, context: Context<Request>) {
      try {
        const answer = make(provider, takesFormat(context) ? call : amend(call, { response_format: undefined }))
        if (answer !== undefined) return await openImages(await answer, context)
      } catch (thrown) {
        throw generationFailure(thrown)
      }
      throw unsupportedImages(ability)
    },
    discard,
    whole: imagesReply,
  }
}

function streamParts(prefix: EventPrefix) {
  return {
    // OpenAI sends events of this name in streams of responses.
    idle: () => eventFrame('keepalive', { type: 'keepalive' }),
    frames: (answer: OpenImages, context: Context<ImageRequest>) => imageFrames(answer, context, prefix),
  }
}

function takesFormat({ model }: Pick<Context<never>, 'model'>): boolean {
  return model.image?.responseFormat !== false
}

/** The number of images; the model's maximum while a form that may still set `n` is arriving. */
function imageCount({ field, form }: SizedRequest, { image }: Model): number {
  return choicesIn(field, form === undefined || form.kept || image === undefined ? 1 : (image.maxN ?? 10))
}

/** The billable units of so many images. */
function imageUnits({ field }: SizedRequest, images: number): Units {
  const size = field('size')
  const quality = field('quality')
  return { images, ...(typeof size === 'string' && { size }), ...(typeof quality === 'string' && { quality }) }
}
