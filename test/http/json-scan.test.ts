/** Long strings are searched natively, in words of four bytes: results must be the same as byte by byte. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonBody } from '../../src/http/json-body.ts'
import { refusal, sizes, standard } from './json.ts'

const unit = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('a', ' ', 'é', '😀') },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\n', '\u0001', '\u001f', '\u0020', '\u007f') },
)
const longText = fc.string({ unit, minLength: 20, maxLength: 150 })
const change = fc.record({
  at: fc.nat(),
  insert: fc.constantFrom(
    ...['"', '\\', '\\"', '\\u00e9', '\\u00zz', '\n', '\0', '\u001f', '\u0080'].map((text) => Buffer.from(text)),
  ),
})

test('accepts and rejects long strings like JSON.parse, whatever is inserted into them', () => {
  fc.assert(
    fc.property(
      fc.array(longText, { minLength: 1, maxLength: 4 }),
      fc.array(change, { maxLength: 2 }),
      (texts, changes) => {
        let bytes = Buffer.from(JSON.stringify({ texts, [texts[0] as string]: texts }))
        for (const { at, insert } of changes) {
          const from = at % (bytes.length + 1)
          bytes = Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from)])
        }
        const expected = standard(bytes)
        expect(refusal(() => JsonBody.fromBytes(bytes, sizes))).toBe(expected === undefined ? 400 : undefined)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('checks every byte of a long string', () => {
  const text = Buffer.from(JSON.stringify({ text: 'x'.repeat(100) }))
  for (let at = 0; at < text.length; at++) {
    for (const byte of [0x00, 0x0a, 0x1f, 0x22, 0x5c, 0x7f]) {
      const bytes = Buffer.from(text)
      bytes[at] = byte
      const expected = standard(bytes) === undefined ? 400 : undefined
      expect([at, byte, refusal(() => JsonBody.fromBytes(bytes, sizes))]).toEqual([at, byte, expected])
    }
  }
})
