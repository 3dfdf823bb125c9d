/** PNG (https://www.w3.org/TR/png-3/), as far as the demo model needs it: written as RGBA, read in every colour type. */
import { crc32, deflate, inflate } from 'node:zlib'
import { promisify } from 'node:util'
import { invalid } from '../../errors.ts'
import { samplesOf, toPixels, type Header } from './png-samples.ts'

/** Four bytes a pixel: red, green, blue, alpha. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** More than this is not drawn and not read: it would only cost the host's memory. */
export const mostPixels: number = 2048 * 2048

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>
const inflated = promisify(inflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

export async function writePng({ width, height, pixels }: Picture): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6], 8)
  const stride = width * 4
  // Each row as the difference to the one above it: even areas become zeros.
  const rows = Buffer.alloc((stride + 1) * height)
  for (let y = 0, at = 0; y < height; y++) {
    rows[at++] = 2
    for (let x = 0; x < stride; x++, at++) {
      const below = pixels[y * stride + x] as number
      rows[at] = y === 0 ? below : below - (pixels[(y - 1) * stride + x] as number)
    }
  }
  const data = await deflated(rows, { level: 4 })
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(4)
  frame.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([frame, body, check])
}

/** Throws 400 that names `param` for anything that is no PNG of a size that is read here. */
export async function readPng(bytes: Buffer, param: string): Promise<Picture> {
  const chunks = chunksOf(bytes, param)
  const header = headerOf(chunks.get('IHDR')?.[0], param)
  const { width, height } = header
  const stride = Math.ceil((width * samplesOf(header) * header.depth) / 8)
  const expected = (stride + 1) * height
  let rows: Buffer
  try {
    rows = await inflated(Buffer.concat(chunks.get('IDAT') ?? []), { maxOutputLength: expected + 64 })
  } catch (cause) {
    throw broken(param, cause)
  }
  if (rows.length < expected) throw broken(param)
  const lines = unfiltered(rows, stride, header, param)
  return { width, height, pixels: toPixels(lines, stride, header, chunks.get('PLTE')?.[0], chunks.get('tRNS')?.[0]) }
}

function chunksOf(bytes: Buffer, param: string): Map<string, Buffer[]> {
  if (!bytes.subarray(0, 8).equals(signature)) {
    throw invalid(`"${param}" must be a PNG for this model.`, param)
  }
  const chunks = new Map<string, Buffer[]>()
  for (let at = 8; at + 12 <= bytes.length;) {
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
  const [depth = 0, colour = 0, , , interlaced] = data.subarray(8)
  const known = [0, 2, 3, 4, 6].includes(colour) && [1, 2, 4, 8, 16].includes(depth)
  if (!known || width === 0 || height === 0) throw broken(param)
  if (width * height > mostPixels) throw invalid(`"${param}" has more than ${mostPixels} pixels.`, param)
  if (interlaced !== 0) throw invalid(`"${param}" must not be interlaced for this model.`, param)
  return { width, height, depth, colour }
}

/** Undoes the filters of the rows, in place, and drops the byte that names them. */
function unfiltered(rows: Buffer, stride: number, header: Header, param: string): Uint8Array {
  const lines = new Uint8Array(stride * header.height)
  const step = Math.max(1, (samplesOf(header) * header.depth) / 8)
  for (let y = 0; y < header.height; y++) {
    const from = y * (stride + 1)
    const to = y * stride
    const filter = rows[from] as number
    if (filter > 4) throw broken(param)
    for (let x = 0; x < stride; x++) {
      const left = x >= step ? (lines[to + x - step] as number) : 0
      const up = y > 0 ? (lines[to + x - stride] as number) : 0
      const corner = x >= step && y > 0 ? (lines[to + x - stride - step] as number) : 0
      lines[to + x] = (rows[from + 1 + x] as number) + predicted(filter, left, up, corner)
    }
  }
  return lines
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const estimate = left + up - corner
  const [toLeft, toUp, toCorner] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)]
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

function broken(param: string, cause?: unknown) {
  return invalid(`"${param}" is a broken PNG.`, param, cause)
}
