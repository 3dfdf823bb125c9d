/** Lists of vectors: validated, in the order of the inputs, in the requested encoding. */
import { readUsage } from '../../wire/counts.ts'
import { requireBoundedVectors } from '../../providers/answer-bounds.ts'
import { EmbeddingText, type EmbeddingAnswer } from '../../providers/contract.ts'
import { unreadable } from '../../providers/failure.ts'
import type { Embedding, EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { Usage } from '../../wire/usage.ts'
import { fromBase64, toBase64 } from './vectors.ts'

/** The result of a provider call. */
export interface Vectors {
  readonly vectors: readonly Embedding['embedding'][]
  readonly usage: Usage | undefined
  /** The model name for the client. */
  readonly model: string
}

/** The vectors in the order of the inputs. Throws unless there is exactly one for each of the `count` inputs. */
export function vectorsOf(
  answer: EmbeddingAnswer,
  count: number,
  { model, publicModel }: { readonly model: string; readonly publicModel: string },
): Vectors {
  const list = answer instanceof EmbeddingText ? parse(answer) : answer
  const vectors: Embedding['embedding'][] = []
  for (const [position, { index = position, embedding }] of (list.data ?? []).entries()) {
    if (!(Number.isInteger(index) && index >= 0 && index < count) || vectors[index] !== undefined)
      throw broken(`a vector for input ${index} of ${count}`)
    if (typeof embedding !== 'string' && !Array.isArray(embedding)) throw broken('a malformed vector')
    vectors[index] = embedding
  }
  // Not `length`, which does not count missing vectors in the middle.
  if (Object.keys(vectors).length !== count) throw broken('fewer vectors than inputs')
  return {
    vectors,
    usage: readUsage(list.usage, 0),
    model: (model === publicModel ? list.model : undefined) ?? publicModel,
  }
}

/** A vector in the requested encoding. */
export function encoded(
  vector: Embedding['embedding'],
  format: EmbeddingRequest['encoding_format'],
): Embedding['embedding'] {
  if (format === 'base64') return typeof vector === 'string' ? vector : toBase64(vector)
  if (typeof vector !== 'string') return vector
  const numbers = fromBase64(vector)
  if (numbers === undefined) throw broken('a truncated base64 vector')
  return numbers
}

function parse({ pieces }: EmbeddingText): EmbeddingList {
  const text = Buffer.concat(pieces)
  requireBoundedVectors(text)
  return JSON.parse(text.toString('utf8')) as EmbeddingList
}

function broken(what: string) {
  return unreadable(`the provider returned ${what}`)
}
