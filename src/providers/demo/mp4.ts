/** The MP4 container (ISO/IEC 14496-12 and -15) around the pictures of one silent video. */

export interface Track {
  readonly width: number
  readonly height: number
  readonly picturesPerSecond: number
  readonly sequence: Buffer
  readonly picture: Buffer
  /** One unit a picture; only the first stands alone. */
  readonly pictures: readonly Buffer[]
}

/** Index first, so that a player can begin before the last byte has come. */
export function mp4(track: Track): Buffer {
  const samples = track.pictures.map((unit) => Buffer.concat([u32(unit.length), unit]))
  const head = box('ftyp', Buffer.from('isom'), u32(0x200), Buffer.from('isomiso2avc1mp41'))
  // The index holds the place of the pictures, which depends on its own length: that does not change with the place.
  const length = head.length + moov(track, samples, 0).length + 8
  return Buffer.concat([head, moov(track, samples, length), box('mdat', ...samples)])
}

function moov(track: Track, samples: readonly Buffer[], at: number): Buffer {
  const { picturesPerSecond: rate, width, height } = track
  const duration = u32(samples.length)
  const unity = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32))
  const none = Buffer.alloc(8)
  const movie = full(
    'mvhd',
    0,
    none,
    u32(rate),
    duration,
    u32(0x10000),
    u16(0x100),
    u16(0),
    none,
    unity,
    Buffer.alloc(24),
    u32(2),
  )
  const header = full(
    'tkhd',
    3,
    none,
    u32(1),
    u32(0),
    duration,
    none,
    none,
    unity,
    u32(width * 65_536),
    u32(height * 65_536),
  )
  const media = full('mdhd', 0, none, u32(rate), duration, u16(0x55c4), u16(0))
  const handler = full('hdlr', 0, u32(0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('video\0'))
  const data = box('dinf', full('dref', 0, u32(1), full('url ', 1)))
  const table = box(
    'stbl',
    full('stsd', 0, u32(1), visual(track)),
    full('stts', 0, u32(1), duration, u32(1)),
    full('stss', 0, u32(1), u32(1)),
    full('stsc', 0, u32(1), u32(1), duration, u32(1)),
    full('stsz', 0, u32(0), duration, ...samples.map((sample) => u32(sample.length))),
    full('stco', 0, u32(1), u32(at)),
  )
  const info = box('minf', full('vmhd', 1, none), data, table)
  return box('moov', movie, box('trak', header, box('mdia', media, handler, info)))
}

function visual({ width, height, sequence, picture }: Track): Buffer {
  const config = Buffer.concat([
    Buffer.from([1, sequence[1] ?? 0, sequence[2] ?? 0, sequence[3] ?? 0, 0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  ])
  const depth = Buffer.from([0, 24, 0xff, 0xff])
  return box(
    'avc1',
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(width),
    u16(height),
    u32(0x480000),
    u32(0x480000),
    u32(0),
    u16(1),
    Buffer.alloc(32),
    depth,
    box('avcC', config),
  )
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...parts], size)
}

/** A box with version 0 and flags. */
function full(type: string, flags: number, ...parts: readonly Buffer[]): Buffer {
  return box(type, u32(flags), ...parts)
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
