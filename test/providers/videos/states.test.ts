import { expect, test } from 'vitest'
import { stateOf } from '../../../src/providers/videos/states.ts'

test.each(['constructor', 'toString', '__proto__'])('the word %s of a vendor is an unknown one', (word) => {
  expect(stateOf(word, false)).toBe('processing')
  expect(stateOf(word, true)).toBe('completed')
})
