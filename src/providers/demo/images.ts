/** The demo model's images: real PNGs that depend on prompt and size alone. */
import { invalid } from '../../errors.ts'
import type { ImageEvent, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import type { TokenUsage } from '../../wire/token-usage.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import { draw } from './draw.ts'
import { mostPixels, writePng, type Picture } from './png.ts'
import { countTokens } from './tokens.ts'

const defaultSide = 1024

export function generateImages(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer> {
  const { prompt } = call.request
  const { width, height } = sizeOf(call.request) ?? { width: defaultSide, height: defaultSide }
  const paint = (nth: number, grain: number) => draw(prompt, width, height, nth, grain)
  return answerWith(call, 'image_generation', paint)
}

/** Makes the answer of pictures: `paint` gives the nth of them, for a stream first in coarse squares of `grain` pixels. */
export function answerWith(
  call: Call<ImageRequest>,
  prefix: 'image_generation' | 'image_edit',
  paint: (nth: number, grain: number) => Picture,
): ImageAnswer | Promise<ImageAnswer> {
  const { output_format: type } = call.request
  if (type && type !== 'png') throw invalid('"output_format" must be "png" for this model.', 'output_format')
  return call.stream ? events(call, prefix, paint) : whole(call, paint)
}

async function whole(
  { request }: Call<ImageRequest>,
  paint: (nth: number, grain: number) => Picture,
): Promise<ImagesResponse> {
  const count = request.n ?? 1
  const data: { b64_json: string }[] = []
  let last: Picture | undefined
  for (let nth = 0; nth < count; nth++) {
    last = paint(nth, 1)
    data.push({ b64_json: (await writePng(last)).toString('base64') })
  }
  return { data, ...said(last as Picture), usage: usageOf(request, last as Picture, count) }
}

async function* events(
  { request }: Call<ImageRequest>,
  prefix: string,
  paint: (nth: number, grain: number) => Picture,
): AsyncGenerator<ImageEvent> {
  const unfinished = request.partial_images ?? 0
  for (let nth = 0; nth < (request.n ?? 1); nth++) {
    for (let index = 0; index < unfinished; index++) {
      const picture = paint(nth, 64 >> index)
      const base64 = (await writePng(picture)).toString('base64')
      yield { type: `${prefix}.partial_image`, b64_json: base64, partial_image_index: index, ...said(picture) }
    }
    const picture = paint(nth, 1)
    const base64 = (await writePng(picture)).toString('base64')
    yield { type: `${prefix}.completed`, b64_json: base64, ...said(picture), usage: usageOf(request, picture, nth + 1) }
  }
}

/** The size that was asked for; undefined where the model may choose. */
export function sizeOf({ size }: ImageRequest): { width: number; height: number } | undefined {
  if (!size || size === 'auto') return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  if (width * height > mostPixels) throw invalid(`"size" may have at most ${mostPixels} pixels for this model.`, 'size')
  return { width, height }
}

function said({ width, height }: Picture): Pick<ImagesResponse, 'size' | 'background' | 'output_format'> {
  return { size: `${width}x${height}`, background: 'opaque', output_format: 'png' }
}

/** One token for each 1024 pixels. */
function usageOf({ prompt }: ImageRequest, { width, height }: Picture, count: number): TokenUsage {
  const input = countTokens(prompt)
  const output = count * Math.ceil((width * height) / 1024)
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
  }
}
