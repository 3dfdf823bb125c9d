/** Edits images: the prompt's scene in the size of the image, which is not looked at. */
import { buffer } from 'node:stream/consumers'
import { invalid } from '../../errors.ts'
import { isFile, type Form } from '../../http/form.ts'
import type { ImageEditRequest, ImageReference } from '../../wire/images.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import { forceParse, yieldIfLarge } from '../yielding.ts'
import { readDataUrl } from '../data-url.ts'
import { draw } from './draw.ts'
import { answerWith, sizeOf } from './images.ts'
import { sizeOfPng } from './png.ts'

interface Originals {
  readonly image: Buffer
  readonly mask: Buffer | undefined
}

/** Draws the prompt in the size of the first image. */
export async function editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  const originals = call.form === undefined ? await referenced(call) : await uploaded(call.form)
  const original = sizeOfPng(originals.image, 'image')
  const mask = originals.mask && sizeOfPng(originals.mask, 'mask')
  if (mask && (mask.width !== original.width || mask.height !== original.height)) {
    throw invalid('"mask" must have the same size as "image".', 'mask')
  }
  const { width, height } = sizeOf(call.request) ?? original
  return answerWith(call, 'image_edit', (nth, grain) => draw(call.request.prompt, width, height, nth, grain))
}

async function uploaded(form: Form): Promise<Originals> {
  let image: Buffer | undefined
  let mask: Buffer | undefined
  for await (const part of form.parts()) {
    if (!isFile(part)) continue
    if (part.name === 'mask') mask = await buffer(part.bytes)
    else if (part.name.startsWith('image')) image ??= await buffer(part.bytes)
  }
  if (image === undefined) throw invalid('Missing required parameter: "image".', 'image')
  return { image, mask }
}

async function referenced(call: Call<ImageEditRequest>): Promise<Originals> {
  await forceParse(call)
  const { images = [], mask } = call.request
  const image = await inline(call, images[0], 'images[0]')
  return { image, mask: mask ? await inline(call, mask, 'mask') : undefined }
}

async function inline(call: Call<unknown>, reference: ImageReference | undefined, param: string): Promise<Buffer> {
  const data = readDataUrl(reference?.image_url ?? '')
  await yieldIfLarge(call)
  if (data !== undefined) return Buffer.from(data.base64, 'base64')
  throw invalid(`"${param}" must contain the image itself as a data URL in "image_url" for this model.`, param)
}
