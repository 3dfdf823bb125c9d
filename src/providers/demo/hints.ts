/** Finds values for parameters in a question: `city=Paris`, `Service name: Foo`, its numbers, a place. */
import { budget } from './budget.ts'

/** All repetitions are bounded, because the text is untrusted. */
const number = /(?<![\p{L}\p{N}_.])-?\d{1,15}(?:\.\d{1,10})?(?![\p{L}\p{N}_])/gu
const place = /\b(?:in|at|near|for|of|to)\s(\p{Lu}[\p{L}'’-]{0,40}(?:\s\p{Lu}[\p{L}'’-]{0,40}){0,3})/u
const expression = /-?\d{1,15}(?:\.\d{1,10})?(?:\s?[-+*/]\s?-?\d{1,15}(?:\.\d{1,10})?){1,20}/

export class Hints {
  readonly question: string
  readonly #numbers: readonly number[]
  #numbersUsed = 0
  #words: Set<string> | undefined
  #names = 0

  constructor(question: string) {
    this.question = question.replace(/[ \t]+/g, ' ').trim()
    this.#numbers = (this.question.match(number) ?? []).map(Number)
  }

  /** The value that the question gives for a name. `serviceName` matches `service name`. */
  named(name: string): string | undefined {
    if (this.#names >= budget.names) return undefined
    const words = name.slice(0, 60).match(/\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+/gu)
    if (words === null) return undefined
    this.#names++
    const value = `(?: ?= ?(?<word>[^\\s,;!?"']{1,200})| ?[=:] ?["'](?<quoted>[^"'\\n]{1,200})["']|(?:: ?| is )(?<rest>[^\\n,;!?]{1,200}))`
    const found = new RegExp(`(?<![\\p{L}\\p{N}])${words.join('[ _-]?')}${value}`, 'iu').exec(this.question)?.groups
    return (
      found?.['quoted'] ??
      found?.['word']?.replace(/\.$/, '') ??
      found?.['rest']?.replace(/(?:\.(?:\s.*)?|\sand\s.*)$/, '').replace(/^["'](.*)["']$/, '$1')
    )
  }

  /** The next number of the question that has not been used. */
  nextNumber(): number | undefined {
    return this.#numbers[this.#numbersUsed++]
  }

  /** Makes all numbers unused again, for the next tool. */
  restart(): void {
    this.#numbersUsed = 0
  }

  /** Whether the question contains a word, case-sensitively. */
  mentions(word: string): boolean {
    this.#words ??= new Set(this.question.split(/[^\p{L}\p{N}_-]+/u))
    return this.#words.has(word)
  }

  /** A value for a string parameter, guessed from the meaning of its name. */
  guess(name: string): string | undefined {
    if (/city|town|place|location|country|region|address/i.test(name)) return place.exec(this.question)?.[1]
    if (/expression|formula|equation|calculation/i.test(name)) return expression.exec(this.question)?.[0]
    if (/query|question|prompt|message|request|input|^text$/i.test(name)) return this.question.slice(0, 200)
    return undefined
  }
}
