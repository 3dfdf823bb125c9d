/** Writes PNG (https://www.w3.org/TR/png-3/), and reads the size of one. */
import zlib, { deflate } from 'node:zlib'
import { promisify } from 'node:util'
import { invalid } from '../../errors.ts'
import { eachRow } from './rows.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** An image with four bytes per pixel: red, green, blue, alpha. */
export interface Picture extends Size {
  readonly pixels: Uint8Array
}

/** Pixels of an image: each takes four bytes of memory. */
export const maxPixels: number = 2048 * 2048

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

export async function writePng(picture: Picture): Promise<Buffer> {
  const { width, height, pixels } = picture
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6], 8)
  const stride = width * 4
  // Each row starts with the number of its filter: 0, none.
  const rows = Buffer.alloc((stride + 1) * height)
  await eachRow(picture, (y) => rows.set(pixels.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1))
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
