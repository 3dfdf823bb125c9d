/** The lines of a text that arrives in pieces, such as JSON lines. */
import { tooLarge } from './json-body.ts'

const newline = 10

/** The lines as they arrive, without empty ones. Throws a 413 for one of more than `maxBytes`. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number = Infinity,
): AsyncGenerator<Buffer, void, void> {
  let rest: Uint8Array[] = []
  let length = 0
  const whole = (last: Uint8Array) => {
    if (length + last.length > maxBytes) throw tooLarge(maxBytes)
    const line = Buffer.concat([...rest, last])
    rest = []
    length = 0
    return line
  }
  for await (const piece of pieces) {
    let from = 0
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      const line = whole(piece.subarray(from, at))
      if (line.length > 0) yield line
      from = at + 1
    }
    if (from === piece.length) continue
    rest.push(piece.subarray(from))
    length += piece.length - from
    if (length > maxBytes) throw tooLarge(maxBytes)
  }
  const last = whole(Buffer.alloc(0))
  if (last.length > 0) yield last
}
