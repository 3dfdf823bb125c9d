import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from '../../../src/endpoints/embeddings/vectors.ts'
import { hasShared, sharedJson } from '../../shared.ts'

describe.skipIf(!hasShared)("OpenAI's recorded pair: one vector in two forms", () => {
  const vectorIn = <T>(name: string) =>
    sharedJson<{ data: [{ embedding: T }] }>(`recordings/openai/${name}.json`).data[0].embedding
  const floats = vectorIn<number[]>('embedding-float')
  const base64 = vectorIn<string>('embedding-base64')

  test('numbers become the very same base64', () => {
    expect(toBase64(floats)).toBe(base64)
  })

  test('base64 becomes the very same numbers, digit for digit', () => {
    expect(fromBase64(base64)).toEqual(floats)
  })
})

test('every float survives the way there and back', () => {
  const vector = [0, 1, -1.5, 0.1, 1 / 3, 1e-45, 3.4028234663852886e38, 123456.789].map(Math.fround)
  expect(fromBase64(toBase64(vector))?.map(Math.fround)).toEqual(vector)
})

test('base64 that ends within a float is no vector', () => {
  expect(fromBase64(Buffer.from([1, 2, 3, 4, 5]).toString('base64'))).toBeUndefined()
})
