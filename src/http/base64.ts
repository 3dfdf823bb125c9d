/** Encodes bytes as base64 while they arrive: all at once, those of a large file would block the process. */
export async function base64Of(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const texts: string[] = []
  for await (const text of base64PiecesOf(bytes)) texts.push(text)
  return texts.join('')
}

/** The same in pieces. */
export async function* base64PiecesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let rest: Uint8Array = Buffer.alloc(0)
  for await (const read of bytes) {
    const piece =
      rest.length === 0 ? Buffer.from(read.buffer, read.byteOffset, read.length) : Buffer.concat([rest, read])
    // Three bytes become four characters.
    const whole = piece.length - (piece.length % 3)
    yield piece.toString('base64', 0, whole)
    rest = piece.subarray(whole)
  }
  yield Buffer.from(rest).toString('base64')
}
