/**
 * A regular expression → a text that it matches. The expression is read and never run: it is a stranger's, and might
 * take forever. Of alternatives the first is taken; look-arounds are passed over.
 */

/** The shortest text, made longer where the expression leaves room until it has `least` characters. */
export function samplePattern(pattern: string, least = 0): string {
  const shortest = new Reader(pattern, 0).alternatives()
  return shortest.length >= least ? shortest : new Reader(pattern, least - shortest.length).alternatives()
}

/** Longer texts are not made, whatever an expression asks. */
const longest = 2_000

type Range = readonly [first: number, last: number]

const lower: Range = [0x61, 0x7a]
const upper: Range = [0x41, 0x5a]
const digits: Range = [0x30, 0x39]
const underscore: Range = [0x5f, 0x5f]
const blank: Range = [0x20, 0x20]
const hyphen: Range = [0x2d, 0x2d]

const classes: Readonly<Record<string, readonly Range[]>> = {
  d: [digits],
  w: [lower, upper, digits, underscore],
  s: [blank, [0x09, 0x0d]],
  D: [lower, upper],
  W: [hyphen, blank],
  S: [lower, upper, digits],
}
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 }

class Reader {
  readonly #pattern: string
  readonly #groups: string[] = []
  #at = 0
  /** Characters still to be added; the first repetition that has room takes them. */
  #missing: number

  constructor(pattern: string, missing: number) {
    this.#pattern = pattern.slice(0, longest)
    this.#missing = missing
  }

  alternatives(): string {
    const text = this.#sequence()
    const missing = this.#missing
    while (this.#take('|')) this.#sequence()
    this.#missing = missing
    return text
  }

  #sequence(): string {
    let text = ''
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at] as string)) {
      text = (text + this.#repeated(this.#atom())).slice(0, longest)
    }
    return text
  }

  #repeated(atom: string): string {
    const rest = this.#pattern.slice(this.#at, this.#at + 24)
    const [sign = '', least = '', comma = '', most = ''] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? []
    if (sign === '') return atom
    this.#at += sign.length
    const [from, to] = boundsOf(sign, least, comma, most)
    const room = atom === '' ? 0 : Math.min(to - from, Math.ceil(this.#missing / atom.length))
    this.#missing -= room * atom.length
    return atom.repeat(Math.min(from + room, longest)).slice(0, longest)
  }

  #atom(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) as number)
    this.#at += character.length
    if (character === '^' || character === '$') return ''
    if (character === '.') return 'a'
    if (character === '(') return this.#group()
    if (character === '[') return this.#class()
    return character === '\\' ? this.#escape() : character
  }

  #group(): string {
    const kind = /^\?(?:<?[=!]|:|<\w+>|[a-z-]+:)/.exec(this.#pattern.slice(this.#at, this.#at + 80))?.[0] ?? ''
    this.#at += kind.length
    const number = kind === '' || /^\?<\w/.test(kind) ? this.#groups.push('') : 0
    const text = this.alternatives()
    this.#take(')')
    if (number > 0) this.#groups[number - 1] = text
    return /[=!]$/.test(kind) ? '' : text
  }

  #escape(): string {
    const reference = /^[1-9]\d?/.exec(this.#pattern.slice(this.#at, this.#at + 2))?.[0]
    if (reference !== undefined) {
      this.#at += reference.length
      return this.#groups[Number(reference) - 1] ?? ''
    }
    if (this.#take('b') || this.#take('B')) return ''
    return String.fromCodePoint(this.#escaped()[0]?.[0] ?? 0x61)
  }

  /** What an escape stands for, after its backslash. */
  #escaped(): readonly Range[] {
    const rest = this.#pattern.slice(this.#at, this.#at + 40)
    const code = /^(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/i.exec(rest)
    const property = /^[pP]\{([^}]*)\}/.exec(rest)
    this.#at += code?.[0].length ?? property?.[0].length ?? 1
    if (code !== null) return [single(Math.min(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16), 0x10ffff))]
    if (property !== null)
      return [
        /(?:^|=)(?:Lu|Upper)/.test(property[1] ?? '') ? upper : /(?:^|=)N/.test(property[1] ?? '') ? digits : lower,
      ]
    const letter = rest[0] ?? '\\'
    return classes[letter] ?? [single(controls[letter] ?? (letter.codePointAt(0) as number))]
  }

  #class(): string {
    const negated = this.#take('^')
    const ranges: Range[] = []
    while (this.#at < this.#pattern.length && !this.#take(']')) {
      const first = this.#member()
      if (first.length !== 1 || this.#pattern[this.#at] !== '-' || this.#pattern[this.#at + 1] === ']')
        ranges.push(...first)
      else {
        this.#at++
        ranges.push([first[0]?.[0] ?? 0, this.#member()[0]?.[1] ?? 0])
      }
    }
    if (!negated) return ranges[0] === undefined ? '' : String.fromCodePoint(ranges[0][0])
    const free = Array.from('a0-_ A.~é', codeOf).find((code) => !ranges.some((range) => holds(range, code)))
    return String.fromCodePoint(free ?? 0x6f22)
  }

  #member(): readonly Range[] {
    if (this.#take('\\')) return this.#take('b') ? [single(8)] : this.#escaped()
    const code = this.#pattern.codePointAt(this.#at) ?? 0
    this.#at += code > 0xffff ? 2 : 1
    return [single(code)]
  }

  #take(character: string): boolean {
    if (this.#pattern[this.#at] !== character) return false
    this.#at++
    return true
  }
}

function boundsOf(sign: string, least: string, comma: string, most: string): [from: number, to: number] {
  if (sign[0] === '*') return [0, longest]
  if (sign[0] === '+') return [1, longest]
  if (sign[0] === '?') return [0, 1]
  const from = Math.min(Number(least), longest)
  return [from, comma === '' ? from : most === '' ? longest : Math.min(Number(most), longest)]
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function single(code: number): Range {
  return [code, code]
}

function holds([first, last]: Range, code: number): boolean {
  return code >= first && code <= last
}
