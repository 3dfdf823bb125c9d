import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJson } from '../../src/http/json.ts'
import { JsonProgress } from '../../src/http/json-progress.ts'

test('reports after each piece whether the text so far is complete JSON', () => {
  const nearly = fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', 'a', ' ') })
  const texts = fc.oneof(
    fc.json(),
    fc.json().map((json) => `[${json}]`),
    nearly.map((text) => `{${text}`),
  )
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, size) => {
      const progress = new JsonProgress()
      for (let at = 0; at < text.length; at += size) {
        progress.add(text.slice(at, at + size))
        const sofar = text.slice(0, at + size)
        expect(progress.text).toBe(sofar)
        // A long string on its own is not examined again with every piece.
        if (/^\s*[[{]/.test(sofar)) expect(progress.whole).toBe(isJson(sofar))
      }
    }),
    { numRuns: 1_000 },
  )
})
