/** Image generation and edits: generateContent returns one image per request. */
import { invalid } from '../../errors.ts'
import { base64Of } from '../../http/base64.ts'
import { isFile, type Form } from '../../http/form.ts'
import { readJsonObject } from '../answer.ts'
import type { Call } from '../contract.ts'
import { readDataUrl } from '../data-url.ts'
import { billed, ProviderError, unreadable } from '../failure.ts'
import { isRecord, type Fields } from '../../wire/json.ts'
import { refuseUnless, unsupported, unsupportedValue } from '../unsupported.ts'
import type { Image, ImageEditRequest, ImageReference, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import { sumOfUsages, tokenUsage } from '../../wire/counts.ts'
import type { Usage } from '../../wire/usage.ts'
import type { ContentPart } from '../../wire/gemini.ts'
import { usageOf } from '../content/usage.ts'
import { forceParse, yieldIfLarge, serialize } from '../yielding.ts'
import { ratioOf } from '../videos/aspect-ratio.ts'
import { candidateIn } from './candidate.ts'
import type { Vendor } from './vendor.ts'

/** Width to height. Source: the Gemini API reference, ImageConfig. */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

export function generateImages(vendor: Vendor, call: Call<ImageRequest>): Promise<ImagesResponse> {
  return draw(vendor, call, [])
}

export async function editImages(vendor: Vendor, call: Call<ImageEditRequest>): Promise<ImagesResponse> {
  if (call.form === undefined) await forceParse(call)
  const inputs = call.form === undefined ? referencesIn(call) : await filesIn(call, call.form)
  await yieldIfLarge(call)
  return draw(vendor, call, inputs)
}

async function draw(vendor: Vendor, call: Call<ImageRequest>, inputs: readonly ContentPart[]): Promise<ImagesResponse> {
  const { prompt, n } = call.request
  refuseUnless(call, 'quality', ['auto', 'standard'], 'the model has only one quality; omit the field.')
  refuseUnless(call, 'background', ['auto', 'opaque'], 'it must be opaque.')
  refuseUnless(call, 'output_format', ['png'], 'it must be "png".')
  const aspectRatio = ratioFor(call)
  const body = await serialize(inputs.length > 0 ? { large: true } : call, {
    contents: [{ role: 'user', parts: [{ text: prompt }, ...inputs] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: aspectRatio && { aspectRatio },
    },
  })
  const drawn = await Promise.all(Array.from({ length: n ?? 1 }, () => drawOne(vendor, call, body).catch(failed)))
  const usage = sumOfUsages(drawn.flatMap((each) => each.usage ?? []))
  const data = drawn.flatMap(({ images }) => images)
  // As Google does: what it refuses to draw is missing among the others.
  if (data.length === 0) throw billed(drawn[0]?.error, usage)
  return { data, ...(usage && { usage: tokenUsage(usage) }) }
}

interface Drawn {
  readonly images: readonly Image[]
  readonly usage: Usage | undefined
  /** Why there is no image. */
  readonly error?: unknown
}

function failed(error: unknown): Drawn {
  return { images: [], usage: (error as Partial<ProviderError>).billed?.usage, error }
}

async function drawOne(vendor: Vendor, call: Call<ImageRequest>, body: Buffer): Promise<Drawn> {
  const transfer = await vendor.post(call, 'generateContent', body)
  const { value } = await readJsonObject(transfer, vendor.client.answerBytes)
  const { promptFeedback, usageMetadata, error } = value as Fields
  if (error) throw vendor.failure(error, call)
  const { files, finishReason: reason } = candidateIn(value as Fields)
  const usage = usageOf(usageMetadata)
  if (files.length > 0) return { images: files.map(({ data }) => ({ b64_json: data })), usage }
  const refused = isRecord(promptFeedback) || (typeof reason === 'string' && reason !== 'STOP')
  if (refused) throw billed(new ProviderError('content_policy_violation', { retry: 'never' }), usage)
  throw billed(unreadable("the vendor's response has no image"), usage)
}

/** The aspect ratio of the size, if it has one: the model chooses the number of pixels itself. */
function ratioFor(call: Call<ImageRequest>): string | undefined {
  const { size } = call.request
  if (size === undefined || size === null || size === 'auto') return undefined
  const ratio = ratioOf(size, ratios)
  if (ratio !== undefined) return ratio
  throw unsupportedValue(call, 'size', `use "auto" or a size with one of the ratios ${ratios.join(', ')}.`)
}

function referencesIn(call: Call<ImageEditRequest>): ContentPart[] {
  const { images = [], mask } = call.request
  if (mask !== undefined && mask !== null) throw unsupported(call, 'mask')
  return images.map((reference: ImageReference, index) => {
    const param = `images[${index}].image_url`
    const inline = readDataUrl(reference.image_url ?? '')
    if (inline === undefined) throw unsupportedValue(call, param, 'send the image as a data URL.')
    return { inlineData: { mimeType: inline.mediaType, data: inline.base64 } }
  })
}

async function filesIn(call: Call<ImageEditRequest>, form: Form): Promise<ContentPart[]> {
  const inputs: ContentPart[] = []
  for await (const part of form.parts()) {
    if (!isFile(part)) continue
    if (part.name === 'mask') throw unsupported(call, 'mask')
    if (!/^image(?:\[\d*\])?$/.test(part.name)) throw invalid(`"${part.name}" is not expected.`, part.name)
    const data = await base64Of(part.bytes)
    inputs.push({ inlineData: { mimeType: part.type, data } })
  }
  return inputs
}
