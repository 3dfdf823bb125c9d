const frameEnd = '\n\n'
const dataField = Buffer.from('data:')
const done = Buffer.from('[DONE]')

/** Takes the data out of server-sent events. */
export class EventData {
  /** The beginning of a frame. */
  #rest: Buffer | undefined

  /** The data of the frames that a piece of the stream completes, without comments and the `[DONE]` at the end. */
  take(piece: string | Uint8Array): Buffer[] {
    const given =
      typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const bytes = this.#rest === undefined ? given : Buffer.concat([this.#rest, given])
    const found: Buffer[] = []
    let at = 0
    for (let end = bytes.indexOf(frameEnd); end >= 0; end = bytes.indexOf(frameEnd, at)) {
      const data = dataIn(bytes.subarray(at, end))
      if (data !== undefined && !data.equals(done)) found.push(data)
      at = end + frameEnd.length
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at)
    return found
  }
}

/** The data of a frame, which is one line of JSON. */
function dataIn(frame: Buffer): Buffer | undefined {
  for (let at = 0; at < frame.length;) {
    const lineEnd = frame.indexOf(0x0a, at)
    const end = lineEnd < 0 ? frame.length : lineEnd
    if (frame.subarray(at, at + dataField.length).equals(dataField)) {
      const start = at + dataField.length
      return frame.subarray(frame[start] === 0x20 /* space */ ? start + 1 : start, end)
    }
    at = end + 1
  }
  return undefined
}
