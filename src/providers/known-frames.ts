/**
 * Recognises frames with nothing but text without parsing them: they are as an earlier frame, but for that text, the id of
 * the stream, and what makes no difference.
 */

/** A string, with the colon that makes it a key, or a number. Matching whole strings skips what looks like one inside. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/g
const anyText = String.raw`[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*`
const anyNumber = String.raw`-?\d[\d.eE+-]*`
/** Times, and random characters that hide the length of the text. */
const irrelevant = new Set(['created', 'obfuscation', 'p'])
const maxFrameLength = 64 * 1024

/** The form of frames. `About`: what its reader knows of all frames in this form. */
export class KnownFrame<About> {
  readonly about: About
  /** The fields of the texts in the frame, in its order. */
  readonly texts: readonly string[]
  readonly #pattern: RegExp
  /** The place of the id among what is captured; -1 if the frame has none. */
  readonly #idAt: number

  private constructor(about: About, texts: readonly string[], pattern: RegExp, idAt: number) {
    this.about = about
    this.texts = texts
    this.#pattern = pattern
    this.#idAt = idAt
  }

  /**
   * The form of a frame, whose bytes are the characters of `frame`; undefined if it is not one line of JSON with one of the
   * `fields`.
   */
  static of<About>(frame: string, fields: ReadonlySet<string>, about: About): KnownFrame<About> | undefined {
    if (!/^(?:event: \w+\n)?data: \{[^\n]*\}\n\n$/.test(frame)) return undefined
    const texts: string[] = []
    let [pattern, at, key, idAt] = ['', 0, '', -1]
    for (const { 0: token, 1: string, 2: colon, index } of frame.matchAll(tokens)) {
      if (colon !== undefined) {
        key = token.slice(1, token.lastIndexOf('"'))
        continue
      }
      let gap: string | undefined
      if (string === undefined) gap = irrelevant.has(key) ? anyNumber : undefined
      else if (irrelevant.has(key)) gap = `"${anyText}"`
      else if (fields.has(key)) {
        gap = `"(${anyText})"`
        texts.push(key)
      } else if (key === 'id' && idAt < 0) {
        gap = `"(${anyText})"`
        idAt = texts.length
      }
      if (gap === undefined) continue
      pattern += escaped(frame.slice(at, index)) + gap
      at = index + token.length
    }
    // Before the last brace, some vendors write a random number of spaces.
    pattern += escaped(frame.slice(at)).replace(/ *\\\}\n\n$/, ' *\\}\n\n')
    return texts.length === 0 ? undefined : new KnownFrame(about, texts, new RegExp(pattern, 'y'), idAt)
  }

  /** The frame at `at`; undefined if it has another form. */
  match(frames: string, at: number): Recognised<About> | undefined {
    this.#pattern.lastIndex = at
    const found = this.#pattern.exec(frames)
    if (found === null) return undefined
    const texts = found.slice(1)
    const [id = ''] = this.#idAt < 0 ? [] : texts.splice(this.#idAt, 1)
    return { form: this, end: this.#pattern.lastIndex, id, texts }
  }
}

/** A frame in a known form. */
export interface Recognised<About> {
  readonly form: KnownFrame<About>
  readonly end: number
  /** The first id in the frame, as JSON without quotes; empty if there is none. */
  readonly id: string
  /** As JSON without quotes, one byte a character. */
  readonly texts: readonly string[]
}

/** What the streams of a vendor have learnt, most recently used first: the next ones need not learn it. */
export class KnownFrames<About> {
  readonly #limit = 32
  readonly #forms: KnownFrame<About>[] = []

  /** The frame at `at`, whose bytes are the characters; undefined if its form is not known. */
  match(frames: string, at: number): Recognised<About> | undefined {
    const end = frames.indexOf('\n\n', at)
    if (end < 0 || end - at > maxFrameLength) return undefined
    for (const [index, form] of this.#forms.entries()) {
      const found = form.match(frames, at)
      if (found === undefined) continue
      if (index > 0) this.#forms.unshift(...this.#forms.splice(index, 1))
      return found
    }
    return undefined
  }

  add(form: KnownFrame<About> | undefined): void {
    if (form === undefined) return
    if (this.#forms.length === this.#limit) this.#forms.pop()
    this.#forms.unshift(form)
  }
}

/** The text that JSON without quotes stands for, whose bytes are the characters of `json`. */
export function textOf(json: string): string {
  const text = Buffer.from(json, 'latin1').toString()
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

/** The size of this text in UTF-8. */
export function sizeOf(json: string): number {
  return json.includes('\\') ? Buffer.byteLength(textOf(json)) : json.length
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
