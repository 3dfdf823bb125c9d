/** Vectors as numbers and as base64: little-endian 32-bit floats, four bytes each. */
import { endianness } from 'node:os'

const littleEndian = endianness() === 'LE'

export function toBase64(vector: readonly number[]): string {
  if (littleEndian) return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

/** Undefined for a text that is no whole number of floats. */
export function fromBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return undefined
  const vector: number[] = []
  for (let at = 0; at < bytes.length; at += 4) vector.push(shortest(bytes.readFloatLE(at)))
  return vector
}

/** The same 32-bit float in the fewest digits: `0.1` and not `0.10000000149011612`, a third of the text. */
function shortest(value: number): number {
  for (const digits of [7, 8]) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === value) return rounded
  }
  return Number(value.toPrecision(9))
}
