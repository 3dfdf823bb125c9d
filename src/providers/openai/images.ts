/** Images, and edits of them: whole or in events, passed on as the bytes they are. */
import { readJsonObject } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type ImageAnswer } from '../contract.ts'
import type { ImageEditRequest, ImageEvent, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import { readTyped } from './typed-events.ts'
import type { Begun, Vendor } from './vendor.ts'

export async function generateImages(vendor: Vendor, call: Call<ImageRequest>): Promise<ImageAnswer> {
  return imagesIn(await vendor.post('/images/generations', call), vendor.client.answerBytes)
}

export async function editImages(vendor: Vendor, call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  const { form } = call
  const path = '/images/edits'
  const begun = await (form === undefined ? vendor.post(path, call) : vendor.postForm(path, call, form))
  return imagesIn(begun, vendor.client.answerBytes)
}

async function imagesIn(begun: Begun, maxBytes: number): Promise<ImageAnswer> {
  if (isMediaType(begun.transfer.contentType, 'text/event-stream')) {
    return readTyped<ImageEvent>(begun, maxBytes, ({ type }) => type.endsWith('.completed'))
  }
  const { value, bytes } = await readJsonObject(begun.transfer, maxBytes)
  const { error, ...response } = value as { error?: unknown } & ImagesResponse
  if (error) throw begun.failure(error)
  return new Verbatim(response, bytes)
}
