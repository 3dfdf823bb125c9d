/** Encodes bytes as base64 while they arrive: all at once, those of a large file would block the process. */
export async function base64Of(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const texts: string[] = []
  let rest: Uint8Array = Buffer.alloc(0)
  for await (const read of bytes) {
    const piece =
      rest.length === 0 ? Buffer.from(read.buffer, read.byteOffset, read.length) : Buffer.concat([rest, read])
    // Three bytes become four characters.
    const whole = piece.length - (piece.length % 3)
    texts.push(piece.toString('base64', 0, whole))
    rest = piece.subarray(whole)
  }
  texts.push(Buffer.from(rest).toString('base64'))
  return texts.join('')
}
