/**
 * Recognises frames that contain only a text delta without parsing them, by comparing them with an earlier frame. This
 * costs a fifth of searching a frame for field names, and a fiftieth of parsing it.
 */
import type { ChatChunk } from '../../wire/chat.ts'

const textKeys = new Set(['content', 'reasoning_content', 'reasoning', 'text'])

/** Random characters that hide the length of the text. */
const paddingKeys = new Set(['obfuscation', 'p'])

/** Fields whose values matter to the gateway: they never become gaps. */
const fixedKeys = new Set(['id', 'object', 'model', 'index', 'finish_reason'])

const lineFeed = 0x0a
const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

/** A string or a number in the JSON of a frame. */
interface Value {
  readonly key: string
  readonly text: string
  readonly end: number
  /** True for a gap: a value that may differ from frame to frame. */
  readonly open: boolean
}

/** The format in which a vendor writes text deltas: fixed bytes with gaps, learnt from one frame. */
export class FrameTemplate {
  /** Length of the model name with its quotes, in bytes; 0 unless the frame contains it exactly once. */
  readonly nameBytes: number
  /** Size of the text in the frame that matched last, in UTF-8 bytes without JSON escapes. */
  textBytes = 0
  readonly #values: readonly Value[]
  readonly #parts: readonly Part[]

  private constructor(frame: Buffer, values: readonly Value[]) {
    const names = values.filter(({ key }) => key === 'model')
    this.nameBytes = names.length === 1 ? (names[0] as Value).text.length : 0
    this.#values = values
    const parts: Part[] = []
    let start = 0
    const view = new WordView(frame)
    const cut = (end: number, gap: Part['gap']) => parts.push(new Part(view, start, end, gap))
    for (const value of values) {
      const isText = value.text.startsWith('"')
      if (value.key === 'model' && names.length === 1) {
        cut(value.end, 'name')
        start = value.end
      } else if (value.open) {
        const gap = !isText ? 'number' : textKeys.has(value.key) ? 'text' : 'label'
        cut(value.end - value.text.length + (isText ? 1 : 0), gap)
        start = value.end - (isText ? 1 : 0)
      }
    }
    cut(frame.length, 'end')
    this.#parts = parts
  }

  /**
   * The template of a frame; undefined if the frame has more than text, or lacks a field that the gateway must fill in.
   * Values that differ from those of `before`, if that has the same fields, become gaps.
   */
  static of(frame: Buffer, chunk: ChatChunk, before: FrameTemplate | undefined): FrameTemplate | undefined {
    const oneLine = frame.indexOf(lineFeed) === frame.length - 2 && frame.toString('latin1', 0, 7) === 'data: {'
    if (!oneLine || !isText(chunk)) return undefined
    const values = valuesIn(frame)
    const old = before !== undefined && isAlike(values, before.#values) ? before.#values : undefined
    const opened = values.map((value, index) => ({
      ...value,
      open:
        textKeys.has(value.key) ||
        paddingKeys.has(value.key) ||
        (!fixedKeys.has(value.key) && differs(value, old?.[index])),
    }))
    return new FrameTemplate(frame, opened)
  }

  /** The end of the frame at `at`; -1 if it does not match. Appends the end of each model name to `nameEnds`. */
  endOf(view: WordView, at: number, nameEnds?: number[]): number {
    let end = at
    let textBytes = 0
    for (const part of this.#parts) {
      end = part.endOf(view, end)
      if (end < 0) return -1
      if (part.gap === 'text') {
        const start = end
        end = endOfText(view.bytes, start)
        textBytes += end - start - escapeBytes(view.bytes, start, end)
      } else if (part.gap === 'label') end = endOfText(view.bytes, end)
      else if (part.gap === 'number') end = endOfNumber(view.bytes, end)
      else if (part.gap === 'name') nameEnds?.push(end)
    }
    this.textBytes = textBytes
    return end
  }
}

/** Bytes that are also readable in words of eight. */
export class WordView {
  readonly bytes: Buffer
  readonly words: DataView

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

/** Fixed bytes, and the kind of gap after them. */
class Part {
  readonly gap: 'text' | 'label' | 'number' | 'name' | 'end'
  readonly #size: number
  /** The bytes as 64-bit floats. NaN would never compare equal, but no bytes of UTF-8 text encode it. */
  readonly #words: number[] = []
  /** The bytes after the last complete word. */
  readonly #rest: number[] = []

  constructor({ bytes, words }: WordView, start: number, end: number, gap: Part['gap']) {
    this.gap = gap
    this.#size = end - start
    let at = start
    for (; at + 8 <= end; at += 8) this.#words.push(words.getFloat64(at, true))
    for (; at < end; at++) this.#rest.push(bytes[at] as number)
  }

  /** The end of the part if it matches at `from`; otherwise -1. */
  endOf({ bytes, words }: WordView, from: number): number {
    const known = this.#words
    const rest = this.#rest
    const end = from + this.#size
    if (end > bytes.length) return -1
    for (let index = 0; index < known.length; index++) {
      if (words.getFloat64(from + index * 8, true) !== known[index]) return -1
    }
    for (let index = 0, at = end - rest.length; at < end; index++, at++) if (bytes[at] !== rest[index]) return -1
    return end
  }
}

/** Index of the closing quote of a string, or of a character that a JSON string cannot contain. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === quote || byte < 0x20) break
    at += byte === backslash ? 2 : 1
  }
  return at
}

/** The number of bytes by which the JSON of a string is longer than its UTF-8. */
function escapeBytes(bytes: Buffer, from: number, to: number): number {
  let saved = 0
  let at = from
  while (at < to) {
    if (bytes[at] !== backslash) at++
    else if (bytes[at + 1] === letterU) {
      const unit = parseInt(bytes.toString('latin1', at + 2, at + 6), 16)
      // Each half of a surrogate pair counts as two of its four bytes in UTF-8.
      saved += unit < 0x80 ? 5 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 4 : 3
      at += 6
    } else {
      saved++
      at += 2
    }
  }
  return saved
}

function endOfNumber(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && numeric[bytes[at] as number] === 1) at++
  return at
}

const numeric = new Uint8Array(256)
for (const byte of Buffer.from('0123456789+-.eE')) numeric[byte] = 1

/** Whether a chunk has all fields that the gateway needs, and only text. */
function isText({ id, created, choices, usage, error, object }: ChatChunk): boolean {
  if (!id || !created || usage || error || !choices?.length) return false
  if (object !== 'chat.completion.chunk' && object !== 'text_completion') return false
  return choices.every(({ index, delta, text, finish_reason: finish, logprobs }) => {
    const { role: _, tool_calls: calls, ...rest } = delta ?? { text }
    const texts = Object.values(rest).filter((value) => !isEmpty(value))
    if (index === undefined || finish || logprobs || calls?.length) return false
    return texts.length > 0 && texts.every((value) => typeof value === 'string')
  })
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A string, with the colon that makes it a key, or a number. Matching whole strings skips what looks like one inside. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/g

function valuesIn(frame: Buffer): Omit<Value, 'open'>[] {
  const values: Omit<Value, 'open'>[] = []
  let key = ''
  for (const { 0: text, 1: string, 2: colon, index } of frame.toString('latin1').matchAll(tokens)) {
    if (colon === undefined) values.push({ key, text, end: index + text.length })
    else key = (string as string).slice(1, -1)
  }
  return values
}

function isAlike(left: readonly Pick<Value, 'key'>[], right: readonly Pick<Value, 'key'>[]): boolean {
  return left.length === right.length && left.every(({ key }, index) => key === right[index]?.key)
}

function differs({ text }: Pick<Value, 'text'>, old: Value | undefined): boolean {
  return old !== undefined && (old.open || old.text !== text)
}
