/** Recorded responses yield the same events wherever their bytes are cut. */
import { ContentFrames, retrySame } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { readResponseEvents } from '../../../src/providers/openai/response-events.ts'
import { hasShared, sharedBytes } from '../../shared.ts'

/** All events in order, and the number of those that were passed on unparsed. */
async function read(pieces: readonly Buffer[]) {
  const source = (async function* () {
    yield* pieces
  })()
  const events: unknown[] = []
  let unparsed = 0
  let textBytes = 0
  const options = { rename: undefined, parsed: false, failure: () => new Error('failed') }
  for await (const piece of readResponseEvents(source, options)) {
    if (!(piece instanceof ContentFrames)) events.push(piece)
    else {
      const frames = Buffer.from(piece.bytes).toString().split('\n\n').slice(0, -1)
      unparsed += frames.length
      textBytes += piece.textBytes
      for (const frame of frames) events.push(JSON.parse(frame.split('\ndata: ')[1] ?? ''))
    }
  }
  return { events, unparsed, textBytes }
}

/** The number of bytes between two cuts. */
const stride = 97

describe.skipIf(!hasShared).each([
  ['openai/responses-stream-tool.sse', 11],
  ['openai/responses-id-rotation-stream.sse', 0],
  ['lmstudio/responses-tool-stream.sse', 61],
])('%s', (path, unparsed) => {
  test('has the same events wherever it is cut', async () => {
    const bytes = sharedBytes(`recordings/${path}`)
    const whole = await read([bytes])
    expect(whole.unparsed).toBe(unparsed)
    // Together, the runs cut at every byte.
    for (let first = 1; first <= stride; first++) {
      const starts = Array.from(
        { length: Math.ceil((bytes.length - first) / stride) },
        (_, index) => first + index * stride,
      )
      const pieces = [0, ...starts].map((start, index) => bytes.subarray(start, starts[index]))
      expect([first, await read(pieces)]).toEqual([first, whole])
    }
  })

  test('has the same events with CR LF, and byte by byte', async () => {
    const bytes = sharedBytes(`recordings/${path}`)
    const whole = await read([bytes])
    const returns = Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))
    expect(await read([returns])).toEqual(whole)
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole)
  })
})

interface Piece {
  readonly type: string
  readonly output_index?: number
  readonly delta?: string
}

/** The texts of the deltas by item and kind, and all other events. */
function gist(events: readonly Piece[]) {
  const texts: Record<string, string> = {}
  const others: Piece[] = []
  for (const event of events) {
    const { type, output_index: index, delta } = event
    if (delta === undefined) others.push(event)
    else texts[`${type} ${index}`] = (texts[`${type} ${index}`] ?? '') + delta
  }
  return { texts, others }
}

describe
  .skipIf(!hasShared)
  .each([
    'openai/responses-stream-tool.sse',
    'openai/responses-id-rotation-stream.sse',
    'lmstudio/responses-tool-stream.sse',
  ])('for a consumer that translates it, %s', (path) => {
  async function translated(pieces: readonly Buffer[]): Promise<Piece[]> {
    const source = (async function* () {
      yield* pieces
    })()
    const options = { rename: undefined, parsed: false, inChunks: true, failure: () => new Error('failed') }
    const events: Piece[] = []
    for await (const piece of readResponseEvents(source, options)) {
      if (piece instanceof ContentFrames) throw new TypeError('frames instead of events')
      events.push(piece)
    }
    return events
  }

  test('has the same texts and other events, wherever it is cut', async () => {
    const bytes = sharedBytes(`recordings/${path}`)
    const whole = gist((await read([bytes])).events as Piece[])
    expect(gist(await translated([bytes]))).toEqual(whole)
    for (let cut = 1; cut < bytes.length; cut += stride) {
      expect(gist(await translated([bytes.subarray(0, cut), bytes.subarray(cut)]))).toEqual(whole)
    }
  })

  test('has one event for deltas that arrive together', async () => {
    const events = await translated([sharedBytes(`recordings/${path}`)])
    const repeated = events.filter(
      ({ type, delta }, index) => delta !== undefined && events[index - 1]?.type === type && !path.includes('rotation'),
    )
    expect(repeated).toEqual([])
  })
})

test('a response that has failed without an error object fails, with the usage that the vendor bills', async () => {
  const response = {
    id: 'resp_1',
    status: 'failed',
    error: null,
    output: [],
    usage: { input_tokens: 3, output_tokens: 4 },
  }
  const bytes = Buffer.from(`data: ${JSON.stringify({ type: 'response.failed', response })}\n\n`)
  const source = (async function* () {
    yield bytes
  })()
  const failure = () => retrySame(new Error('failed'))
  const events = readResponseEvents(source, { rename: undefined, parsed: true, failure })
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  await expect(events.next()).rejects.toMatchObject({ billed: { usage } })
})
