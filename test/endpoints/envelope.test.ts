/** Only the maker of an envelope can open it. */
import { expect, test } from 'vitest'
import { isSealed, seal, unseal } from '../../src/formats/envelope.ts'

test.each(['anthropic', 'a.b/c é', 'a', ''])('the maker gets its text back unchanged: %j', (maker) => {
  const text = '\n{"any": "té.xt"}.mh1.a.'
  expect(unseal(seal(maker, text), maker)).toBe(text)
  expect(seal(maker, text)).toMatch(/^mh1\.[\w%~!*'()-]*\./)
  for (const other of ['anthropi', 'anthropic2', 'a.b', `${maker}.`])
    expect(unseal(seal(maker, text), other)).toBe(undefined)
})

test('a value that is not an envelope cannot be opened by any maker', () => {
  for (const value of ['', 'gAAAA', 'mh1.', 'mh1.a', 'mh2.a.x', 1, null, undefined, {}]) {
    expect(unseal(value, 'a')).toBe(undefined)
  }
  expect([isSealed('mh1.a.x'), isSealed('gAAAA'), isSealed(null)]).toEqual([true, false, false])
})
