/**
 * Recognises frames that contain only a delta of a block's text without parsing them, by comparing them with an earlier
 * frame. Nothing in these frames differs from stream to stream, so what one stream has learnt serves all.
 */
import { FramePart, endOfText, escapeBytes } from '../frame-part.ts'
import { WordView } from '../frame-window.ts'

const lineFeed = 0x0a
const space = 0x20
const closeBrace = 0x7d

const prefix = 'event: content_block_delta\ndata: {'

/** The field of a delta that holds the text, by the delta's type. */
const textFields: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

/** Types of deltas whose text is content. A signature is state of the vendor. */
export function isContent(type: unknown): boolean {
  return type !== 'signature_delta'
}

/** The frames of one type of delta and one block, as the vendor writes them. */
export class DeltaTemplate {
  /** Size of the text in the frame that matched last, in UTF-8 bytes without JSON escapes. */
  textBytes = 0
  readonly #isContent: boolean
  readonly #head: FramePart<'text'>
  /** Up to the last brace, before which the vendor writes a random number of spaces. */
  readonly #tail: FramePart<'end'>

  private constructor(isContent: boolean, head: FramePart<'text'>, tail: FramePart<'end'>) {
    this.#isContent = isContent
    this.#head = head
    this.#tail = tail
  }

  /** The template of a frame; undefined if it has more than one text, or an unusual form. */
  static of(frame: Buffer, delta: Readonly<Record<string, unknown>>): DeltaTemplate | undefined {
    const name = textFields[String(delta['type'])]
    const text = frame.toString('latin1')
    if (name === undefined || !text.startsWith(prefix) || frame.indexOf(lineFeed, prefix.length) !== frame.length - 2) {
      return undefined
    }
    // The delta has no text before its own: the type and the name of the field are plain.
    const start = new RegExp(`"${name}": ?"`).exec(text)
    if (start === null) return undefined
    const view = new WordView(frame)
    const from = start.index + start[0].length
    const end = endOfText(view, from)
    const last = text.lastIndexOf('}')
    let braces = last
    while (frame[braces - 1] === space) braces--
    if (end >= braces) return undefined
    const template = new DeltaTemplate(
      isContent(delta['type']),
      new FramePart(view, 0, from, 'text'),
      new FramePart(view, end, braces, 'end'),
    )
    return template.endOf(view, 0) === frame.length ? template : undefined
  }

  /** The end of the frame at `at`; -1 if it does not match. */
  endOf(view: WordView, at: number): number {
    const from = this.#head.endOf(view, at)
    if (from < 0) return -1
    const end = endOfText(view, from)
    const { bytes, size } = view
    let last = this.#tail.endOf(view, end)
    if (last < 0) return -1
    while (last < size && bytes[last] === space) last++
    if (last + 3 > size || bytes[last] !== closeBrace) return -1
    if (bytes[last + 1] !== lineFeed || bytes[last + 2] !== lineFeed) return -1
    this.textBytes = this.#isContent ? end - from - escapeBytes(bytes, from, end) : 0
    return last + 3
  }
}

/** More than one for each type of delta in the blocks of usual messages. */
const maxTemplates = 16

/** The templates that the streams of one vendor have learnt. */
export class DeltaTemplates {
  readonly #templates: DeltaTemplate[] = []

  /** The template of the frame at `at`; undefined if it is not known. */
  matching(view: WordView, at: number): DeltaTemplate | undefined {
    return this.#templates.find((template) => template.endOf(view, at) >= 0)
  }

  /** Adds a template. The one added first is dropped when there are too many. */
  add(template: DeltaTemplate): void {
    if (this.#templates.length === maxTemplates) this.#templates.pop()
    this.#templates.unshift(template)
  }
}
