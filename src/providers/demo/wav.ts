/** Reads WAV headers. Source: Microsoft's RIFF and WAVEFORMATEX references. */
import { invalid } from '../../errors.ts'

export interface Sound {
  readonly channels: number
  /** Samples per second of each channel. */
  readonly rate: number
  /** Bits per sample. */
  readonly bits: number
  /** In seconds. */
  readonly duration: number
}

/** Bytes kept from the start of a file, which contain its headers. */
const headBytes = 64 * 1024

/** Reads a file to its end without storing it. Throws a 400 if it is not a PCM WAV. */
export async function readWav(file: AsyncIterable<Uint8Array>): Promise<Sound> {
  const head: Uint8Array[] = []
  let kept = 0
  let size = 0
  for await (const piece of file) {
    size += piece.length
    if (kept >= headBytes) continue
    head.push(piece)
    kept += piece.length
  }
  return soundIn(Buffer.concat(head), size)
}

function soundIn(head: Buffer, size: number): Sound {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') {
    throw invalid('"file" must be a WAV for this model.', 'file')
  }
  const [format = 0, data = 0] = ['fmt ', 'data'].map((name) => head.indexOf(name, 12, 'latin1') + 8)
  if (format > 8 && data > format + 16) {
    const [channels, rate, frame] = [
      head.readUInt16LE(format + 2),
      head.readUInt32LE(format + 4),
      head.readUInt16LE(format + 12),
    ]
    // Recorders that stream write a length of 0, or one that is too large.
    const bytes = Math.min(head.readUInt32LE(data - 4) || Infinity, size - data)
    const sound = { channels, rate, bits: head.readUInt16LE(format + 14), duration: Math.floor(bytes / frame) / rate }
    if (channels > 0 && rate > 0 && frame > 0) return sound
  }
  throw invalid('"file" is a broken WAV.', 'file')
}
