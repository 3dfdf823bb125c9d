/**
 * Makes images: PNGs that depend only on prompt and size. The original of an edit is not looked at; a variation has its hash as the
 * prompt.
 */
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { invalid } from '../../errors.ts'
import { isFile, type Form } from '../../http/form.ts'
import type {
  ImageEditRequest,
  ImageEvent,
  ImageReference,
  ImageRequest,
  ImageVariationRequest,
} from '../../wire/images.ts'
import type { TokenUsage } from '../../wire/usage.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import { readDataUrl } from '../data-url.ts'
import { forceParse, yieldIfLarge } from '../yielding.ts'
import { draw, maxPixels, sizeOfPng, type Size } from './png.ts'
import { countTokens } from './tokens.ts'

const defaultSize: Size = { width: 1024, height: 1024 }

export async function generateImages(call: Call<ImageRequest>): Promise<ImageAnswer> {
  await forceParse(call)
  return answerWith(call, call.request.prompt, 'image_generation', sizeOf(call.request) ?? defaultSize)
}

/** Draws the prompt in the size of the first image. */
export async function editImages(call: Call<ImageEditRequest>): Promise<ImageAnswer> {
  const originals = call.form === undefined ? await referenced(call) : await uploaded(call.form)
  const original = sizeOfPng(originals.image, 'image')
  const mask = originals.mask && sizeOfPng(originals.mask, 'mask')
  if (mask && (mask.width !== original.width || mask.height !== original.height)) {
    throw invalid('"mask" must have the same size as "image".', 'mask')
  }
  return answerWith(call, call.request.prompt, 'image_edit', sizeOf(call.request) ?? original)
}

export async function varyImage(call: Call<ImageVariationRequest>): Promise<ImageAnswer> {
  const { image } = await uploaded(call.form)
  const original = sizeOfPng(image, 'image')
  const prompt = createHash('sha256').update(image).digest('hex')
  return answerWith(call, prompt, 'image_variation', sizeOf(call.request) ?? original)
}

interface Originals {
  readonly image: Buffer
  readonly mask: Buffer | undefined
}

async function uploaded(form: Form | undefined): Promise<Originals> {
  let image: Buffer | undefined
  let mask: Buffer | undefined
  for await (const part of form?.parts() ?? []) {
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

/** The requested size; undefined if the model may choose. */
function sizeOf({ size }: ImageVariationRequest): Size | undefined {
  if (!size || size === 'auto') return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  if (width * height > maxPixels) throw invalid(`"size" may have at most ${maxPixels} pixels for this model.`, 'size')
  return { width, height }
}

function answerWith(call: Call<ImageVariationRequest>, prompt: string, prefix: string, size: Size): ImageAnswer {
  const { output_format: type } = call.request
  if (type && type !== 'png') throw invalid('"output_format" must be "png" for this model.', 'output_format')
  return events(call, prompt, prefix, size)
}

async function* events(
  call: Call<ImageVariationRequest>,
  prompt: string,
  prefix: string,
  size: Size,
): AsyncGenerator<ImageEvent> {
  const { request, stream } = call
  const partials = (stream && Number(request['partial_images'])) || 0
  const shared = { size: `${size.width}x${size.height}`, background: 'opaque', output_format: 'png' }
  for (let nth = 0; nth < (request.n ?? 1); nth++) {
    for (let index = 0; index <= partials; index++) {
      const bytes = await draw(prompt, size, nth, index < partials ? 64 >> index : 1)
      const image = { b64_json: bytes.toString('base64'), ...shared }
      if (index < partials) yield { type: `${prefix}.partial_image`, partial_image_index: index, ...image }
      else yield { type: `${prefix}.completed`, ...image, usage: usageOf(prompt, size, nth + 1) }
    }
  }
}

/** One output token per 1,024 pixels. */
function usageOf(prompt: string, { width, height }: Size, count: number): TokenUsage {
  const input = countTokens(prompt)
  const output = count * Math.ceil((width * height) / 1024)
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
  }
}
