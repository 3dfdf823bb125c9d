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
