import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { transcriptOf } from '../../../src/providers/demo/transcribe.ts'
import { readWav } from '../../../src/providers/demo/wav.ts'
import { wav } from '../../sound.ts'

function read(bytes: Buffer, size = bytes.length) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) =>
    bytes.subarray(nth * size, (nth + 1) * size),
  )
  return readWav(Readable.from(pieces))
}

describe('a WAV', () => {
  it.each([
    { seconds: 2.5, rate: 16_000, channels: 1, bits: 16 },
    { seconds: 0.125, rate: 44_100, channels: 2, bits: 24 },
    { seconds: 10, rate: 8_000, channels: 1, bits: 8 },
  ])('of %o is measured correctly', async ({ seconds, ...form }) => {
    const { duration, ...sound } = await read(wav({ seconds, ...form }), 1_000)
    expect(sound).toEqual(form)
    expect(duration).toBeCloseTo(seconds, 4)
  })

  it('may have other chunks first, and an unknown length', async () => {
    const list = Buffer.from('LIST\x03\0\0\0abc\0', 'latin1')
    expect(await read(wav({ seconds: 1, before: list }))).toMatchObject({ duration: 1 })
    for (const declared of [0, 0xffff_ffff])
      expect(await read(wav({ seconds: 1, declared }))).toMatchObject({ duration: 1 })
    expect(await read(wav({ seconds: 2, declared: 32_000 }))).toMatchObject({ duration: 1 })
  })

  it.each([
    ['not a WAV', Buffer.from('ID3')],
    ['empty', Buffer.alloc(0)],
    ['without samples', wav({ seconds: 1 }).subarray(0, 36)],
    ['without channels', wav({ seconds: 1, channels: 0 })],
  ])('is rejected if it is %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toMatchObject({ status: 400, param: 'file' })
  })
})

describe('the transcript of a recording', () => {
  it('describes it correctly', () => {
    const { text } = transcriptOf({ channels: 1, rate: 8_000, bits: 8, duration: 1 })
    expect(text).toBe('This recording is 1 second long. It has 1 channel. Each holds 8000 samples a second, of 8 bits.')
  })

  it('covers its whole duration, with words within their segments', () => {
    const { segments = [], words = [], duration } = transcriptOf({ channels: 2, rate: 48_000, bits: 16, duration: 7.3 })
    expect([segments[0]?.start, segments.at(-1)?.end, duration]).toEqual([0, 7.3, 7.3])
    for (const [at, { start }] of segments.entries()) if (at > 0) expect(start).toBe(segments[at - 1]?.end)
    for (const { start, end } of words) {
      expect(segments.some((segment) => segment.start <= start && end <= segment.end + 1e-9)).toBe(true)
    }
  })
})
