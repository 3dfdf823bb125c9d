/** Draws PNGs (https://www.w3.org/TR/png-3/): a sky of two colours and some discs, derived from a hash of the prompt. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import zlib, { deflate } from 'node:zlib'
import { invalid } from '../../errors.ts'
import { breaks } from './breaks.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** Pixels of an image: each takes three bytes of memory. */
export const maxPixels: number = 2048 * 2048

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** `nth`: the number of the image for its prompt, from 0. `grain`: the side of the squares it consists of, in pixels. */
export async function draw(prompt: string, { width, height }: Size, nth = 0, grain = 1): Promise<Buffer> {
  const bytes = createHash('sha512').update(`${nth} ${prompt}`).digest()
  const colour = (at: number): number[] => [...bytes.subarray(at, at + 3)]
  const [top, bottom] = [colour(0), colour(3)]
  // The topmost is last.
  const discs = [34, 27, 20, 13, 6].map((at) => {
    const [x = 0, y = 0, size = 0] = colour(at)
    const radius = (0.05 + size / 1000) * Math.min(width, height)
    return { x: (x / 255) * width, y: (y / 255) * height, reach: radius * radius, colour: colour(at + 3) }
  })
  // Each row starts with the number of its filter: 0, none.
  const stride = 1 + width * 3
  const rows = Buffer.alloc(stride * height)
  const rest = breaks()
  for (let row = 0; row < height; row++) {
    // Filling many pixels takes the time of a character.
    await rest(width / 32)
    const start = row * stride
    const y = row - (row % grain)
    if (y < row) {
      rows.copy(rows, start, y * stride, y * stride + stride)
      continue
    }
    const fill = (colour: readonly number[], from: number, to: number) =>
      void rows.fill(Uint8Array.from(colour), start + 1 + from * 3, start + 1 + Math.min(to, width) * 3)
    const sky = top.map((from, at) => Math.round(from + ((bottom[at] ?? 0) - from) * (y / height)))
    fill(sky, 0, width)
    for (const { x, y: centre, reach, colour } of discs) {
      const half = Math.sqrt(reach - (y - centre) ** 2)
      // A square belongs to the disc if its first pixel does.
      const from = Math.max(0, Math.ceil((x - half) / grain)) * grain
      const to = (Math.floor((x + half) / grain) + 1) * grain
      if (from < to) fill(colour, from, to)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const data = await deflated(rows, { level: 4 })
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length)
  bytes.write(type, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(zlib.crc32(bytes.subarray(4, -4)), data.length + 8)
  return bytes
}

/** The size in the header. Throws 400 for `param` if there is none, or the image is too large. */
export function sizeOfPng(bytes: Buffer, param: string): Size {
  if (!bytes.subarray(0, 8).equals(signature)) throw invalid(`"${param}" must be a PNG for this model.`, param)
  const [width, height] = bytes.length < 33 ? [0, 0] : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  if (width === 0 || height === 0) throw invalid(`"${param}" is a broken PNG.`, param)
  if (width * height > maxPixels) throw invalid(`"${param}" has more than ${maxPixels} pixels.`, param)
  return { width, height }
}
