import { isJson } from './json.ts'

/** JSON text that arrives in pieces. Detects its end incrementally, so that each character is examined once. */
export class JsonProgress {
  /** The text received so far. */
  text = ''
  #depth = 0
  #inText = false
  #escaped = false
  /** Whether the outermost object or array is complete. */
  #closed = false
  #whole: boolean | undefined

  add(piece: string): void {
    if (piece === '') return
    this.text += piece
    // Only whitespace may follow the end, and nothing that follows can repair invalid text.
    if (this.#closed) {
      if (piece.trim() !== '') this.#whole = false
      return
    }
    for (let at = 0; at < piece.length; at++) this.#look(piece, at)
  }

  /** Whether the text is one complete JSON value. */
  get whole(): boolean {
    if (this.#closed) return (this.#whole ??= isJson(this.text))
    // A number, literal or string on its own. Arguments of that kind are short.
    return this.#depth === 0 && this.text.length <= 256 && isJson(this.text)
  }

  #look(piece: string, at: number): void {
    const character = piece[at]
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false
      else if (character === '\\') this.#escaped = true
      else if (character === '"') this.#inText = false
      return
    }
    if (character === '"') this.#inText = true
    else if (character === '{' || character === '[') this.#depth++
    else if (character === '}' || character === ']') {
      if (--this.#depth > 0) return
      this.#closed = true
      if (this.#depth < 0) this.#whole = false
    }
  }
}
