import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatMoney, mostMicros, parseMoney } from '../../src/money/money.ts'

describe('amounts', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000n],
    ['0.000001', 1n],
    ['12.5', 12_500_000n],
    ['-3.25', -3_250_000n],
    ['9007199254.740991', mostMicros],
  ])('%s is %s micro-units', (text, micros) => {
    expect(parseMoney(text)).toBe(micros)
    expect(formatMoney(micros)).toBe(text)
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '1,5',
    '1e3',
    '0x10',
    '.5',
    '5.',
    '+1',
    '--1',
    'NaN',
    'Infinity',
    '1.0000001',
    '9007199254.740992',
  ])('%j is rejected', (text) => expect(() => parseMoney(text)).toThrow(TypeError))

  test.each([1, 1.5, Number.NaN, Infinity, null, undefined, true, {}, 5n])(
    'anything but a string is rejected: %s',
    (value) => {
      expect(() => parseMoney(value as never)).toThrow(/not a decimal number in a string/)
    },
  )

  test('every amount survives a round trip through its text', () => {
    fc.assert(fc.property(fc.bigInt(-mostMicros, mostMicros), (micros) => parseMoney(formatMoney(micros)) === micros))
  })
})
