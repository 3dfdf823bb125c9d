/** Finds the closing boundary of a multipart body, after which busboy would go on parsing. */
export class ClosingBoundary {
  readonly #line: Buffer
  /** The last bytes received, one fewer than the boundary line has. */
  #before: Buffer = Buffer.from('\r\n')

  constructor(boundary: string) {
    this.#line = Buffer.from(`\r\n--${boundary}--`)
  }

  /** The offset after the boundary line in the next piece of the body; undefined if it has not arrived yet. */
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
