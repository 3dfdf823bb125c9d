/** How far back in the text before a repetition is looked for, in characters. */
const mostRepeated = 1_000
/** A shorter repetition may be a coincidence. */
const leastRepeated = 12

/**
 * Removes from the beginning of a continuation what it repeats of the text before: its last words, or all of it. A piece is held
 * back while it may still be a repetition.
 */
export class Overlap {
  readonly #said: string
  readonly #least: number
  /** Where in the text before a repetition may begin: it goes on to the end of that text. */
  #starts: number[]
  #seen = ''
  #isDecided = false

  constructor(said: string) {
    this.#said = said
    this.#least = Math.min(leastRepeated, said.length)
    const first = Math.max(0, said.length - mostRepeated)
    this.#starts = Array.from({ length: said.length - first }, (_, index) => first + index)
    if (first > 0) this.#starts.unshift(0)
  }

  /** What is new in a piece. */
  take(piece: string): string {
    if (this.#isDecided) return piece
    const said = this.#said
    const before = this.#seen.length
    this.#seen += piece
    const { length } = this.#seen
    this.#starts = this.#starts.filter((start) => piece.startsWith(said.slice(start + before, start + length)))
    return this.#starts.some((start) => said.length - start > length) ? '' : this.rest()
  }

  /** What was held back, without the longest repetition. */
  rest(): string {
    if (this.#isDecided) return ''
    this.#isDecided = true
    const lengths = this.#starts.map((start) => this.#said.length - start)
    const repeated = lengths.find((length) => length >= this.#least && length <= this.#seen.length) ?? 0
    return this.#seen.slice(repeated)
  }
}
