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
  let format: Buffer | undefined
  for (let at = 12; at + 8 <= head.length;) {
    const name = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    const start = at + 8
    if (name === 'fmt ' && start + 16 <= head.length) format = head.subarray(start)
    if (name === 'data' && format !== undefined) {
      const [channels, rate] = [format.readUInt16LE(2), format.readUInt32LE(4)]
      const [frame, bits] = [format.readUInt16LE(12), format.readUInt16LE(14)]
      if (channels === 0 || rate === 0 || frame === 0) break
      // Recorders that stream write a length of 0, or one that is too large.
      const bytes = Math.min(length === 0 ? Infinity : length, size - start)
      return { channels, rate, bits, duration: Math.floor(bytes / frame) / rate }
    }
    at = start + length + (length % 2)
  }
  throw invalid('"file" is a broken WAV.', 'file')
}
