/**
 * A simple regular expression → a text that it matches: characters, classes, groups, alternatives, repetitions, anchors.
 * The expression is read and never run as a whole: it is a stranger's, and might take forever.
 */

/**
 * The shortest text, of alternatives the first, made longer where the expression leaves room until it has `least`
 * characters. Undefined for expressions that need more than this.
 */
export function samplePattern(pattern: string, least = 0): string | undefined {
  const reader = new Reader(pattern)
  const shortest = reader.text(0)
  if (shortest === undefined || shortest.length >= least) return shortest
  return reader.text(least - shortest.length)
}

/** Longer texts are not made, whatever an expression asks. */
const longest = 2_000

/** What a class is tried on: printable ASCII and some others, the plainest first. */
const candidates = `a1A- _${String.fromCharCode(...Array.from({ length: 95 }, (_, at) => 32 + at))}\t\n\ré漢`

const single = /\.|\\(?:u\{[\da-f]{1,6}\}|u[\da-f]{4}|x[\da-f]{2}|p\{\w+(?:=\w+)?\}|[^1-9ck])|\[(?:\\.|[^\\\]])*\]/iy
const opening = /\((?:\?(?::|<\w+>))?/y
const repetition = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y

class Reader {
  readonly #pattern: string
  readonly #members = new Map<string, string>()
  #at = 0
  /** Characters still to be added; the first repetition that has room takes them. */
  #missing = 0
  #simple = true

  constructor(pattern: string) {
    this.#pattern = pattern.slice(0, longest)
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
      text = (text + this.#repeated(this.#atom())).slice(0, longest)
    }
    return text
  }

  #repeated(atom: string): string {
    const found = this.#take(repetition)
    if (found === null) return atom
    const [, sign, from, comma, to] = found
    const least = sign === undefined ? Math.min(Number(from), longest) : sign === '+' ? 1 : 0
    const most = sign === '?' ? 1 : sign !== undefined || (comma && !to) ? longest : Number(to || from)
    const room = atom === '' ? 0 : Math.min(most - least, Math.ceil(this.#missing / atom.length))
    this.#missing -= room * atom.length
    return atom.repeat(Math.min(least + room, longest)).slice(0, longest)
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

  /** A character that a class or an escape stands for: one alone takes no time to match. */
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
