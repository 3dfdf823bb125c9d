/**
 * How a vendor prints a delta of text, learnt from one frame: fixed bytes with gaps where the text stands. A frame that
 * differs from it in the gaps only says nothing but text, whatever its fields are called; telling that costs a fifth of
 * searching it for the names of fields, and a fiftieth of parsing it.
 */
import type { ChatChunk } from '../../wire/chat.ts'

const textKeys = new Set(['content', 'reasoning_content', 'reasoning', 'text'])

/** Random characters that hide the length of the text. */
const paddingKeys = new Set(['obfuscation', 'p'])

/** Values that tell a frame from others, and so are fixed even if they have been seen to differ. */
const tellingKeys = new Set(['id', 'object', 'model', 'index', 'finish_reason'])

const lineFeed = 0x0a
const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

/** A string or a number in the JSON of a frame. */
interface Value {
  readonly key: string
  readonly text: string
  readonly end: number
  /** It is a gap: it may differ from frame to frame. */
  readonly open: boolean
}

export class FrameTemplate {
  /** Bytes of the name of the model with its quotes; 0 when it is printed otherwise than once. */
  readonly nameBytes: number
  /** Of the frame that was found last: bytes of the answer's text in UTF-8, without escapes. */
  textBytes = 0
  readonly #values: readonly Value[]
  readonly #parts: readonly Part[]

  private constructor(frame: Buffer, values: readonly Value[]) {
    const names = values.filter(({ key }) => key === 'model')
    this.nameBytes = names.length === 1 ? (names[0] as Value).text.length : 0
    this.#values = values
    const parts: Part[] = []
    let start = 0
    const slab = new Slab(frame)
    const cut = (end: number, gap: Part['gap']) => parts.push(new Part(slab, start, end, gap))
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
   * The template of a frame and of those like it; undefined when it says more than text, or something in it has to be
   * filled in. Values in which it differs from `before`, where it has the same fields, become gaps.
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
        (!tellingKeys.has(value.key) && differs(value, old?.[index])),
    }))
    return new FrameTemplate(frame, opened)
  }

  /** The end of the frame that begins at `at`; -1 when it is not one of these. Ends of names are noted in `nameEnds`. */
  endOf(slab: Slab, at: number, nameEnds?: number[]): number {
    let end = at
    let textBytes = 0
    for (const part of this.#parts) {
      end = part.endOf(slab, end)
      if (end < 0) return -1
      if (part.gap === 'text') {
        const start = end
        end = endOfText(slab.bytes, start)
        textBytes += end - start - escapeBytes(slab.bytes, start, end)
      } else if (part.gap === 'label') end = endOfText(slab.bytes, end)
      else if (part.gap === 'number') end = endOfNumber(slab.bytes, end)
      else if (part.gap === 'name') nameEnds?.push(end)
    }
    this.textBytes = textBytes
    return end
  }
}

/** Bytes that are looked at in steps of eight. */
export class Slab {
  readonly bytes: Buffer
  readonly words: DataView

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

/** Fixed bytes, and what follows them. */
class Part {
  /** What follows. */
  readonly gap: 'text' | 'label' | 'number' | 'name' | 'end'
  readonly #size: number
  /**
   * The bytes in words of eight: what is no number as a floating-point value never occurs in UTF-8, and would only be
   * taken for different.
   */
  readonly #words: number[] = []
  /** Those behind the last whole word. */
  readonly #rest: number[] = []

  constructor({ bytes, words }: Slab, start: number, end: number, gap: Part['gap']) {
    this.gap = gap
    this.#size = end - start
    let at = start
    for (; at + 8 <= end; at += 8) this.#words.push(words.getFloat64(at, true))
    for (; at < end; at++) this.#rest.push(bytes[at] as number)
  }

  /** The byte after the part, if it stands at `from`; else -1. */
  endOf({ bytes, words }: Slab, from: number): number {
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

/** The place of the closing quote of a string, or of what cannot stand in one. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === quote || byte < 0x20) break
    at += byte === backslash ? 2 : 1
  }
  return at
}

/** Bytes by which the text of a string is longer in JSON than in UTF-8. */
function escapeBytes(bytes: Buffer, from: number, to: number): number {
  let saved = 0
  let at = from
  while (at < to) {
    if (bytes[at] !== backslash) at++
    else if (bytes[at + 1] === letterU) {
      const unit = parseInt(bytes.toString('latin1', at + 2, at + 6), 16)
      // Half of a pair takes two of the pair's four bytes.
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

/** A chunk that is complete, and holds text and nothing else. */
function isText({ id, created, choices, usage, error, object }: ChatChunk): boolean {
  if (!id || !created || usage || error || !choices?.length) return false
  if (object !== 'chat.completion.chunk' && object !== 'text_completion') return false
  return choices.every(({ index, delta, text, finish_reason: finish, logprobs }) => {
    const { role: _, tool_calls: calls, ...rest } = delta ?? { text }
    const told = Object.values(rest).filter((value) => !isEmpty(value))
    if (index === undefined || finish || logprobs || calls?.length) return false
    return told.length > 0 && told.every((value) => typeof value === 'string')
  })
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A string with what makes a key of it, or a number; inside strings nothing is taken for either. */
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
