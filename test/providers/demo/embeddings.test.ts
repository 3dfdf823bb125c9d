import { demo } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import type { EmbeddingRequest } from '../../../src/wire/embeddings.ts'

const embed = (input: EmbeddingRequest['input'], rest: Partial<EmbeddingRequest> = {}) => {
  const request = { model: 'demo-embedding', input, ...rest }
  const vectors = demo()
    .embed({ request } as never)
    .data.map(({ embedding }) => embedding as number[])
  return vectors
}

const cosine = (left: number[], right: number[]) => left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
const alike = (left: string, right: string) => {
  const [a = [], b = []] = embed([left, right])
  return cosine(a, b)
}

test('the same text has the same vector, alone and in a list', () => {
  const [alone] = embed('The cat sat on the mat.')
  expect(embed(['Something else.', 'The cat sat on the mat.'])[1]).toEqual(alone)
})

test('a vector has length one, whatever its text and size', () => {
  for (const text of ['', ' ', 'a', 'The cat', '猫が座った', 'a '.repeat(5_000)]) {
    for (const dimensions of [1, 64, 256, 3072]) {
      const [vector = []] = embed(text, { dimensions })
      expect(vector).toHaveLength(dimensions)
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    }
  }
})

test('texts that say nearly the same in the same words are close; others are not', () => {
  expect(alike('The cat sat on the mat.', 'the cat sat on THE MAT')).toBeCloseTo(1, 5)
  expect(alike('The cat sat on the mat.', 'A cat is sitting on the mat.')).toBeGreaterThan(0.6)
  expect(alike('refund for a broken lamp', 'how do I get a refund for my lamps?')).toBeGreaterThan(0.4)
  expect(alike('The cat sat on the mat.', 'Quarterly revenue grew by nine percent.')).toBeLessThan(0.25)
})

test('tokens are embedded like texts', () => {
  const [first, second] = embed([
    [1, 2, 3],
    [1, 2, 3],
  ])
  expect(first).toEqual(second)
  expect(embed([7, 8])).toHaveLength(1)
})

test('more dimensions than there are is refused by name', () => {
  expect(() => embed('x', { dimensions: 4097 })).toThrow(expect.objectContaining({ param: 'dimensions', status: 400 }))
})
