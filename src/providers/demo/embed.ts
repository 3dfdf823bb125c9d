/**
 * The demo model's embeddings: hashed words and trigrams. Equal texts have equal vectors, texts with common words are close
 * together, and all others are nearly orthogonal. Meaning plays no role.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { invalid } from '../../errors.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import { countTokens } from './tokens.ts'

/** Characters or tokens that are read of a text, and numbers in all vectors of an answer. */
const [readLength, maxNumbers] = [8_000, 600_000]
const defaultDimensions = 256
const mostDimensions = 4096

/** Characters and numbers processed in one turn of the event loop. */
const lengthPerTurn = 32_000

/** The weight of a word; each of its trigrams has 1. */
const wordWeight = 2

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
  let read = 0
  for (const [index, text] of texts.entries()) {
    if (read > lengthPerTurn) {
      read = 0
      await breathe()
    }
    const known = text.slice(0, readLength)
    read += known.length + size
    tokens +=
      typeof known === 'string' ? Math.ceil((countTokens(known) * text.length) / (known.length || 1)) : text.length
    data.push({ object: 'embedding', index, embedding: vectorOf(featuresOf(known), size) })
  }
  return { object: 'list', data, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

function featuresOf(text: string | readonly number[]): Map<string, number> {
  // Gives the empty text a non-zero vector.
  const features = new Map<string, number>([['', 0.1]])
  const add = (feature: string, weight: number) => features.set(feature, (features.get(feature) ?? 0) + weight)
  if (typeof text !== 'string') {
    for (const token of text) add(`token ${token}`, wordWeight)
    return features
  }
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    add(word, wordWeight)
    const framed = `<${word}>`
    for (let at = 0; at + 3 <= framed.length; at++) add(framed.slice(at, at + 3), 1)
  }
  return features
}

/** Adds each feature to one dimension with one sign. The square root dampens frequent features. */
function vectorOf(features: Map<string, number>, size: number): number[] {
  const vector = Array.from({ length: size }, () => 0)
  for (const [feature, weight] of features) {
    const hash = hashOf(feature)
    const dimension = (hash >>> 1) % size
    vector[dimension] = (vector[dimension] ?? 0) + (hash & 1 ? 1 : -1) * Math.sqrt(weight)
  }
  const length = Math.hypot(...vector) || 1
  // Rounded to 32 bits, so that the number and base64 encodings have equal values.
  return vector.map((value) => Math.fround(value / length))
}

/** FNV-1a over UTF-16 units, with a final mix that improves the low bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
