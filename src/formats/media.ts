/** What the formats share of images, audio and files. */
import { type GatewayError, refusedValue } from '../errors.ts'
import type { MediaBlock } from '../conversation/conversation.ts'
import type { MediaPart } from '../conversation/parts.ts'

/**
 * The text in place of what a model has made and the client's wire cannot hold: its words, its address, or that there is one.
 * `begun`: whether an earlier piece of it, which has said so, came before.
 */
export function mediaText(made: Pick<MediaPart, 'type' | 'source' | 'transcript'>, begun = false): string {
  const { type, source, transcript } = made
  if (transcript) return transcript
  if ('url' in source && !source.url.startsWith('data:')) return source.url
  if ('text' in source) return source.text
  return begun ? '' : `[The model has made a file of the type "${type}", which this format cannot hold]`
}

/** The text of a document for models that get it among the other texts. */
export function documentText({ name, context }: Pick<MediaBlock, 'name' | 'context'>, text: string): string {
  return `<document>\n${[...documentHead(name, context), text].join('\n')}\n</document>`
}

/** What is said of a document before it. */
export function documentHead(title: string | undefined, context: string | undefined): string[] {
  return [...(title === undefined ? [] : [`Title: ${title}`]), ...contextOf({ context })]
}

export function contextOf({ context }: Pick<MediaBlock, 'context'>): string[] {
  return context === undefined ? [] : [`Context: ${context}`]
}

/** The format of audio in OpenAI's words, and its media type. */
export function audioFormat(mediaType: string): string {
  return mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length)
}

export function audioType(format: string): string {
  return format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
}

/** The 400 for a file by its id, which is that of the vendor whose wire the client speaks. */
export function unknownId(place: string): GatewayError {
  const message = `This model does not support "${place}" by id. Send the data as base64.`
  return refusedValue(message, place)
}
