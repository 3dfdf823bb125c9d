/** Values for parameters in a question: `city=Paris`, `Service name: Foo`, its numbers, a place. */

/** All repetitions are bounded, because the text is untrusted. */
const number = /(?<![\p{L}\p{N}_.])-?\d{1,15}(?:\.\d{1,10})?(?![\p{L}\p{N}_])/gu
const place = /\b(?:in|at|near|for|of|to)\s(\p{Lu}[\p{L}'’-]{0,40}(?:\s\p{Lu}[\p{L}'’-]{0,40}){0,3})/u
const expression = /-?\d{1,15}(?:\.\d{1,10})?(?:\s?[-+*/]\s?-?\d{1,15}(?:\.\d{1,10})?){1,20}/

/** Places where the question may say what something is. */
const maxSigns = 100

export class Hints {
  readonly question: string
  readonly #numbers: readonly number[]
  readonly #words: ReadonlySet<string>
  readonly #values = new Map<string, string>()
  #numbersUsed = 0

  constructor(question: string) {
    this.question = question.replace(/[ \t]+/g, ' ').trim()
    this.#numbers = (question.match(number) ?? []).map(Number)
    this.#words = new Set(question.split(/[^\p{L}\p{N}_-]+/u))
    let signs = 0
    for (const { 0: sign, index } of this.question.matchAll(/ ?[=:] ?| is /g)) {
      if (++signs > maxSigns) break
      const value = valueIn(this.question.slice(index + sign.length, index + 220), sign.trim())
      if (value === undefined) continue
      const before = this.question.slice(Math.max(index - 60, 0), index)
      const words = /[\p{L}\p{N} _-]+$/u.exec(before)?.[0].split(/[ _-]+/) ?? []
      // Of `the service name`, all ends may be the name.
      for (let name = '', at = words.length - 1; at >= 0; at--) {
        name = `${words[at]}${name}`.toLowerCase()
        if (!this.#values.has(name)) this.#values.set(name, value)
      }
    }
  }

  /** The value that the question gives for a name. `serviceName` is the same as `service name`. */
  named(name: string): string | undefined {
    return this.#values.size === 0 ? undefined : this.#values.get(name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase())
  }

  /** The next number of the question that has not been used. */
  nextNumber(): number | undefined {
    return this.#numbers[this.#numbersUsed++]
  }

  /** Makes all numbers unused again, for the next tool. */
  restart(): this {
    this.#numbersUsed = 0
    return this
  }

  /** Whether the question has a word, in the same case. */
  mentions(word: unknown): boolean {
    return typeof word === 'string' && this.#words.has(word)
  }

  /** A value for a text, guessed from the meaning of its name. */
  guess(name: string): string | undefined {
    if (/city|town|place|location|country|region|address/i.test(name)) return place.exec(this.question)?.[1]
    if (/expression|formula|equation|calculation/i.test(name)) return expression.exec(this.question)?.[0]
    return /query|question|prompt|message|request|input|^text$/i.test(name) ? this.question.slice(0, 200) : undefined
  }
}

/** The value at the beginning of a text, after a sign. */
function valueIn(text: string, sign: string): string | undefined {
  const quoted = sign === 'is' ? undefined : /^["']([^"'\n]{1,200})["']/.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  if (sign === '=') return /^[^\s,;!?"']{1,200}/.exec(text)?.[0].replace(/\.$/, '')
  const rest = /^[^\n,;!?]{1,200}/.exec(text)?.[0]
  return rest?.replace(/(?:\.(?:\s.*)?|\sand\s.*)$/, '').replace(/^["'](.*)["']$/, '$1')
}
