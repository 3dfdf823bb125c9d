import { buffer } from 'node:stream/consumers'
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { isFile, type FilePart } from '../../../src/http/form.ts'
import { Recording } from '../../../src/endpoints/transcriptions/recording.ts'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { wav } from '../../sound.ts'
import { formOf, send } from '../forms.ts'

/** The length of a file that arrives in pieces of so many bytes. */
async function secondsOf(file: Buffer, piece: number): Promise<number> {
  async function* bytes() {
    for (let at = 0; at < file.length; at += piece) yield file.subarray(at, at + piece)
  }
  const recording = new Recording()
  const part: FilePart = { name: 'file', filename: 'a', type: 'audio/wav', size: undefined, bytes: bytes() }
  const form = recording.tap({
    kept: false,
    async *parts() {
      yield part
    },
  })
  for await (const each of form.parts()) if (isFile(each)) expect((await buffer(each.bytes)).equals(file)).toBe(true)
  return recording.seconds
}

const u32 = (...values: number[]) =>
  Buffer.concat(values.map((value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])))
const box = (type: string, ...content: Buffer[]) => {
  const body = Buffer.concat(content)
  return Buffer.concat([u32(body.length + 8), Buffer.from(type), body])
}
const junk = (length: number) => Buffer.alloc(length, 0x55)
const page = (granule: bigint, body: Buffer) => {
  const head = Buffer.alloc(28)
  head.write('OggS')
  head.writeBigInt64LE(granule, 6)
  return Buffer.concat([head, body])
}
const opusHead = Buffer.from('OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00', 'latin1')
const vorbisHead = Buffer.concat([
  Buffer.from('\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00', 'latin1'),
  Buffer.alloc(14),
])
const flac = (samples: number) => {
  const info = Buffer.alloc(34)
  info.writeUIntBE((16_000 << 4) | 2, 10, 3)
  info.writeUInt32BE(samples, 14)
  return Buffer.concat([Buffer.from('fLaC\x00\x00\x00\x22', 'latin1'), info, junk(200_000)])
}
const mvhd = (duration: number) => box('mvhd', u32(0, 0, 0, 1_000, duration), Buffer.alloc(80))
const mp4 = (duration: number) =>
  Buffer.concat([
    box('ftyp', Buffer.from('M4A isom')),
    box('mdat', junk(300_000)),
    box('moov', mvhd(duration), junk(100)),
  ])
const mp3Frame = (side: string) =>
  Buffer.concat([Buffer.from([0xff, 0xfb, 0x94, 0x00]), Buffer.alloc(32), Buffer.from(side, 'latin1')])
const webm = Buffer.concat([
  Buffer.from('\x1a\x45\xdf\xa3\x84aaaa\x15\x49\xa9\x66\x93\x2a\xd7\xb1\x83\x0f\x42\x40\x44\x89\x88', 'latin1'),
  (() => {
    const duration = Buffer.alloc(8)
    duration.writeDoubleBE(60_000)
    return duration
  })(),
  junk(300_000),
])

describe('the length of a recording', () => {
  test.each<[string, Buffer, number]>([
    [
      'WAV',
      wav({ seconds: 94, before: Buffer.concat([Buffer.from('LIST\x88\x13\x00\x00', 'latin1'), junk(5_000)]) }),
      94,
    ],
    ['WAV of a recorder that streams', wav({ seconds: 30, declared: 0xffffffff }), 30],
    ['FLAC', flac(16_000 * 25), 25],
    [
      'Ogg Opus',
      Buffer.concat([
        page(0n, opusHead),
        page(1n, junk(90_000)),
        page(48_000n * 20n + 312n, junk(100)),
        page(-1n, junk(50)),
      ]),
      20,
    ],
    ['Ogg Vorbis', Buffer.concat([page(0n, vorbisHead), page(44_100n * 20n, junk(60_000))]), 20],
    [
      'MP3 of a constant bit rate',
      Buffer.concat([
        Buffer.from('ID3\x04\x00\x00\x00\x02\x00\x00', 'latin1'),
        junk(32_768),
        mp3Frame(''),
        junk(159_964),
      ]),
      10,
    ],
    [
      'MP3 with the count of its frames',
      Buffer.concat([mp3Frame('Xing\x00\x00\x00\x0f'), u32(1_000), junk(400_000)]),
      24,
    ],
    ['M4A with its index at the end', mp4(75_500), 75.5],
    ['WebM', webm, 60],
  ])('%s', async (_, file, seconds) => {
    for (const piece of [100, 65_536, file.length]) expect(await secondsOf(file, piece)).toBeCloseTo(seconds, 3)
  })

  test.each<[string, Buffer, number]>([
    ['no known format: guessed by its size', Buffer.alloc(40_000), 10],
    ['no known format, and large: guessed, at most the minute that is held', Buffer.alloc(3_000_000), 60],
    ['a WAV that is cut off', wav({ seconds: 1 }).subarray(0, 30), 30 / 4_000],
    ['an MP4 whose boxes have no length', Buffer.concat([box('ftyp'), u32(0, 0), junk(40_000 - 16)]), 10],
    ['a length of nearly nothing: the least that the size allows', mp4(1), 300_000 / 2_500_000],
    ['a length of years: the most that the size allows', mp4(0xffffffff), mp4(1).length / 500],
    ['an MP3 of one frame', Buffer.concat([mp3Frame('Xing\x00\x00\x00\x01'), u32(1), junk(400_000)]), 10],
    ['no sample rate', wav({ seconds: 1, rate: 0 }), 44 / 4_000],
    ['no bytes', Buffer.alloc(0), 0],
  ])('a file of %s', async (_, file, seconds) => {
    expect(await secondsOf(file, 1_000)).toBeCloseTo(seconds, 2)
  })

  test('very many headers take no time', async () => {
    const file = Buffer.concat([box('ftyp'), ...Array.from({ length: 20_000 }, () => box('free'))])
    const began = process.cpuUsage()
    await secondsOf(file, 65_536)
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(500)
  })
})

test.each([false, true])('is charged if the vendor reports nothing; stream: %s', async (stream) => {
  const vendor = await vendorFor((_, response) => {
    const event = { type: 'transcript.text.done', text: 'Hello' }
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    response.end(stream ? `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n` : JSON.stringify({ text: 'Hello' }))
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'order' })
  const { url, receipt } = await hostedWith({
    models: { m: { provider: openai({ apiKey: 'k', baseURL: vendor.baseURL }), price: { second: '0.001' } } },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'CNY' },
    storage: { ledger },
    // The rest of the file passes while it arrives.
    sizes: { uploadMemoryBytes: 65_536 },
  })
  const file = new Blob([wav({ seconds: 93.5 })], { type: 'audio/wav' })
  const fields = stream ? ([['stream', 'true']] as const) : []
  const response = await send(url, '/audio/transcriptions', formOf(['model', 'm'], ...fields, ['file', file]))
  expect(await response.text()).toContain('Hello')
  expect(await receipt()).toMatchObject({
    usageSource: 'estimated',
    units: { seconds: 94 },
    charge: { cost: '0.094', basis: 'estimated' },
  })
})
