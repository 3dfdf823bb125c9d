import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../characters.ts'
import { thorough } from '../long.ts'
import { serialize } from '../../src/providers/yielding.ts'

const long = 'x'.repeat(999_999)

describe('a large request serialised piece by piece', () => {
  test.each<[string, unknown]>([
    ['a long text', { text: 'a "word"\n'.repeat(300_000) }],
    ['a pair of surrogates between two pieces', { text: `${long}🐣${long}🐣` }],
    ['lone surrogates between two pieces', { text: `${long}\ud83d${long.slice(1)}\udc23${long}` }],
    ['many parts', { parts: Array.from({ length: 9_000 }, (_, at) => ({ at, text: 'x'.repeat(300) })) }],
    [
      'undefined fields and entries',
      { a: undefined, b: [undefined, long, undefined, long], c: { d: undefined, e: long } },
    ],
    ['empty objects and lists beside a long text', { a: {}, b: [], c: long + long, d: [{}, []] }],
    ['a text alone', long + long],
  ])('is the same JSON: %s', async (_, value) => {
    expect((await serialize({ large: true }, value)).equals(Buffer.from(JSON.stringify(value)))).toBe(true)
  })

  test('is the same JSON, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: anyCharacter }), async (value) => {
        const body = { padding: [long, long], value }
        expect((await serialize({ large: true }, body)).toString()).toBe(JSON.stringify(body))
      }),
      { numRuns: thorough ? 20 : 5 },
    )
  })

  test('lets others have their turn', async () => {
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    await serialize({ large: true }, { text: long.repeat(20) })
    clearInterval(counting)
    expect(turns).toBeGreaterThanOrEqual(5)
  })
})
