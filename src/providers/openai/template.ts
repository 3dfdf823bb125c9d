/**
 * Recognises frames that contain only a text delta without parsing them, by comparing them with an earlier frame. This
 * costs a fifth of searching a frame for field names, and a fiftieth of parsing it.
 */
import type { ChatChunk } from '../../wire/chat.ts'
import { FramePart, endOfText, escapeBytes } from '../frame-part.ts'
import { WordView } from '../frame-window.ts'

const textKeys = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'text'])

/** Random characters that hide the length of the text. */
const paddingKeys = new Set(['obfuscation', 'p'])

/** Fields whose values matter to the gateway: they never become gaps. */
const fixedKeys = new Set(['id', 'object', 'model', 'index', 'finish_reason'])

const lineFeed = 0x0a

/** A string or a number in the JSON of a frame. */
interface Value {
  readonly key: string
  readonly text: string
  readonly end: number
  /** True for a gap: a value that may differ from frame to frame. */
  readonly open: boolean
}

type Gap = 'text' | 'label' | 'number' | 'name' | 'id' | 'time' | 'end'

type TemplatePart = FramePart<Gap>

/** The format in which a vendor writes text deltas: fixed bytes with gaps, learnt from one frame. */
export class FrameTemplate {
  /** Length of the model name with its quotes, in bytes; 0 unless the frame contains it exactly once. */
  readonly nameBytes: number
  /** The indexes of the choices in the frame. */
  readonly choices: readonly number[]
  /** The fields of the texts in the frame, in its order. */
  readonly texts: readonly string[]
  /** Size of the text in the frame that matched last, in UTF-8 bytes without JSON escapes. */
  textBytes = 0
  readonly #values: readonly Value[]
  readonly #parts: readonly TemplatePart[]
  /** The parts with gaps also for what differs between two streams: id and time. */
  readonly #layout: readonly TemplatePart[]

  private constructor(
    like: Pick<FrameTemplate, 'nameBytes' | 'choices' | 'texts'>,
    values: readonly Value[],
    parts: readonly TemplatePart[],
    layout: readonly TemplatePart[],
  ) {
    this.nameBytes = like.nameBytes
    this.choices = like.choices
    this.texts = like.texts
    this.#values = values
    this.#parts = parts
    this.#layout = layout
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
    const names = values.filter(({ key }) => key === 'model')
    const nameBytes = names.length === 1 ? (names[0] as Value).text.length : 0
    const choices = (chunk.choices ?? []).map(({ index }) => index ?? 0)
    const parts = (between: boolean) => partsOf(frame, opened, nameBytes > 0, between)
    const texts = opened.filter(({ key, open }) => open && textKeys.has(key)).map(({ key }) => key)
    return new FrameTemplate({ nameBytes, choices, texts }, opened, parts(false), parts(true))
  }

  /** The same template for the stream of the frame at `at`; undefined if the frame has another layout, or another id. */
  forStream(view: WordView, at: number, id: string): FrameTemplate | undefined {
    const parts: TemplatePart[] = []
    let start = at
    let end = at
    for (const part of this.#layout) {
      end = part.endOf(view, end)
      if (end < 0) return undefined
      const gapEnd = endOfGap(part.gap, view, end)
      if (part.gap === 'id' && view.bytes.toString('latin1', end, gapEnd) !== id) return undefined
      if (part.gap !== 'id' && part.gap !== 'time') {
        parts.push(new FramePart(view, start, end, part.gap))
        start = gapEnd
      }
      end = gapEnd
    }
    return new FrameTemplate(this, this.#values, parts, this.#layout)
  }

  /**
   * The end of the frame at `at`; -1 if it does not match. Appends the end of each model name to `nameEnds`, and begin and
   * end of each text to `spans`.
   */
  endOf(view: WordView, at: number, nameEnds?: number[], spans?: number[]): number {
    const parts = this.#parts
    let end = at
    let textBytes = 0
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as TemplatePart
      const start = part.endOf(view, end)
      if (start < 0) return -1
      end = endOfGap(part.gap, view, start)
      if (part.gap === 'text') {
        textBytes += end - start - escapeBytes(view.bytes, start, end)
        spans?.push(start, end)
      } else if (part.gap === 'name') nameEnds?.push(end)
    }
    this.textBytes = textBytes
    return end
  }
}

/** The fixed parts of a frame. `between`: whether what differs between two streams is a gap. */
function partsOf(frame: Buffer, values: readonly Value[], hasName: boolean, between: boolean): TemplatePart[] {
  const parts: TemplatePart[] = []
  const view = new WordView(frame)
  let start = 0
  for (const value of values) {
    const gap = gapOf(value, hasName, between)
    if (gap === undefined) continue
    const quotes = value.text.startsWith('"') && gap !== 'name' ? 1 : 0
    parts.push(new FramePart(view, start, gap === 'name' ? value.end : value.end - value.text.length + quotes, gap))
    start = value.end - quotes
  }
  parts.push(new FramePart(view, start, frame.length, 'end'))
  return parts
}

/** The gap in place of a value, or after a model name; undefined if the value is fixed. */
function gapOf({ key, text, open }: Value, hasName: boolean, between: boolean): Gap | undefined {
  if (key === 'model' && hasName) return 'name'
  const isText = text.startsWith('"')
  if (open) return !isText ? 'number' : textKeys.has(key) ? 'text' : 'label'
  if (!between) return undefined
  if (key === 'id' && isText) return 'id'
  return key === 'created' && !isText ? 'time' : undefined
}

function endOfGap(gap: Gap, view: WordView, from: number): number {
  if (gap === 'end' || gap === 'name') return from
  if (gap === 'text' || gap === 'label' || gap === 'id') return endOfText(view, from)
  return endOfNumber(view, from)
}

function endOfNumber({ bytes, size }: WordView, from: number): number {
  let at = from
  while (at < size && numeric[bytes[at] as number] === 1) at++
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
    const said = Object.entries(rest).filter(([, value]) => !isEmpty(value))
    if (index === undefined || finish || logprobs || calls?.length) return false
    return said.length > 0 && said.every(([key, value]) => textKeys.has(key) && typeof value === 'string')
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

/** More than a vendor uses for one model. */
const maxTemplates = 8

/** The formats of a model's text frames: what one stream has learnt, the next ones need not learn. */
export class FrameTemplates {
  readonly #templates: FrameTemplate[] = []

  /** The template for a stream with this id, by its frame at `at`; undefined if that has an unknown format. */
  templateFor(view: WordView, at: number, id: string): FrameTemplate | undefined {
    for (const known of this.#templates) {
      const template = known.forStream(view, at, id)
      if (template !== undefined) return template
    }
    return undefined
  }

  /** Adds the format of a template. The one added first is dropped when there are too many. */
  add(template: FrameTemplate): void {
    if (this.#templates.length === maxTemplates) this.#templates.pop()
    this.#templates.unshift(template)
  }
}
