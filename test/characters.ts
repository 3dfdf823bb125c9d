/** Texts of any characters, for fast-check. */
import { array, constantFrom, domain, integer, oneof, string, tuple, type Arbitrary } from 'fast-check'

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

/**
 * What a reader sees as one character, perhaps of several code points. A `unit` of `string()`: fast-check's own `grapheme`
 * is a table of all of them, which takes half a second to make.
 */
export const anyGrapheme: Arbitrary<string> = oneof(
  { weight: 4, arbitrary: codePoints(0x20, 0x7e) },
  { weight: 4, arbitrary: anyCharacter.filter((text) => /[^\p{C}\p{M}\p{Z}]/u.test(text)) },
  {
    weight: 1,
    arbitrary: constantFrom('e\u0301', 'n\u0303\u0323', '\u1112\u1161\u11ab', '\u0ba8\u0bbf', '🇫🇷', '👍🏽', '👩‍👩‍👧', '❤️'),
  },
)

const urlCharacter = oneof(
  { weight: 3, arbitrary: constantFrom(...'abcXYZ019-._~!$&()*+,;=:@'.split('')) },
  { weight: 1, arbitrary: anyCharacter.map(encodeURIComponent) },
)

/** An address with a path. fast-check's own `webUrl` makes a table of all characters, too. */
export const anyUrl: Arbitrary<string> = tuple(
  constantFrom('http', 'https'),
  domain(),
  array(string({ unit: urlCharacter }), { maxLength: 4 }),
).map(([scheme, ...parts]) => `${scheme}://${parts.flat().join('/')}`)
