import { demo } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import type { EmbeddingRequest } from '../../../src/wire/embeddings.ts'

const embed = async (input: EmbeddingRequest['input'], rest: Partial<EmbeddingRequest> = {}) => {
  const request = { model: 'demo-embedding', input, ...rest }
  const { data } = await demo().embed({ request } as never)
  return data.map(({ embedding }) => embedding as number[])
}

const cosine = (left: number[], right: number[]) => left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
const alike = async (left: string, right: string) => {
  const [a = [], b = []] = await embed([left, right])
  return cosine(a, b)
}

test('gives the same text the same vector, alone and in a list', async () => {
  const [alone] = await embed('The cat sat on the mat.')
  expect((await embed(['Something else.', 'The cat sat on the mat.']))[1]).toEqual(alone)
})

test('normalises every vector to length 1', async () => {
  for (const text of ['', ' ', 'a', 'The cat', '猫が座った', 'a '.repeat(5_000)]) {
    for (const dimensions of [1, 64, 256, 3072]) {
      const [vector = []] = await embed(text, { dimensions })
      expect(vector).toHaveLength(dimensions)
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    }
  }
})

test('gives texts with common words similar vectors', async () => {
  expect(await alike('The cat sat on the mat.', 'the cat sat on THE MAT')).toBeCloseTo(1, 5)
  expect(await alike('The cat sat on the mat.', 'A cat is sitting on the mat.')).toBeGreaterThan(0.6)
  expect(await alike('refund for a broken lamp', 'how do I get a refund for my lamps?')).toBeGreaterThan(0.4)
  expect(await alike('The cat sat on the mat.', 'Quarterly revenue grew by nine percent.')).toBeLessThan(0.25)
})

test('embeds tokens', async () => {
  const [first, second] = await embed([
    [1, 2, 3],
    [1, 2, 3],
  ])
  expect(first).toEqual(second)
  expect(await embed([7, 8])).toHaveLength(1)
})

test('rejects too many dimensions by name', async () => {
  await expect(embed('x', { dimensions: 4097 })).rejects.toMatchObject({ param: 'dimensions', status: 400 })
})
