/** Generates images: PNGs that depend only on prompt and size. */
import { invalid } from '../../errors.ts'
import type { ImageEvent, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import type { TokenUsage } from '../../wire/usage.ts'
import type { Call, ImageAnswer } from '../contract.ts'
import { forceParse } from '../yielding.ts'
import { draw } from './draw.ts'
import { maxPixels, writePng, type Picture } from './png.ts'
import { countTokens } from './tokens.ts'

const defaultSide = 1024

/** Paints image number `nth`, in squares of `grain` pixels for the partial images of a stream. */
type Paint = (nth: number, grain: number) => Promise<Picture>

export async function generateImages(call: Call<ImageRequest>): Promise<ImageAnswer> {
  await forceParse(call)
  const { prompt } = call.request
  const { width, height } = sizeOf(call.request) ?? { width: defaultSide, height: defaultSide }
  return answerWith(call, 'image_generation', (nth, grain) => draw(prompt, width, height, nth, grain))
}

export function answerWith(
  call: Call<ImageRequest>,
  prefix: 'image_generation' | 'image_edit',
  paint: Paint,
): ImageAnswer | Promise<ImageAnswer> {
  const { output_format: type } = call.request
  if (type && type !== 'png') throw invalid('"output_format" must be "png" for this model.', 'output_format')
  return call.stream ? events(call, prefix, paint) : collect(events(call, prefix, paint))
}

/** Collects the events into one response. Without `stream` there are no partial images. */
async function collect(events: AsyncIterable<ImageEvent>): Promise<ImagesResponse> {
  const data: { b64_json: string }[] = []
  let fields = {}
  for await (const { type: _, b64_json, ...more } of events) {
    if (b64_json !== undefined) data.push({ b64_json })
    fields = more
  }
  return { data, ...fields }
}

async function* events(
  { request, stream }: Call<ImageRequest>,
  prefix: string,
  paint: Paint,
): AsyncGenerator<ImageEvent> {
  const partials = (stream && request.partial_images) || 0
  for (let nth = 0; nth < (request.n ?? 1); nth++) {
    for (let index = 0; index <= partials; index++) {
      const picture = await paint(nth, index < partials ? 64 >> index : 1)
      const { width, height } = picture
      const shared = {
        b64_json: (await writePng(picture)).toString('base64'),
        size: `${width}x${height}`,
        background: 'opaque',
        output_format: 'png',
      }
      if (index < partials) yield { type: `${prefix}.partial_image`, partial_image_index: index, ...shared }
      else yield { type: `${prefix}.completed`, ...shared, usage: usageOf(request, picture, nth + 1) }
    }
  }
}

/** The requested size; undefined if the model may choose. */
export function sizeOf({ size }: ImageRequest): { width: number; height: number } | undefined {
  if (!size || size === 'auto') return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  if (width * height > maxPixels) throw invalid(`"size" may have at most ${maxPixels} pixels for this model.`, 'size')
  return { width, height }
}

/** One output token per 1,024 pixels. */
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
