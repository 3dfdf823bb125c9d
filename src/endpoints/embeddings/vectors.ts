/** Vectors as numbers, and as base64 of little-endian 32-bit floats. */
import { endianness } from 'node:os'

const littleEndian = endianness() === 'LE'

/** Base64 of a vector as little-endian 32-bit floats. */
export function toBase64(vector: readonly number[]): string {
  if (littleEndian) return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

/** The vector in base64 text; undefined unless its length is a multiple of four bytes. */
export function fromBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return undefined
  const vector: number[] = []
  for (let at = 0; at < bytes.length; at += 4) vector.push(shortest(bytes.readFloatLE(at)))
  return vector
}

/** The shortest number with the same 32-bit float: `0.1` instead of `0.10000000149011612`, a third of the JSON text. */
function shortest(value: number): number {
  for (const digits of [7, 8]) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === value) return rounded
  }
  return Number(value.toPrecision(9))
}
