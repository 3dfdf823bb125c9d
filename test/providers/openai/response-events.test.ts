/** The bytes of recorded responses, cut everywhere: the same events. */
import { ContentFrames } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { readResponseEvents } from '../../../src/providers/openai/response-events.ts'
import { hasShared, sharedBytes } from '../../shared.ts'

/** Every event in the order in which it came, and how many of them were passed on unread. */
async function read(pieces: readonly Buffer[]) {
  const source = (async function* () {
    yield* pieces
  })()
  const events: unknown[] = []
  let unread = 0
  let textBytes = 0
  const options = { rename: undefined, parsed: false, failure: () => new Error('failed') }
  for await (const piece of readResponseEvents(source, options)) {
    if (!(piece instanceof ContentFrames)) events.push(piece)
    else {
      const frames = Buffer.from(piece.bytes).toString().split('\n\n').slice(0, -1)
      unread += frames.length
      textBytes += piece.textBytes
      for (const frame of frames) events.push(JSON.parse(frame.split('\ndata: ')[1] ?? ''))
    }
  }
  return { events, unread, textBytes }
}

/** Bytes between two cuts. */
const stride = 97

describe.skipIf(!hasShared).each([
  ['openai/responses-stream-tool.sse', 11],
  ['openai/responses-id-rotation-stream.sse', 0],
  ['lmstudio/responses-tool-stream.sse', 61],
])('%s', (path, unread) => {
  test('is the same wherever it is cut', async () => {
    const bytes = sharedBytes(`recordings/${path}`)
    const whole = await read([bytes])
    expect(whole.unread).toBe(unread)
    // Each byte is the place of a cut in one of these runs.
    for (let first = 1; first <= stride; first++) {
      const starts = Array.from(
        { length: Math.ceil((bytes.length - first) / stride) },
        (_, index) => first + index * stride,
      )
      const pieces = [0, ...starts].map((start, index) => bytes.subarray(start, starts[index]))
      expect([first, await read(pieces)]).toEqual([first, whole])
    }
  })

  test('is the same with other line ends, and byte by byte', async () => {
    const bytes = sharedBytes(`recordings/${path}`)
    const whole = await read([bytes])
    const returns = Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))
    expect(await read([returns])).toEqual(whole)
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole)
  })
})
