/**
 * The length of a recording, read from its headers while the upload passes to the vendor: for vendors that report none. Of the
 * file, only the last bytes are kept. Sources: RIFF, RFC 9639 (FLAC), RFC 7845 and Vorbis I (Ogg), ISO 14496-12, Matroska,
 * ISO 11172-3 with the headers of Xing and Fraunhofer.
 */
import { isFile, type Form } from '../../http/form.ts'

/** Bytes in which a header is looked for, from where it begins. */
const headerBytes = 4_096
/** The largest page of an Ogg file. */
const pageBytes = 65_307
/** Bytes per second at least, and of a recording whose headers give no length: 4 and 32 kbit/s. */
const [least, usual] = [500, 4_000]
/** Seconds charged at most for a length that is guessed: what is held for a recording by default. */
const longestGuess = 60

/** What is known of a file once its headers have passed. */
interface Known {
  /** In seconds, for a file of so many bytes that ends with these. */
  readonly seconds: (size: number, end: Buffer) => number | undefined
  /** Bytes per second at most. */
  readonly most: number
  /** Whether `seconds` reads `end`. */
  readonly needsEnd?: true
}

/** Reads a header at an offset of the file. Returns what is known, or the next header: its reader and its offset. */
type Reader = (bytes: Buffer, at: number) => Known | readonly [Reader, number] | undefined

/** The formats, by the bytes at an offset of their first header. */
const formats: readonly (readonly [at: number, magic: string, read: Reader])[] = [
  [0, 'ID3', (bytes, at) => [begin, at + 10 + [6, 7, 8, 9].reduce((sum, nth) => sum * 128 + (bytes[nth] ?? 0), 0)]],
  [8, 'WAVE', (_, at) => [wavChunk(0), at + 12]],
  [0, 'fLaC', flac],
  [0, 'OggS', ogg],
  [4, 'ftyp', (_, at) => [mp4Box, at]],
  [0, '\x1a\x45\xdf\xa3', webm],
  [0, '\xff', mp3],
]

function begin(bytes: Buffer, at: number): ReturnType<Reader> {
  const format = formats.find(([from, magic]) => bytes.toString('latin1', from, from + magic.length) === magic)
  return format?.[2](bytes, at)
}

/** `rate`: bytes per second, once known. */
function wavChunk(rate: number): Reader {
  return (bytes, at) => {
    const [name, length] = [bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4)]
    if (name === 'data') {
      // Recorders that stream write a length of 0, or one that is too large.
      return { most: 2_000_000, seconds: (size) => Math.min(length || Infinity, size - at - 8) / rate }
    }
    return [wavChunk(name === 'fmt ' ? bytes.readUInt32LE(16) : rate), at + 8 + length + (length % 2)]
  }
}

function flac(bytes: Buffer): Known {
  const rate = bytes.readUIntBE(18, 3) >> 4
  const samples = ((bytes[21] ?? 0) & 15) * 2 ** 32 + bytes.readUInt32BE(22)
  return { most: 1_000_000, seconds: () => samples / rate }
}

function ogg(bytes: Buffer): Known | undefined {
  const [opus, vorbis] = [bytes.indexOf('OpusHead'), bytes.indexOf('\x01vorbis')]
  if (opus < 0 && vorbis < 0) return undefined
  const rate = opus < 0 ? bytes.readUInt32LE(vorbis + 12) : 48_000
  const skipped = opus < 0 ? 0 : bytes.readUInt16LE(opus + 10)
  return { most: 64_000, needsEnd: true, seconds: (_, end) => (lastGranule(end) - skipped) / rate }
}

/** The position of the last page on which a packet ends. */
function lastGranule(end: Buffer): number {
  for (let at = end.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : end.lastIndexOf('OggS', at - 1)) {
    if (at + 14 <= end.length && end.readBigInt64LE(at + 6) >= 0n) return Number(end.readBigInt64LE(at + 6))
  }
  return NaN
}

function mp4Box(bytes: Buffer, at: number): ReturnType<Reader> {
  const [size, type] = [bytes.readUInt32BE(0), bytes.toString('latin1', 4, 8)]
  if (type === 'moov') return [mp4Box, at + 8]
  if (type === 'mvhd') {
    const long = bytes[8] === 1
    const scale = bytes.readUInt32BE(long ? 28 : 20)
    const duration = long ? Number(bytes.readBigUInt64BE(32)) : bytes.readUInt32BE(24)
    return { most: 2_500_000, seconds: () => duration / scale }
  }
  const length = size === 1 ? Number(bytes.readBigUInt64BE(8)) : size
  return length < 8 ? undefined : [mp4Box, at + length]
}

function webm(bytes: Buffer): Known | undefined {
  const [scale, duration] = [bytes.indexOf('\x2a\xd7\xb1', 0, 'latin1'), bytes.indexOf('\x44\x89', 0, 'latin1')]
  const width = (bytes[duration + 2] ?? 0) & 15
  if (duration < 0 || (width !== 4 && width !== 8)) return undefined
  const units = width === 4 ? bytes.readFloatBE(duration + 3) : bytes.readDoubleBE(duration + 3)
  const nanoseconds = scale < 0 ? 1e6 : bytes.readUIntBE(scale + 4, (bytes[scale + 3] ?? 0) & 7 || 1)
  return { most: 2_500_000, seconds: () => (units * nanoseconds) / 1e9 }
}

/** kbit/s of layer III, in MPEG 1 and in MPEG 2. */
const bitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
]

function mp3(bytes: Buffer, at: number): Known | undefined {
  const [, second = 0, third = 0] = bytes
  const version = (second >> 3) & 3
  const bitRate = bitRates[version === 3 ? 0 : 1]?.[third >> 4]
  const rate = [44_100, 48_000, 32_000][(third >> 2) & 3]
  if ((second & 0xe6) !== 0xe2 || version === 1 || !bitRate || rate === undefined) return undefined
  const start = bytes.subarray(4, 64)
  const [xing, vbri] = [Math.max(start.indexOf('Xing'), start.indexOf('Info')), start.indexOf('VBRI')]
  const counted = xing >= 0 && (start.readUInt32BE(xing + 4) & 1) === 1 ? xing + 8 : vbri >= 0 ? vbri + 14 : undefined
  const frames = counted === undefined ? 0 : start.readUInt32BE(counted)
  const perSecond = version === 3 ? rate / 1_152 : rate / (version === 2 ? 2 : 4) / 576
  return { most: 40_000, seconds: (size) => (frames ? frames / perSecond : (size - at) / (bitRate * 125)) }
}

/** Reads the file of one attempt, as it passes. */
export class Recording {
  #size = 0
  /** The last bytes. */
  #end = Buffer.alloc(0)
  #next: readonly [Reader, number] | undefined = [begin, 0]
  #known: Known | undefined
  #whole = false

  /** The same form, which is read as it passes. */
  tap(form: Form): Form {
    const read = (bytes: AsyncIterable<Uint8Array>) => this.#passing(bytes)
    return {
      get kept() {
        return form.kept
      },
      async *parts() {
        for await (const part of form.parts()) {
          const { bytes } = isFile(part) ? part : {}
          const taps = bytes !== undefined && part.name === 'file'
          yield taps ? { ...part, bytes: { [Symbol.asyncIterator]: () => read(bytes) } } : part
        }
      },
    }
  }

  /**
   * In seconds. What the headers say, within what the size allows; otherwise a guess by the size. 0 if nothing was read.
   */
  get seconds(): number {
    this.#read()
    const { seconds, most } = this.#known ?? { most: Infinity }
    const said = seconds?.(this.#size, this.#end) ?? NaN
    if (!(said > 0)) return Math.max(this.#size / most, Math.min(this.#size / usual, longestGuess))
    return Math.min(Math.max(said, this.#size / most), this.#size / least)
  }

  async *#passing(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.#size = 0
    this.#end = Buffer.alloc(0)
    this.#next = [begin, 0]
    this.#known = undefined
    this.#whole = false
    for await (const piece of bytes) {
      this.take(piece)
      yield piece
    }
    this.end()
  }

  /** Reads the next bytes of the file. */
  take(piece: Uint8Array): void {
    this.#size += piece.length
    if (!this.#needsMore) return
    this.#end = Buffer.concat([this.#end, piece])
    this.#read()
    this.#end = Buffer.from(this.#end.subarray(-(this.#known === undefined ? headerBytes : pageBytes)))
  }

  /** No more bytes follow: what is left may be shorter than a header. */
  end(): void {
    this.#whole = true
  }

  get #needsMore(): boolean {
    return this.#next !== undefined || this.#known?.needsEnd === true
  }

  /** Reads the headers that have arrived. */
  #read(): void {
    while (this.#next !== undefined) {
      const [read, at] = this.#next
      const from = at - (this.#size - this.#end.length)
      if (from + (this.#whole ? 1 : headerBytes) > this.#end.length) return
      this.#next = undefined
      try {
        const found = read(this.#end.subarray(from, from + headerBytes), at)
        if (found !== undefined && 'most' in found) this.#known = found
        else this.#next = found
      } catch {
        // The header is cut off.
      }
    }
  }
}
