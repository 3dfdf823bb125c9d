/** Edits images: the prompt's scene in the transparent parts of the mask, all other pixels unchanged. */
import { buffer } from 'node:stream/consumers'
import { invalid } from '../../errors.ts'
import { isFile, type Form } from '../../http/form.ts'
import type { ImageEditRequest, ImageReference } from '../../wire/images.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import { forceParse, yieldIfLarge } from '../yielding.ts'
import { readDataUrl } from '../data-url.ts'
import { repaint, resize } from './draw.ts'
import { answerWith, sizeOf } from './images.ts'
import { readPng, type Picture } from './png.ts'

interface Originals {
  readonly image: Buffer
  readonly mask: Buffer | undefined
}

/** Edits the first image if there are several. */
export async function editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  const originals = call.form === undefined ? await referenced(call) : await uploaded(call.form)
  const { prompt } = call.request
  const picture = await readPng(originals.image, 'image')
  const mask = originals.mask && (await readPng(originals.mask, 'mask'))
  if (mask && (mask.width !== picture.width || mask.height !== picture.height)) {
    throw invalid('"mask" must have the same size as "image".', 'mask')
  }
  const inRegion = regionOf(picture, mask)
  const size = sizeOf(call.request) ?? picture
  return answerWith(call, 'image_edit', async (nth, grain) => {
    // Partial images show the original.
    const edited = grain === 1 ? await repaint(picture, prompt, nth, inRegion) : picture
    return size.width === picture.width && size.height === picture.height
      ? edited
      : resize(edited, size.width, size.height)
  })
}

/** The fully transparent pixels of the mask; without a mask those of the image, or all pixels if it has none. */
function regionOf(picture: Picture, mask: Picture | undefined): (pixel: number) => boolean {
  const { pixels } = mask ?? picture
  const isClear = (pixel: number) => pixels[pixel * 4 + 3] === 0
  if (mask !== undefined) return isClear
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] === 0) return isClear
  return () => true
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
