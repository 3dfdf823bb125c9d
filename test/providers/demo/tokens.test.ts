import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTokens, tokensOf } from '../../../src/providers/demo/tokens.ts'
import { ask, tool } from './ask.ts'
import { cpuMs, leastMs } from '../../cpu-time.ts'
import { anyCharacter, anyGrapheme } from '../../characters.ts'

async function cost(...question: Parameters<typeof ask>): Promise<number> {
  return (await ask(...question)).usage?.prompt_tokens ?? 0
}

/** CPU milliseconds of many runs, because CPU time has a coarse resolution. */
function timeFor(text: string): number {
  const startedAt = cpuMs()
  for (let times = 0; times < 30; times++) countTokens(text)
  return cpuMs() - startedAt
}

describe('the tokens of the demo model', () => {
  test('join to the original text', () => {
    fc.assert(fc.property(fc.string({ unit: anyGrapheme, maxLength: 200 }), (text) => tokensOf(text).join('') === text))
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => tokensOf(text).join('') === text),
    )
    const naughty = 'a\ud800b  \n\t c漢字 é👩‍👩‍👧 x'.repeat(3)
    expect(tokensOf(naughty).join('')).toBe(naughty)
  })

  test('are words, pieces of long words, and single ideographs', () => {
    expect(tokensOf('Hello there, internationalization')).toEqual([
      'Hello',
      ' there',
      ',',
      ' internat',
      'ionaliza',
      'tion',
    ])
    expect(tokensOf('漢字 2026')).toEqual(['漢', '字', ' 202', '6'])
  })

  test('are extrapolated for a very long text', async () => {
    const long = 'lorem ipsum '.repeat(1_000_000)
    expect(countTokens(long) / 2_000_000).toBeCloseTo(1, 1)
    // Sixty times the length that is split into tokens.
    const over = await leastMs(10, () => timeFor(long) - 15 * timeFor(long.slice(0, 200_000)))
    expect(over).toBeLessThanOrEqual(10)
  })

  test('increase with the question, an image and a tool', async () => {
    const plain = await cost('Hello')
    expect(await cost('Hello there')).toBe(plain + 1)
    expect(await cost('Hello', { tools: [tool('get_weather')] })).toBeGreaterThan(plain + 5)
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(999)}` } } as const
    expect(await cost('', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, image] }] })).toBe(
      plain + 85,
    )
  })
})
