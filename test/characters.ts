/** Texts of any characters, for fast-check. */
import { integer, oneof, type Arbitrary } from 'fast-check'

// With the way back, fast-check also tries names such as `__proto__`.
const codePoints = (min: number, max: number) =>
  integer({ min, max }).map(
    (code) => String.fromCodePoint(code),
    (text) => (typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1),
  )

/**
 * Any character of Unicode, of each length in UTF-8 as often; no lone surrogates. A `unit` of `string()`: fast-check's own
 * `binary` is a table of all characters, which takes a second and 250 MB to make.
 */
export const anyCharacter: Arbitrary<string> = oneof(
  codePoints(0, 0x7f),
  codePoints(0x80, 0x7ff),
  codePoints(0x800, 0xd7ff),
  codePoints(0xe000, 0xffff),
  codePoints(0x10000, 0x10ffff),
)
