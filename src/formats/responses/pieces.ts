/** What has arrived of the items of a streamed response, and what their last events add to it. */
import { isRecord, textOf } from '../../wire/json.ts'
import type { Fields } from '../../conversation/conversation.ts'

/** A text, or the input of a call. */
export interface Piece {
  readonly block: number
  text: string
  /** How many tokens of it have come with their probabilities. */
  tokens: number
  readonly cited: Set<string>
  /** Annotations that have come before the text. */
  readonly early: unknown[]
}

export interface OpenItem {
  readonly type: string
  /** The id of a call, or of any other item. */
  id: unknown
  /** Of a call, or of reasoning. */
  block: number
  /** By their place in the item and their kind. */
  readonly pieces: Map<number, Piece>
  /** The last one. */
  piece: Piece | undefined
  at: number
  /** Whether anything of it has arrived in pieces. */
  written: boolean
  /** Whether it has arrived as a whole, or ended. */
  done: boolean
  /** What a piece of reasoning is separated by from the one before. */
  between: string
  /** Fields that only this wire has, for the first piece. */
  own: Fields | undefined
}

/** What parts of reasoning are separated by. */
export const between = '\n\n'

export function openItem(type: string): OpenItem {
  const rest = { written: false, done: false, between: '', own: undefined }
  return { type, id: undefined, block: -1, pieces: new Map(), piece: undefined, at: -1, ...rest }
}

export function idOf({ call_id: call, id }: Fields): unknown {
  return call ?? id
}

export function hasText({ pieces }: OpenItem, whole: string): boolean {
  return [...pieces.values()].some(({ text }) => text === whole)
}

/** Whether reasoning has arrived as a summary, or as plain text, and this is the other. */
export function isOtherForm({ pieces }: OpenItem, isPlain: boolean): boolean {
  return [...pieces.keys()].some((at) => (at % 2 === 1) !== isPlain)
}

/** What a whole text has beyond what has arrived of it; nothing if it begins differently. */
export function restOf(piece: Piece | undefined, whole: string): string {
  if (piece === undefined) return whole
  return whole.length > piece.text.length && whole.startsWith(piece.text) ? whole.slice(piece.text.length) : ''
}

/** Whether an annotation has not arrived yet. Vendors write the same one with other fields in their last events. */
export function isNew({ cited }: Piece, annotation: unknown): boolean {
  if (!isRecord(annotation)) return false
  const { type, url, file_id: file, start_index: start, end_index: end, index } = annotation
  const key = JSON.stringify([type, url, file, start, end, index])
  return cited.size < cited.add(key).size
}

/** The item of a stream that one of the whole response is: vendors may leave some out there, or name them anew. */
export function itemFor(given: Fields, output: readonly unknown[], items: Iterable<OpenItem>): OpenItem | undefined {
  const isAlike = ({ type }: { readonly type?: unknown }) => type === given['type']
  const seen = [...items].filter(isAlike)
  const id = idOf(given)
  const same = id === undefined ? undefined : seen.find((item) => item.id === id)
  const all = output.filter((each) => isRecord(each) && isAlike(each))
  if (same !== undefined || (textOf(given['type']).endsWith('_call') && seen.length < all.length)) return same
  return seen[all.indexOf(given)]
}
