import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../../cpu-time.ts'
import { Overlap } from '../../../../src/endpoints/translated/continued/overlap.ts'

/** What remains of a continuation that arrives in pieces of `size` characters. */
function remaining(said: string, continuation: string, size: number): string {
  const overlap = new Overlap(said)
  let text = ''
  for (let at = 0; at < continuation.length; at += size) text += overlap.take(continuation.slice(at, at + size))
  return text + overlap.rest()
}

const said = 'It was a bright cold day in April, and the clocks were striking'
const rest = ' thirteen. It was a bright cold day.'

describe.each([1, 3, 200])('in pieces of %i characters', (size) => {
  test.each([
    ['the last words', 'clocks were striking'],
    ['the last sentence', said.slice(20)],
    ['all of it', said],
    ['nothing', ''],
  ])('a continuation that repeats %s is joined to the text', (_, repeated) => {
    expect(remaining(said, repeated + rest, size)).toBe(rest)
  })

  test('a few characters that are the same are no repetition', () => {
    expect(remaining('ha ha ', 'ha ha ha!', size)).toBe('ha!')
    expect(remaining('He said: the dog, the ', 'the cat', size)).toBe('the cat')
  })

  test('what only begins like the text is new', () => {
    expect(remaining(said, 'It was a bright spring day', size)).toBe('It was a bright spring day')
  })
})

test('a text of a megabyte is compared in milliseconds', () => {
  const overlap = new Overlap('a'.repeat(1_000_000))
  const begun = cpuMs()
  for (let piece = 0; piece < 4_000; piece++) overlap.take('a')
  overlap.rest()
  expect(cpuMs() - begun).toBeLessThan(1_000)
})
