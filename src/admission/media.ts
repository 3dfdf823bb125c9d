/** Finds the parts of a prompt whose number of tokens does not follow from their size. */
import type { Field } from './output-length.ts'

export type MediaKind = 'image' | 'audio' | 'file'

/** A part of a prompt that is not text. */
export interface Media {
  readonly kind: MediaKind
  /** Where it is, such as `messages[0].content[1]`. */
  readonly param: string
  /** Bytes of its data in the request; 0 if it is only referred to. */
  readonly bytes: number
}

/** Types of parts, of all wire formats. */
const kinds: readonly (readonly [RegExp, MediaKind])[] = [
  [/^(?:(?:input_|output_)?image(?:_url|_file)?|computer_screenshot|image_generation_call)$/, 'image'],
  [/^(?:input_|output_)?audio(?:_url)?$/, 'audio'],
  [/^(?:(?:input_)?(?:video|file|document|pdf|media)(?:_url)?|container_upload)$/, 'file'],
]

/** Names of properties with which an object refers to media or contains them, whatever its type. */
const carriers: readonly (readonly [RegExp, MediaKind])[] = [
  [/^image_?(?:id|url|uri|data)$/i, 'image'],
  [/^audio_?(?:id|url|uri|data)$/i, 'audio'],
  [/^(?:video|file|document|inline)_?(?:id|url|uri|data)$/i, 'file'],
]

/** Members that mention media without adding any to the prompt. */
const mentions = ['annotations', 'tool_calls', 'arguments']

const inline = /^data:/i

/** Nested deeper than any request that vendors accept. */
const deepest = 32

/** The parts of a request that are not text. `content`: more values to look into, by name. */
export function mediaIn(field: Field, content: Readonly<Record<string, unknown>> = {}): readonly Media[] {
  const found: Media[] = []
  const fields = {
    messages: field('messages'),
    system: field('system'),
    input: field('input'),
    contents: field('contents'),
    ...content,
  }
  for (const [name, value] of Object.entries(fields)) collect(value, name, found, 0)
  return found
}

function collect(value: unknown, param: string, found: Media[], depth: number): void {
  if (typeof value !== 'object' || value === null || depth > deepest) return
  if (Array.isArray(value)) {
    // A list of numbers is a prompt in tokens.
    if (typeof value[0] === 'number') return
    value.forEach((each, index) => collect(each, `${param}[${index}]`, found, depth + 1))
    return
  }
  const { type } = value as { type?: unknown }
  const kind = (typeof type === 'string' ? kindIn(kinds, type) : undefined) ?? carriedBy(value)
  // The text of a message beside it is none of its data.
  const isMessage = 'content' in value
  if (kind !== undefined) found.push({ kind, param, bytes: isMessage ? 0 : bytesIn(value) })
  if (kind !== undefined && !isMessage) return
  for (const [name, member] of Object.entries(value)) {
    if (mentions.includes(name)) continue
    // In a message of an assistant, the id of an earlier answer in audio.
    if (name === 'audio' && isObject(member)) found.push({ kind: 'audio', param: `${param}.audio`, bytes: 0 })
    else if (isObject(member)) collect(member, `${param}.${name}`, found, depth + 1)
  }
}

/** Whether a part of this type is not text. */
export function isMediaType(type: string): boolean {
  return kindIn(kinds, type) !== undefined
}

function kindIn(known: typeof kinds, name: string): MediaKind | undefined {
  return known.find(([pattern]) => pattern.test(name))?.[1]
}

function carriedBy(value: object): MediaKind | undefined {
  for (const [name, member] of Object.entries(value)) {
    const kind = kindIn(carriers, name)
    if (kind !== undefined) return typedKind(member) ?? kind
  }
  return undefined
}

/** By the media type that stands beside the data, as in Google's format. */
function typedKind(value: unknown): MediaKind | undefined {
  const { mimeType, mime_type: type = mimeType } = Object(value) as { mimeType?: unknown; mime_type?: unknown }
  if (typeof type !== 'string') return undefined
  if (type.startsWith('image/')) return 'image'
  return type.startsWith('audio/') ? 'audio' : undefined
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Bytes of the data inside a part: of `data:` URLs, and of fields named `data` or the like. */
function bytesIn(value: object): number {
  let bytes = 0
  for (const [name, member] of Object.entries(value)) {
    if (isObject(member)) bytes += bytesIn(member)
    else if (typeof member === 'string' && (inline.test(member) || /data$/i.test(name))) bytes += member.length
  }
  return bytes
}
