/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
import { GatewayError } from '../../errors.ts'
import { eventFrame } from '../../http/sse.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, ImageAnswer, Provider } from '../../providers/contract.ts'
import type { ImageEditRequest, ImageRequest } from '../../wire/images.ts'
import { release } from '../chunk-stream.ts'
import type { CallEndpoint, Order, Visit } from '../endpoint.ts'
import { amend } from '../order.ts'
import { requireAble, requireEdits } from './abilities.ts'
import { imagesAsked, imageUnits } from './asked.ts'
import { imageFrames, imagesReply, openImages, type OpenImages } from './answer.ts'
import { readEdit } from './edit-request.ts'
import { generationFailure } from './failure.ts'
import type { EventPrefix } from './image-event.ts'
import { readGeneration } from './request.ts'

export const imageGenerations: CallEndpoint<ImageRequest, OpenImages> = {
  name: 'images.generations',
  makes: 'images',
  read: readGeneration,
  fit: requireAble,
  ...answeredBy('image_generation', (provider, call) => provider.generateImages?.(call)),
}

export const imageEdits: CallEndpoint<ImageEditRequest, OpenImages> = {
  name: 'images.edits',
  makes: 'images',
  read: readEdit,
  async fit(order: Order<ImageEditRequest>, model: Model) {
    requireEdits(model)
    requireAble(order, model)
    // Which deployment answers in the end is not known while the form is passed on to the first of them.
    if (model.deployments.length > 1) await order.form?.keep()
  },
  ...answeredBy('image_edit', (provider, call) => provider.editImages?.(call)),
}

/** What both have in common: each image costs, however it was asked for. */
function answeredBy(
  prefix: EventPrefix,
  make: (provider: Provider, call: Call<ImageRequest>) => ImageAnswer | Promise<ImageAnswer> | undefined,
) {
  return {
    once: true,
    choices: imagesAsked,
    units: imageUnits,
    async ask(provider: Provider, call: Call<ImageRequest>, visit: Visit<ImageRequest>) {
      try {
        const answer = make(provider, takesFormat(visit) ? call : amend(call, { response_format: undefined }))
        if (answer !== undefined) return await openImages(await answer, visit)
      } catch (thrown) {
        throw generationFailure(thrown)
      }
      throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not make such images.' })
    },
    discard(answer: OpenImages) {
      if (answer.kind === 'events') release(answer.events.rest)
    },
    whole: imagesReply,
    // The name is OpenAI's, which sends such events in its streams of responses.
    idle: () => eventFrame('keepalive', { type: 'keepalive' }),
    frames: (answer: OpenImages, visit: Visit<ImageRequest>) => imageFrames(answer, visit, prefix),
  }
}

function takesFormat({ model }: Visit<ImageRequest>): boolean {
  return model.image?.responseFormat !== false
}
