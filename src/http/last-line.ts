/** Where a multipart body ends. */

/** Finds the line that ends a multipart body. What follows it means nothing, but busboy would go on reading. */
export class LastLine {
  readonly #line: Buffer
  /** The last bytes that have come, one fewer than the line has. */
  #before: Buffer = Buffer.from('\r\n')

  constructor(boundary: string) {
    this.#line = Buffer.from(`\r\n--${boundary}--`)
  }

  /** Where the line ends in the next piece of the body; undefined while it has not come. */
  endIn(piece: Buffer): number | undefined {
    const line = this.#line
    const seam = Buffer.concat([this.#before, piece.subarray(0, line.length)])
    const across = seam.indexOf(line)
    if (across >= 0) return across + line.length - this.#before.length
    const inside = piece.indexOf(line)
    if (inside >= 0) return inside + line.length
    this.#before = (piece.length < line.length ? seam : piece).subarray(1 - line.length)
    return undefined
  }
}
