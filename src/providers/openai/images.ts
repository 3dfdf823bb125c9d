/** Image generation, edits and variations. Responses are passed on as bytes, streamed or not. */
import { isMediaType } from '../../http/media-type.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import type {
  ImageEditRequest,
  ImageEvent,
  ImageRequest,
  ImagesResponse,
  ImageVariationRequest,
} from '../../wire/images.ts'
import { readComplete } from './text.ts'
import { readTyped } from './typed-events.ts'
import type { StartedResponse, Vendor } from './vendor.ts'

export async function generateImages(vendor: Vendor, call: Call<ImageRequest>): Promise<ImageAnswer> {
  return imagesIn(await vendor.post('/images/generations', call), call, vendor.client.answerBytes)
}

export function editImages(vendor: Vendor, call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  return fromImages(vendor, call, '/images/edits')
}

export function varyImage(vendor: Vendor, call: Call<ImageVariationRequest>): Promise<ImageAnswer> {
  return fromImages(vendor, call, '/images/variations')
}

async function fromImages(vendor: Vendor, call: Call<ImageVariationRequest>, path: string): Promise<ImageAnswer> {
  const { form } = call
  const started = await (form === undefined ? vendor.post(path, call) : vendor.postForm(path, call, form))
  return imagesIn(started, call, vendor.client.answerBytes)
}

async function imagesIn(
  started: StartedResponse,
  call: Call<ImageVariationRequest>,
  maxBytes: number,
): Promise<ImageAnswer> {
  if (isMediaType(started.transfer.contentType, 'text/event-stream')) {
    return readTyped<ImageEvent>(
      started,
      maxBytes,
      ({ type }) => type.endsWith('.completed'),
      (call.field('n') as number | null | undefined) ?? 1,
    )
  }
  return readComplete<ImagesResponse>({ ...started, rename: undefined }, maxBytes)
}
