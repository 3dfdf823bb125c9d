/**
 * The demo model's embeddings: hashed words and trigrams. Equal texts have equal vectors, texts with common words are close
 * together, and all others are nearly orthogonal. Meaning plays no role.
 */
import { crc32 } from 'node:zlib'
import { invalid } from '../../errors.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import { breaks } from './breaks.ts'
import { countTokens, readLength } from './tokens.ts'

const maxNumbers = 600_000
const [defaultDimensions, mostDimensions] = [256, 4096]

export async function embed({ input, dimensions }: EmbeddingRequest): Promise<EmbeddingList> {
  const size = dimensions ?? defaultDimensions
  if (size > mostDimensions) throw invalid(`"dimensions" must be at most ${mostDimensions}.`, 'dimensions')
  const single = typeof input === 'string' || typeof input[0] === 'number'
  const texts = (single ? [input] : input) as readonly (string | readonly number[])[]
  if (texts.length * size > maxNumbers) {
    const most = Math.floor(maxNumbers / size)
    throw invalid(`"input" must have at most ${most} texts of ${size} dimensions for this model.`, 'input')
  }
  const data: EmbeddingList['data'][number][] = []
  let tokens = 0
  const rest = breaks()
  for (const [index, text] of texts.entries()) {
    const known = text.slice(0, readLength)
    await rest(known.length + size)
    tokens += typeof text === 'string' ? countTokens(text, readLength) : text.length
    data.push({ object: 'embedding', index, embedding: vectorOf(featuresOf(known), size) })
  }
  return { object: 'list', data, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

/** Words and tokens, which weigh twice as much as a trigram. */
function featuresOf(text: string | readonly number[]): string[] {
  if (typeof text !== 'string') return text.flatMap((token) => [`token ${token}`, `token ${token}`])
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.flatMap((word) => {
    const trigrams = Array.from({ length: word.length }, (_, at) => `<${word}>`.slice(at, at + 3))
    return [word, word, ...trigrams]
  })
}

/** Adds each feature to one dimension with one sign. The square root dampens frequent features. */
function vectorOf(features: readonly string[], size: number): number[] {
  // Gives the empty text a non-zero vector.
  const weights = new Map([['', 0.1]])
  for (const feature of features) weights.set(feature, (weights.get(feature) ?? 0) + 1)
  const vector = Array.from({ length: size }, () => 0)
  for (const [feature, weight] of weights) {
    const hash = crc32(feature)
    const dimension = (hash >>> 1) % size
    vector[dimension] = (vector[dimension] ?? 0) + (hash & 1 ? 1 : -1) * Math.sqrt(weight)
  }
  const length = Math.hypot(...vector) || 1
  // Rounded to 32 bits, so that the number and base64 encodings have equal values.
  return vector.map((value) => Math.fround(value / length))
}
