/** Events of an image stream, with the fields that a provider omitted. */
import type { Image, ImageEvent, ImagesResponse, ImageVariationRequest } from '../../wire/images.ts'
import { textOf } from '../../wire/json.ts'
import type { TokenUsage } from '../../wire/usage.ts'
import type { Context } from '../endpoint.ts'

/** The first part of event types, before the dot. */
export type EventPrefix = 'image_generation' | 'image_edit'

/** Whether an event has a finished image. */
export function isCompleted(event: ImageEvent): boolean {
  return event.type.endsWith('.completed') && isPicture(event)
}

/** Whether there is an image, and not only the place for one. */
export function isPicture(image: object | null): boolean {
  const { b64_json: base64, url } = Object(image) as Readonly<Record<string, unknown>>
  return textOf(base64) !== '' || textOf(url) !== ''
}

/** The event for an image of a non-streaming response. */
export function completedEvent(image: Image, response: ImagesResponse, prefix: EventPrefix): ImageEvent {
  const { created, data: _, ...rest } = response
  return { type: `${prefix}.completed`, ...image, ...rest, ...(created !== undefined && { created_at: created }) }
}

/** An event with all required fields; the same object if none is missing. */
export function fullEvent(event: ImageEvent, { order, startedAt }: Context<ImageVariationRequest>): ImageEvent {
  const missing: Record<string, unknown> = {}
  const require = (name: string, value: () => unknown) => {
    if (event[name] === undefined) missing[name] = value()
  }
  require('created_at', () => Math.floor(startedAt / 1000))
  for (const name of ['size', 'quality', 'background']) require(name, () => order.field(name) ?? 'auto')
  require('output_format', () => order.field('output_format') ?? 'png')
  if (isCompleted(event)) require('usage', () => noTokens)
  return Object.keys(missing).length === 0 ? event : { ...event, ...missing }
}

/** For vendors that do not count tokens. */
const noTokens: TokenUsage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
}
