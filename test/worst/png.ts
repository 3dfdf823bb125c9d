/** PNGs of any kind, with rows made by hand. */
import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** `fill` writes one row, its filter byte first. */
export function pngOf(
  width: number,
  height: number,
  depth: number,
  colour: number,
  fill: (row: Buffer) => void,
  ...between: readonly Buffer[]
): Buffer {
  const samples = [1, 0, 3, 1, 2, 0, 4][colour] as number
  const row = Buffer.alloc(Math.ceil((width * samples * depth) / 8) + 1)
  fill(row)
  const rows = Buffer.alloc(row.length * height, row)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([depth, colour], 8)
  const parts = [chunk('IHDR', head), ...between, chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...parts])
}

export function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.alloc(data.length + 12)
  whole.writeUInt32BE(data.length)
  whole.write(type, 4, 'latin1')
  data.copy(whole, 8)
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4)
  return whole
}
