import { describe, expect, test } from 'vitest'
import { Structure } from '../../src/providers/answer-bounds.ts'

const bounds = { depth: 8, values: 100, members: 10, costly: 6 }

/** Whether the text, in pieces of `size` bytes, stays within the bounds. */
function fits(text: string, size: number): boolean {
  const bytes = Buffer.from(text)
  const structure = new Structure(bounds)
  try {
    for (let at = 0; at < bytes.length; at += size) structure.add(bytes.subarray(at, at + size))
    return true
  } catch {
    return false
  }
}

describe('the structure of a response is the same wherever its bytes are cut:', () => {
  // Each is two objects and three texts; one more text is allowed.
  test.each([
    ['short texts', { a: ['x', ''], b: { c: 'y' } }],
    ['long texts', { a: ['x'.repeat(1_000), ''], b: { c: 'y'.repeat(129) } }],
    ['escaped quotes', { a: ['"'.repeat(300), '\\'.repeat(301)], b: { c: `${'z'.repeat(200)}\\"` } }],
    ['structure in texts', { a: ['{"a":['.repeat(90), ',:'], b: { c: '\\"}]' } }],
    ['characters of several bytes', { a: ['模'.repeat(100), '"😀'.repeat(60)], b: { c: 'é' } }],
  ])('%s', (_, value) => {
    const [within, over] = [JSON.stringify(value), JSON.stringify({ ...value, d: ['more', 'texts'] })]
    for (const size of [1, 2, 3, 7, 64, 127, 128, 129, 130, 10_000]) {
      expect([size, fits(within, size), fits(over, size)]).toEqual([size, true, false])
    }
  })
})
