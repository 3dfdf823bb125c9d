/** A JSON text that arrives in pieces. Whether it is whole can be asked after each: every character is looked at once. */
import { isJson } from './json.ts'

export class JsonProgress {
  /** Everything so far. */
  text = ''
  #depth = 0
  #inText = false
  #escaped = false
  /** The outermost object or list has been closed. */
  #closed = false
  #whole: boolean | undefined

  add(piece: string): void {
    if (piece === '') return
    this.text += piece
    // Behind an end there can only be blanks; behind one that was wrong nothing makes it right.
    if (this.#closed) {
      if (piece.trim() !== '') this.#whole = false
      return
    }
    for (let at = 0; at < piece.length; at++) this.#look(piece, at)
  }

  /** Whether it is one whole JSON text. */
  get whole(): boolean {
    if (this.#closed) return (this.#whole ??= isJson(this.text))
    // A number, a word or a text alone: such arguments are short.
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
