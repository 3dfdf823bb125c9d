/** WAV files with silence. */

export interface Silence {
  readonly seconds: number
  /** Default 16,000. */
  readonly rate?: number
  /** Default 1. */
  readonly channels?: number
  /** Default 16. */
  readonly bits?: number
  /** The length in the header, if it differs from the real one. */
  readonly declared?: number
  /** A chunk before the samples. */
  readonly before?: Buffer
}

export function wav(silence: Silence): Buffer<ArrayBuffer> {
  const { seconds, rate = 16_000, channels = 1, bits = 16, before = Buffer.alloc(0) } = silence
  const frame = (channels * bits) / 8
  const data = Buffer.alloc(Math.round(seconds * rate) * frame)
  const format = Buffer.alloc(24)
  format.write('fmt ')
  format.writeUInt32LE(16, 4)
  format.writeUInt16LE(1, 8)
  format.writeUInt16LE(channels, 10)
  format.writeUInt32LE(rate, 12)
  format.writeUInt32LE(rate * frame, 16)
  format.writeUInt16LE(frame, 20)
  format.writeUInt16LE(bits, 22)
  const head = Buffer.alloc(8)
  head.write('data')
  head.writeUInt32LE(silence.declared ?? data.length, 4)
  const body = Buffer.concat([Buffer.from('WAVE'), format, before, head, data])
  const riff = Buffer.alloc(8)
  riff.write('RIFF')
  riff.writeUInt32LE(body.length, 4)
  return Buffer.concat([riff, body])
}
