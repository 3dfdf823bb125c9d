import { describe, expect, test } from 'vitest'
import { parseFrequency } from '../../../src/records/rate.ts'

describe('a rate in the options', () => {
  test.each([
    ['5/s', { limit: 5, periodMs: 1_000, burst: 5 }],
    ['60/min', { limit: 60, periodMs: 60_000, burst: 60 }],
    ['100000/minute', { limit: 100_000, periodMs: 60_000, burst: 100_000 }],
    ['1/h', { limit: 1, periodMs: 3_600_000, burst: 1 }],
    ['2/day', { limit: 2, periodMs: 86_400_000, burst: 2 }],
    [
      { limit: 10, periodMs: 500 },
      { limit: 10, periodMs: 500, burst: 10 },
    ],
    [
      { limit: 10, periodMs: 500, burst: 3 },
      { limit: 10, periodMs: 500, burst: 3 },
    ],
  ] as const)('%j is parsed', (value, refill) => expect(parseFrequency(value)).toEqual(refill))

  test.each([
    '60',
    '60/fortnight',
    '0/min',
    '-1/min',
    '1.5/min',
    '60/toString',
    '1e3/s',
    60,
    null,
    {},
    { limit: 0, periodMs: 1 },
  ])('%j is rejected with an example in the message', (value) =>
    expect(() => parseFrequency(value as never)).toThrow(/must be like '60\/min'/),
  )
})
