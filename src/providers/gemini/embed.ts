/** Embeddings, with batchEmbedContents. */
import { readJsonObject } from '../answer.ts'
import type { Call, EmbeddingAnswer } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { countOf, fieldsOf } from '../../wire/json.ts'
import { forceParse } from '../yielding.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { EmbeddingRequest } from '../../wire/embeddings.ts'
import { collectionOf, type Vendor } from './vendor.ts'

export async function embed(vendor: Vendor, call: Call<EmbeddingRequest>): Promise<EmbeddingAnswer> {
  await forceParse(call)
  const { dimensions } = call.request
  const model = decodeURIComponent(collectionOf(call.model))
  const length = typeof dimensions === 'number' ? { outputDimensionality: dimensions } : {}
  const requests = textsIn(call).map((text) => ({ model, content: { parts: [{ text }] }, ...length }))
  const transfer = await vendor.post(call, 'batchEmbedContents', { requests })
  const { value } = await readJsonObject(transfer, vendor.client.answerBytes)
  const { embeddings, usageMetadata } = value as { embeddings?: unknown; usageMetadata?: unknown }
  if (!Array.isArray(embeddings)) throw unreadable("the vendor's response has no vectors")
  const tokens = countOf(fieldsOf(usageMetadata)['promptTokenCount'])
  return {
    data: embeddings.map((each: { values: number[] } | null, index) => ({
      index,
      embedding: each?.values as number[],
    })),
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }
}

function textsIn(call: Call<EmbeddingRequest>): string[] {
  const { input } = call.request
  const texts = typeof input === 'string' ? [input] : [...input]
  if (texts.every((text) => typeof text === 'string')) return texts
  throw unsupportedValue(call, 'input', 'send strings instead of tokens.')
}
