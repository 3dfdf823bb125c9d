/** Tests for every provider that translates formats: each recording as it is, and each stream cut at every byte. */
import type { ChatPiece, Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../hosted.ts'
import { hasShared } from '../shared.ts'
import { assertResult, bytesOf, cutsOf, recordingsOf, replay } from './recordings.ts'
import { served } from './served.ts'
import { resultOfClient, resultOfPieces, type ChatResult } from './chat-results.ts'

export interface Replayed {
  /** The folder of the recordings. */
  readonly vendor: string
  readonly make: (baseURL: string) => Provider
  /** The provider's own reader. */
  readonly read: (source: AsyncIterable<Buffer>) => AsyncIterable<ChatPiece>
  /** The bytes that end a response. */
  readonly endMark: string
}

const question = { model: 'model', messages: [{ role: 'user', content: 'Hello' }] }

export function testReplays({ vendor: name, make, read, endMark }: Replayed): void {
  // Only chats: embeddings and the like have neither a finish reason nor an error.
  const recordings = recordingsOf(name).filter(({ expect: { finish_reason: end, error } }) => end || error)
  const streams = recordings.filter(({ stream }) => stream)
  const resultOf = (pieces: readonly Buffer[]): Promise<ChatResult> => resultOfPieces(read(each(pieces)))

  describe.skipIf(!hasShared).each([
    { client: 'a non-streaming client', stream: false },
    { client: 'a streaming client', stream: true },
  ])('$client', ({ stream }) => {
    test.each(recordings)('gets the content of $file', async (recording) => {
      const vendor = await vendorFor(replay(recording, [1, 300, 301]))
      const { client } = await served({ model: make(vendor.baseURL) })

      const answer = await resultOfClient(client, question, stream)

      const { expect: expected } = recording
      expect(answer.repeats).toEqual([])
      if (expected.error?.kind === 'in_stream' && !stream) expect(answer.error?.status).toBe(503)
      else assertResult(answer, expected)
    })
  })

  describe.skipIf(!hasShared)('a stream', () => {
    test.each(streams)('has the same result when cut at any byte: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const whole = fingerprint(await resultOf([bytes]))
      for (const cut of cutsOf(bytes)) {
        const split = await resultOf([bytes.subarray(0, cut), bytes.subarray(cut)])
        if (fingerprint(split) !== whole) expect(split, `cut at byte ${cut}`).toBe(whole)
      }
    })

    test.each(streams)('has the same result when it arrives byte by byte: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const drops = [...bytes].map((byte) => Buffer.from([byte]))
      expect(fingerprint(await resultOf(drops))).toBe(fingerprint(await resultOf([bytes])))
    })

    test.each(streams)('is an error when truncated anywhere: $file', async (recording) => {
      const bytes = bytesOf(recording)
      const mark = bytes.indexOf(endMark)
      const end = mark < 0 ? bytes.length : bytes.lastIndexOf('}', bytes.indexOf('\n', mark))
      for (const cut of cutsOf(bytes).filter((byte) => byte <= end)) {
        const short = await resultOf([bytes.subarray(0, cut)])
        if (short.error === undefined || short.finish !== null) expect(short, `truncated at ${cut}`).toBe('an error')
      }
    })
  })
}

/** Replaces the ids that the gateway generates: they differ in every response. */
function fingerprint(result: ChatResult): string {
  const opened = JSON.stringify(result).replaceAll(/(?<=mh1\.[\w-]+\.)[\w-]+/g, (packed) =>
    Buffer.from(packed, 'base64url').toString('utf8'),
  )
  return opened.replaceAll(/call_[0-9a-f]{24}/g, 'call_generated')
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}
