import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from '../../../src/endpoints/embeddings/vectors.ts'
import { hasShared, sharedJson } from '../../shared.ts'

interface Recorded {
  readonly data: [{ readonly embedding: unknown }]
}

const recorded = (name: string) => (sharedJson(`recordings/openai/${name}.json`) as Recorded).data[0].embedding

describe.skipIf(!hasShared)("OpenAI's recorded pair: one vector in two forms", () => {
  test('numbers become exactly the recorded base64', () => {
    expect(toBase64(recorded('embedding-float') as number[])).toBe(recorded('embedding-base64'))
  })

  test('base64 becomes exactly the recorded numbers', () => {
    expect(fromBase64(recorded('embedding-base64') as string)).toEqual(recorded('embedding-float'))
  })
})

test('every float survives a round trip', () => {
  const vector = [0, 1, -1.5, 0.1, 1 / 3, 1e-45, 3.4028234663852886e38, 123456.789].map(Math.fround)
  expect(fromBase64(toBase64(vector))?.map(Math.fround)).toEqual(vector)
})

test('truncated base64 is rejected', () => {
  expect(fromBase64(Buffer.from([1, 2, 3, 4, 5]).toString('base64'))).toBeUndefined()
})
