/**
 * Creates a text that matches a simple regular expression: characters, classes, groups, alternatives, repetitions, anchors.
 * The expression is parsed but never executed as a whole, because an untrusted one could take forever.
 */

/**
 * The shortest match, with the first of each alternatives, extended at repetitions to `least` characters. Undefined for
 * expressions with other features.
 */
export function samplePattern(pattern: string, least = 0): string | undefined {
  const reader = new Reader(pattern)
  const shortest = reader.text(0)
  if (shortest === undefined || shortest.length >= least) return shortest
  return reader.text(least - shortest.length)
}

/** Maximum length of a text, in characters. */
const maxLength = 2_000

/** The candidates for a character class: printable ASCII and some others, the plainest first. */
const candidates = `a1A- _${String.fromCharCode(...Array.from({ length: 95 }, (_, at) => 32 + at))}\t\n\ré漢`

const single = /\.|\\(?:u\{[\da-f]{1,6}\}|u[\da-f]{4}|x[\da-f]{2}|p\{\w+(?:=\w+)?\}|[^1-9ck])|\[(?:\\.|[^\\\]])*\]/iy
const opening = /\((?:\?(?::|<\w+>))?/y
const repetition = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y

class Reader {
  readonly #pattern: string
  readonly #members = new Map<string, string>()
  #at = 0
  /** Characters still missing; the first repetition that can be extended adds them. */
  #missing = 0
  #simple = true

  constructor(pattern: string) {
    this.#pattern = pattern.slice(0, maxLength)
  }

  text(missing: number): string | undefined {
    this.#at = 0
    this.#missing = missing
    const text = this.#alternatives()
    return this.#simple ? text : undefined
  }

  #alternatives(): string {
    const text = this.#sequence()
    const missing = this.#missing
    while (this.#take(/\|/y)) this.#sequence()
    this.#missing = missing
    return text
  }

  #sequence(): string {
    let text = ''
    while (this.#simple && this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at] as string)) {
      text = (text + this.#repeated(this.#atom())).slice(0, maxLength)
    }
    return text
  }

  #repeated(atom: string): string {
    const found = this.#take(repetition)
    if (found === null) return atom
    const [, sign, from, comma, to] = found
    const least = sign === undefined ? Math.min(Number(from), maxLength) : sign === '+' ? 1 : 0
    const most = sign === '?' ? 1 : sign !== undefined || (comma && !to) ? maxLength : Number(to || from)
    const extra = atom === '' ? 0 : Math.min(most - least, Math.ceil(this.#missing / atom.length))
    this.#missing -= extra * atom.length
    return atom.repeat(Math.min(least + extra, maxLength)).slice(0, maxLength)
  }

  #atom(): string {
    if (this.#take(opening) !== null) {
      if (this.#pattern[this.#at] === '?') this.#simple = false
      const text = this.#alternatives()
      this.#take(/\)/y)
      return text
    }
    const set = this.#take(single)?.[0]
    if (set !== undefined) return this.#member(set)
    const character = this.#take(/[^]/uy)?.[0] ?? ''
    if (character === '\\' || character === '[') this.#simple = false
    return character === '^' || character === '$' ? '' : character
  }

  /** A character that matches a class or an escape. A single class is safe to execute. */
  #member(set: string): string {
    if (/^\\\W/.test(set)) return set.slice(1)
    const known = this.#members.get(set)
    if (known !== undefined) return known
    try {
      const found = new RegExp(set, /\\(?:p|u\{)|[\ud800-\udfff]/i.test(set) ? 'u' : '').exec(candidates + set)
      this.#simple &&= found !== null
      this.#members.set(set, found?.[0] ?? '')
    } catch {
      this.#simple = false
    }
    return this.#members.get(set) ?? ''
  }

  #take(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at
    const found = what.exec(this.#pattern)
    this.#at += found?.[0].length ?? 0
    return found
  }
}
