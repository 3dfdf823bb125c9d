/** Image generation and edits. Responses are passed on as bytes, streamed or not. */
import { readJsonObject } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import { Verbatim, type Call, type ImageAnswer } from '../contract.ts'
import type { ImageEditRequest, ImageEvent, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import { readTyped } from './typed-events.ts'
import type { StartedResponse, Vendor } from './vendor.ts'

export async function generateImages(vendor: Vendor, call: Call<ImageRequest>): Promise<ImageAnswer> {
  return imagesIn(await vendor.post('/images/generations', call), vendor.client.answerBytes)
}

export async function editImages(vendor: Vendor, call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  const { form } = call
  const path = '/images/edits'
  const started = await (form === undefined ? vendor.post(path, call) : vendor.postForm(path, call, form))
  return imagesIn(started, vendor.client.answerBytes)
}

async function imagesIn(started: StartedResponse, maxBytes: number): Promise<ImageAnswer> {
  if (isMediaType(started.transfer.contentType, 'text/event-stream')) {
    return readTyped<ImageEvent>(started, maxBytes, ({ type }) => type.endsWith('.completed'))
  }
  const { value, bytes } = await readJsonObject(started.transfer, maxBytes)
  const { error, ...response } = value as { error?: unknown } & ImagesResponse
  if (error) throw started.failure(error)
  return new Verbatim(response, bytes)
}
