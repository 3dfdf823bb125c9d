/** Enforces stop sequences that a vendor cannot: the text ends before the first one. */
export class StopScanner {
  readonly #stops: readonly string[]
  readonly #longest: number
  /** The end of the text so far, which may be the beginning of a stop sequence. */
  #held = ''
  /** The sequence that was found; nothing follows it. */
  found: string | undefined

  constructor(stops: readonly string[]) {
    this.#stops = stops
    this.#longest = Math.max(...stops.map(({ length }) => length))
  }

  /** The text that can be sent after this piece. */
  push(piece: string): string {
    if (this.found !== undefined) return ''
    const text = this.#held + piece
    let end = text.length
    for (const stop of this.#stops) {
      const at = text.indexOf(stop)
      if (at < 0 || at >= end) continue
      end = at
      this.found = stop
    }
    this.#held = ''
    if (this.found !== undefined) return text.slice(0, end)
    const kept = this.#beginOfStop(text)
    this.#held = text.slice(kept)
    return text.slice(0, kept)
  }

  /** The rest of the text, at its end. */
  flush(): string {
    const rest = this.#held
    this.#held = ''
    return rest
  }

  /** Where the longest end of the text starts that is the beginning of a stop sequence. */
  #beginOfStop(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      const end = text.slice(at)
      if (this.#stops.some((stop) => stop.startsWith(end))) return at
    }
    return text.length
  }
}
