/** The image endpoints. */
import { GatewayError } from '../../errors.ts'
import { release } from '../../http/flow-of.ts'
import { eventFrame } from '../../http/sse.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, ImageAnswer, Provider } from '../../providers/contract.ts'
import type { ImageEditRequest, ImageRequest } from '../../wire/images.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Order, Context } from '../endpoint.ts'
import { amend } from '../order.ts'
import { checkEdits, checkImageLimits } from './limits.ts'
import { imageFrames, imagesReply, openImages, type OpenImages } from './answer.ts'
import { readEdit } from './edit-request.ts'
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
  ...commonParts('image_generation', (provider, call) => provider.generateImages?.(call)),
})

/** `POST /v1/images/edits`. */
export const imageEdits: CallEndpoint<ImageEditRequest, OpenImages> = defineEndpoint({
  method: 'POST',
  path: '/v1/images/edits',
  name: 'images.edits',
  makes: 'images',
  read: readEdit,
  async fit(order: Order<ImageEditRequest>, model: Model) {
    checkEdits(model)
    checkImageLimits(order, model)
    // A form that is passed on as it arrives could not be sent to a second deployment.
    if (model.deployments.length > 1) await order.form?.keep()
  },
  ...commonParts('image_edit', (provider, call) => provider.editImages?.(call)),
})

/** The common parts of both endpoints. Each attempt costs money, so it is made once. */
function commonParts(
  prefix: EventPrefix,
  make: (provider: Provider, call: Call<ImageRequest>) => ImageAnswer | Promise<ImageAnswer> | undefined,
) {
  return {
    once: true,
    texts: ['prompt'],
    choices: imageCount,
    units: imageUnits,
    async ask(provider: Provider, call: Call<ImageRequest>, context: Context<ImageRequest>) {
      try {
        const answer = make(provider, takesFormat(context) ? call : amend(call, { response_format: undefined }))
        if (answer !== undefined) return await openImages(await answer, context)
      } catch (thrown) {
        throw generationFailure(thrown)
      }
      const message = `This model does not support image ${prefix === 'image_edit' ? 'edits' : 'generation'}.`
      throw new GatewayError('unsupported_value', { param: 'model', message })
    },
    discard(answer: OpenImages) {
      if (answer.kind === 'events') release(answer.events.rest)
    },
    whole: imagesReply,
    // OpenAI sends events of this name in streams of responses.
    idle: () => eventFrame('keepalive', { type: 'keepalive' }),
    frames: (answer: OpenImages, context: Context<ImageRequest>) => imageFrames(answer, context, prefix),
  }
}

function takesFormat({ model }: Context<ImageRequest>): boolean {
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
