/** Reads and writes PNG (https://www.w3.org/TR/png-3/): writes RGBA, reads only images with 8 bits per sample. */
import zlib, { deflate, inflate } from 'node:zlib'
import { promisify } from 'node:util'
import { invalid } from '../../errors.ts'
import { eachRow } from './rows.ts'
import { samplesOf, toPixels, unfiltered, type Header } from './png-samples.ts'

/** An image with four bytes per pixel: red, green, blue, alpha. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** Maximum number of pixels drawn or read: 4 bytes of memory each. */
export const maxPixels: number = 2048 * 2048

/** Maximum number of chunks in a file: even empty ones take time. */
const maxChunks = 10_000

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>
const inflated = promisify(inflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

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

/** Throws a 400 for `param` if the bytes are not a supported PNG. */
export async function readPng(bytes: Buffer, param: string): Promise<Picture> {
  const chunks = chunksOf(bytes, param)
  const header = headerOf(chunks.get('IHDR')?.[0], param)
  const { width, height } = header
  const expected = (width * samplesOf(header) + 1) * height
  let rows: Buffer
  try {
    rows = await inflated(Buffer.concat(chunks.get('IDAT') ?? []), { maxOutputLength: expected + 64 })
  } catch (cause) {
    throw broken(param, cause)
  }
  if (rows.length < expected) throw broken(param)
  const lines = await unfiltered(rows, header)
  if (lines === undefined) throw broken(param)
  return { width, height, pixels: await toPixels(lines, header, chunks.get('PLTE')?.[0], chunks.get('tRNS')?.[0]) }
}

function chunksOf(bytes: Buffer, param: string): Map<string, Buffer[]> {
  if (!bytes.subarray(0, 8).equals(signature)) {
    throw invalid(`"${param}" must be a PNG for this model.`, param)
  }
  const chunks = new Map<string, Buffer[]>()
  for (let at = 8, count = 0; at + 12 <= bytes.length; count++) {
    if (count === maxChunks) throw invalid(`"${param}" has more than ${maxChunks} chunks.`, param)
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (at + 12 + length > bytes.length) throw broken(param)
    const same = chunks.get(type) ?? []
    same.push(bytes.subarray(at + 8, at + 8 + length))
    chunks.set(type, same)
    at += 12 + length
  }
  return chunks
}

function headerOf(data: Buffer | undefined, param: string): Header {
  if (data === undefined || data.length < 13) throw broken(param)
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth, colour = 0, , , interlaced] = data.subarray(8)
  const header = { width, height, colour }
  if (samplesOf(header) === 0 || width === 0 || height === 0) throw broken(param)
  if (width * height > maxPixels) throw invalid(`"${param}" has more than ${maxPixels} pixels.`, param)
  if (depth !== 8) throw invalid(`"${param}" must have 8 bits per sample for this model.`, param)
  if (interlaced !== 0) throw invalid(`"${param}" must not be interlaced for this model.`, param)
  return header
}

function broken(param: string, cause?: unknown) {
  return invalid(`"${param}" is a broken PNG.`, param, cause)
}
