/** The suite every translating provider passes: each recording whole, and each stream cut at every byte. */
import type { ChatPiece, Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../hosted.ts'
import { hasShared } from '../shared.ts'
import { assertTold, bytesOf, cutsOf, recordingsOf, replay } from './recordings.ts'
import { served } from './served.ts'
import { toldByClient, toldByPieces, type Told } from './told.ts'

export interface Replayed {
  /** The folder of the recordings. */
  readonly vendor: string
  readonly make: (baseURL: string) => Provider
  /** The provider's own reader. */
  readonly read: (source: AsyncIterable<Buffer>) => AsyncIterable<ChatPiece>
  /** What tells in the bytes that an answer has come to its end. */
  readonly endMark: string
}

const question = { model: 'model', messages: [{ role: 'user', content: 'Hello' }] }

export function testReplays({ vendor: name, make, read, endMark }: Replayed): void {
  // Vectors and the like are not told by a chat.
  const recordings = recordingsOf(name).filter(({ expect: { finish_reason: end, error } }) => end || error)
  const streams = recordings.filter(({ stream }) => stream)
  const told = (pieces: readonly Buffer[]): Promise<Told> => toldByPieces(read(each(pieces)))

  describe.skipIf(!hasShared).each([
    { client: 'a client that waits', stream: false },
    { client: 'a client that streams', stream: true },
  ])('$client', ({ stream }) => {
    test.each(recordings)('is told of $file what stands in it', async (recording) => {
      const vendor = await vendorFor(replay(recording, [1, 300, 301]))
      const { client } = await served({ model: make(vendor.baseURL) })

      const answer = await toldByClient(client, question, stream)

      const { expect: expected } = recording
      expect(answer.repeats).toEqual([])
      if (expected.error?.kind === 'in_stream' && !stream) expect(answer.error?.status).toBe(503)
      else assertTold(answer, expected)
    })
  })

  describe.skipIf(!hasShared)('a stream', () => {
    test.each(streams)('cut in two at every byte tells the same: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const whole = fingerprint(await told([bytes]))
      for (const cut of cutsOf(bytes)) {
        const split = await told([bytes.subarray(0, cut), bytes.subarray(cut)])
        if (fingerprint(split) !== whole) expect(split, `cut at byte ${cut}`).toBe(whole)
      }
    })

    test.each(streams)('that arrives byte by byte tells the same: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const drops = [...bytes].map((byte) => Buffer.from([byte]))
      expect(fingerprint(await told(drops))).toBe(fingerprint(await told([bytes])))
    })

    test.each(streams)('that breaks off anywhere before its end is an error: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const mark = bytes.indexOf(endMark)
      const end = mark < 0 ? bytes.length : bytes.lastIndexOf('}', bytes.indexOf('\n', mark))
      for (const cut of cutsOf(bytes).filter((byte) => byte <= end)) {
        const short = await told([bytes.subarray(0, cut)])
        if (short.error === undefined || short.finish !== null) expect(short, `broken off at ${cut}`).toBe('an error')
      }
    })
  })
}

/** Ids that the gateway makes differ from one answer to the next. */
function fingerprint(told: Told): string {
  return JSON.stringify(told).replaceAll(/call_[0-9a-f]{24}/g, 'call_made')
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}
