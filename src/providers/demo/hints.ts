/** Values for parameters in a question: `city=Paris`, `Service name: Foo`, its numbers, a place. */

/** All repetitions are bounded, because the text is untrusted. */
const number = /(?<![\p{L}\p{N}_.])-?\d{1,15}(?:\.\d{1,10})?(?![\p{L}\p{N}_])/gu
const place = /\b(?:in|at|near|for|of|to)\s(\p{Lu}[\p{L}'’-]{0,40}(?:\s\p{Lu}[\p{L}'’-]{0,40}){0,3})/u
const saying =
  /(?<=(?<name>[\p{L}\p{N} _-]{1,60}))(?: ?[=:] ?| is )(?<value>["'][^"'\n]{1,200}["']|(?<==\s?)[^\s,;!?"']{1,200}|[^\n,;!?]{1,200}?(?=\.(?:\s|$)| and |[\n,;!?]|$))/gu
/** Places where the question may say what something is. */
const maxSayings = 100

export class Hints {
  readonly question: string
  readonly numbers: readonly number[]
  /** Words as they are written. */
  readonly words: ReadonlySet<string>
  readonly #values = new Map<string, string>()

  constructor(question: string) {
    this.question = question.replace(/\s+/g, ' ').trim()
    this.numbers = (question.match(number) ?? []).map(Number)
    this.words = new Set(question.split(/[^\p{L}\p{N}_-]+/u))
    for (const { groups = {} } of [...question.matchAll(saying)].slice(0, maxSayings)) {
      const value = (groups['value'] ?? '').replace(/^["']|["'.]$/g, '')
      let name = ''
      // Of `the service name`, all ends may be the name.
      for (const word of (groups['name'] ?? '')
        .toLowerCase()
        .split(/[ _-]+/)
        .toReversed()) {
        name = `${word}${name}`
        if (!this.#values.has(name)) this.#values.set(name, value)
      }
    }
  }

  /** The value that the question gives for a name. `serviceName` is the same as `service name`. */
  named(name: string): string | undefined {
    return this.#values.size === 0 ? undefined : this.#values.get(name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase())
  }

  /** A value for a text, guessed from the meaning of its name. */
  guess(name: string): string | undefined {
    if (/city|town|place|location|country|region|address/i.test(name)) return place.exec(this.question)?.[1]
    return /query|question|prompt|message|request|input|^text$/i.test(name) ? this.question.slice(0, 200) : undefined
  }
}
