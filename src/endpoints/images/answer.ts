/** Image responses: converts what a provider returned to the form the client requested. */
import { readTokenUsage, tokenUsage } from '../../wire/counts.ts'
import type { Reply } from '../../http/exchange.ts'
import { doneFrame, eventFrame } from '../../http/sse.ts'
import { Verbatim, type ImageAnswer } from '../../providers/contract.ts'
import type { ImageEvent, ImageRequest, ImagesResponse, ImageVariationRequest, Image } from '../../wire/images.ts'
import type { Usage } from '../../wire/usage.ts'
import { parsedEvents } from '../events.ts'
import { afterFirstPiece } from '../first-content.ts'
import { replyOf, wholeOf, type Open } from '../open.ts'
import type { Context } from '../endpoint.ts'
import { stringOf } from '../../wire/json.ts'
import { failed } from './failure.ts'
import { completedEvent, fullEvent, isCompleted, isPicture, type EventPrefix } from './image-event.ts'
import { readDataUrl } from '../../providers/data-url.ts'

/** An image response that has arrived, or whose first event has. */
export type OpenImages = Open<ImagesResponse, ImageEvent | Verbatim<ImageEvent>>

type ImageContext = Context<ImageVariationRequest>

/** Resolves once the response or its first event has arrived. Throws if it has no image. */
export async function openImages(answer: ImageAnswer, context: ImageContext): Promise<OpenImages> {
  const open = await opened(answer, context)
  const { inspection } = context
  if (inspection?.seesAnswers !== true || open.kind === 'stream') return open
  const { data: images = [] } = open.body
  const prompts = images.map(({ revised_prompt: prompt }) => prompt ?? '')
  const passed = await inspection.answeredTexts(prompts)
  if (passed.every((prompt, index) => prompt === prompts[index])) return open
  const data = images.map((image, index) => ({ ...image, revised_prompt: passed[index] ?? '' }))
  return { kind: 'whole', body: { ...open.body, data } }
}

async function opened(answer: ImageAnswer, context: ImageContext): Promise<OpenImages> {
  if (Symbol.asyncIterator in answer) {
    const pieces = await afterFirstPiece(answer)
    if (context.order.stream) return { kind: 'stream', pieces }
    return whole(await collected(pieces), undefined, context)
  }
  return answer instanceof Verbatim ? whole(answer.value, answer.bytes, context) : whole(answer, undefined, context)
}

/** Keeps the vendor's own bytes if nothing has to change, because images are large. */
function whole(raw: ImagesResponse, bytes: Uint8Array | undefined, { order, startedAt }: ImageContext): OpenImages {
  const images = raw.data ?? []
  if (!images.every(isPicture) || images.length === 0)
    throw failed(new Error('the response of the vendor has no image'))
  const format = order.field('response_format') as ImageRequest['response_format']
  const data = images.map((image) => inFormat(image, format, raw.output_format))
  const usage = usageOf(raw)
  const untouched =
    raw.created !== undefined && usage === raw.usage && data.every((image, index) => image === images[index])
  if (untouched) return { kind: 'whole', body: raw, bytes }
  return {
    kind: 'whole',
    body: { ...raw, created: raw.created ?? Math.floor(startedAt / 1000), data, ...(usage && { usage }) },
  }
}

/** The usage in OpenAI's names for images, for vendors that use those of chats. */
function usageOf({ usage: raw }: ImagesResponse): ImagesResponse['usage'] {
  if (raw === undefined || raw.input_tokens !== undefined) return raw
  const counts = readTokenUsage(raw)
  return counts === undefined ? raw : tokenUsage(counts)
}

async function collected(events: AsyncIterable<ImageEvent | Verbatim<ImageEvent>>): Promise<ImagesResponse> {
  const images: ImageEvent[] = []
  for await (const { event } of parsedEvents(events)) if (isCompleted(event)) images.push(event)
  const { created_at: created, size, quality, background, output_format: type, usage } = images.at(-1) ?? {}
  return {
    data: images.map(({ b64_json: base64 }) => ({ ...(base64 !== undefined && { b64_json: base64 }) })),
    ...(created !== undefined && { created }),
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
    ...(type !== undefined && { output_format: type }),
    ...(usage && { usage }),
  }
}

/** The non-streaming reply. */
export function imagesReply(answer: OpenImages, context: ImageContext): Reply {
  const { body } = wholeOf(answer)
  count(context, body, body.data?.length ?? 0)
  return replyOf(answer)
}

/** The frames of a stream. If the provider does not stream, one `completed` event for each image. */
export async function* imageFrames(
  answer: OpenImages,
  context: ImageContext,
  prefix: EventPrefix,
): AsyncGenerator<string | Uint8Array> {
  if (answer.kind === 'whole') {
    const { body: response } = answer
    count(context, response, response.data?.length ?? 0)
    for (const image of response.data ?? []) yield print(fullEvent(completedEvent(image, response, prefix), context))
  } else {
    let made = 0
    for await (const { event, bytes } of parsedEvents(answer.pieces)) {
      // The event name becomes a line of the frame, so a line break in it could inject one.
      if (!/^[a-z_.]+$/.test(event.type)) continue
      const full = fullEvent(event, context)
      if (isCompleted(event)) count(context, event, ++made)
      yield full === event && bytes !== undefined ? frame(event.type, bytes) : print(full)
    }
    if (made === 0) throw failed(new Error('the stream of the vendor has no completed image'))
  }
  yield doneFrame
}

function count({ meter, order }: ImageContext, response: ImagesResponse | ImageEvent, images: number): void {
  const size = stringOf(response.size) ?? stringOf(order.field('size'))
  const quality = stringOf(response.quality) ?? stringOf(order.field('quality'))
  meter.units = { images, ...(size && { size }), ...(quality && { quality }) }
  const usage = readTokenUsage(response.usage)
  meter.usage = usage && withImages(usage)
}

/** Some models do not say which of the output tokens are images: all of them. */
function withImages(usage: Usage): Usage {
  const { completion_tokens: output, completion_tokens_details: details } = usage
  if (details !== undefined && ('image_tokens' in details || 'text_tokens' in details)) return usage
  return { ...usage, completion_tokens_details: { ...details, image_tokens: output } }
}

function print(event: ImageEvent): string {
  return eventFrame(event.type, event)
}

/** One buffer, because each frame must be one write. */
function frame(type: string, json: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`event: ${type}\ndata: `), json, Buffer.from('\n\n')])
}

/**
 * An image in the requested `response_format`: converts between base64 and a `data:` URL. Other URLs are kept and not
 * downloaded. The same object if nothing has to change.
 */
function inFormat(image: Image, format: ImageRequest['response_format'], type: string | undefined): Image {
  const { b64_json: base64, url, ...rest } = image
  if (format === 'url' && url === undefined && base64 !== undefined) {
    return { ...rest, url: `data:image/${type ?? typeOf(base64)};base64,${base64}` }
  }
  const inline = format === 'b64_json' && base64 === undefined ? readDataUrl(url ?? '') : undefined
  return inline === undefined ? image : { ...rest, b64_json: inline.base64 }
}

/** The type of an image, from its first bytes in base64. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'jpeg'
  if (base64.startsWith('UklGR')) return 'webp'
  return base64.startsWith('R0lG') ? 'gif' : 'png'
}
