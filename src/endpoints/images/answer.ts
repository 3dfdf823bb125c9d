/** The answer of a provider that makes images: begun, whole or in events, in the form that was asked for. */
import { readTokenUsage } from '../../wire/counts.ts'
import { bytesReply, jsonReply } from '../../http/answers.ts'
import type { Reply } from '../../http/exchange.ts'
import { doneFrame, eventFrame } from '../../http/sse.ts'
import { Verbatim, type ImageAnswer } from '../../providers/contract.ts'
import type { ImageEvent, ImageRequest, ImagesResponse } from '../../wire/images.ts'
import { beginEvents, eventsOf, type OpenEvents } from '../events.ts'
import type { Visit } from '../endpoint.ts'
import { failed } from './failure.ts'
import { completedEvent, fullEvent, isCompleted, type EventPrefix } from './image-event.ts'
import { asAsked } from './picture.ts'

export type OpenImages =
  | { readonly kind: 'whole'; readonly response: ImagesResponse; readonly bytes?: Uint8Array }
  | { readonly kind: 'events'; readonly events: OpenEvents<ImageEvent> }

type ImageVisit = Visit<ImageRequest>

/** Throws what `generationFailure` makes a 500 when no image came. */
export async function openImages(answer: ImageAnswer, visit: ImageVisit): Promise<OpenImages> {
  if (Symbol.asyncIterator in answer) {
    const events = await beginEvents(answer)
    if (visit.order.stream) return { kind: 'events', events }
    return whole(await collected(events), undefined, visit)
  }
  return answer instanceof Verbatim ? whole(answer.value, answer.bytes, visit) : whole(answer, undefined, visit)
}

/** The vendor's own bytes where nothing had to change: images are large. */
function whole(raw: ImagesResponse, bytes: Uint8Array | undefined, { order, startedAt }: ImageVisit): OpenImages {
  const images = raw.data ?? []
  if (images.length === 0) throw failed(new Error('the vendor made no image'))
  const format = order.field('response_format') as ImageRequest['response_format']
  const data = images.map((image) => asAsked(image, format, raw.output_format))
  const usage = usageOf(raw)
  const untouched =
    raw.created !== undefined && usage === raw.usage && data.every((image, index) => image === images[index])
  if (untouched) return { kind: 'whole', response: raw, ...(bytes && { bytes }) }
  return {
    kind: 'whole',
    response: { ...raw, created: raw.created ?? Math.floor(startedAt / 1000), data, ...(usage && { usage }) },
  }
}

/** The counts of a vendor that calls them as chats do, in OpenAI's names. */
function usageOf({ usage: raw }: ImagesResponse): ImagesResponse['usage'] {
  if (raw === undefined || raw.input_tokens !== undefined) return raw
  const counts = readTokenUsage(raw)
  if (counts === undefined) return raw
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = counts
  return { input_tokens: input, output_tokens: output, total_tokens: total }
}

async function collected(events: OpenEvents<ImageEvent>): Promise<ImagesResponse> {
  const images: ImageEvent[] = []
  for await (const { event } of eventsOf(events)) if (isCompleted(event)) images.push(event)
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

export function imagesReply(answer: OpenImages, visit: ImageVisit): Reply {
  if (answer.kind === 'events') throw new TypeError('a streamed answer is not whole')
  const { response, bytes } = answer
  count(visit, response, response.data?.length ?? 0)
  return bytes === undefined ? jsonReply(response) : bytesReply(bytes)
}

/** A client that wants events gets them from a provider that gives the whole, too: each image with its completion. */
export async function* imageFrames(
  answer: OpenImages,
  visit: ImageVisit,
  prefix: EventPrefix,
): AsyncGenerator<string | Uint8Array> {
  if (answer.kind === 'whole') {
    const { response } = answer
    count(visit, response, response.data?.length ?? 0)
    for (const image of response.data ?? []) yield print(fullEvent(completedEvent(image, response, prefix), visit))
  } else {
    let made = 0
    for await (const { event, bytes } of eventsOf(answer.events)) {
      // What is no plain word could end the line it stands in.
      if (!/^[a-z_.]+$/.test(event.type)) continue
      const full = fullEvent(event, visit)
      if (isCompleted(event)) count(visit, event, ++made)
      yield full === event && bytes !== undefined ? frame(event.type, bytes) : print(full)
    }
    if (made === 0) throw failed(new Error('the vendor ended the stream without an image'))
  }
  yield doneFrame
}

function count({ meter, order }: ImageVisit, said: ImagesResponse | ImageEvent, images: number): void {
  const size = said.size ?? (order.field('size') as ImageRequest['size'])
  const quality = said.quality ?? (order.field('quality') as ImageRequest['quality'])
  meter.units = { images, ...(size && { size }), ...(quality && { quality }) }
  meter.usage = readTokenUsage(said.usage)
}

function print(event: ImageEvent): string {
  return eventFrame(event.type, event)
}

/** One piece, as frames have to come in one write. */
function frame(type: string, json: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`event: ${type}\ndata: `), json, Buffer.from('\n\n')])
}
