import { readUsage, sumOfUsages } from '../../wire/counts.ts'
import { refusedValue } from '../../errors.ts'
import { jsonReply, piecesReply } from '../../http/answers.ts'
import { EmbeddingText, type Call, type EmbeddingAnswer, type Provider } from '../../providers/contract.ts'
import { billed } from '../../providers/failure.ts'
import type { EmbeddingRequest } from '../../wire/embeddings.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Context } from '../endpoint.ts'
import { amend, overlaid } from '../order.ts'
import { readVendor } from '../read-vendor.ts'
import { mapConcurrently } from '../concurrency.ts'
import { encoded, vectorsOf, type Vectors } from './list.ts'
import { inputsOf, readEmbedding } from './request.ts'

const maxConcurrentBatches = 4

type EmbeddingResult = EmbeddingText | Vectors
type Embed = NonNullable<Provider['embed']>

/** `POST /v1/embeddings`. */
export const embeddings: CallEndpoint<EmbeddingRequest, EmbeddingResult> = defineEndpoint({
  method: 'POST',
  path: '/v1/embeddings',
  name: 'embeddings',
  makes: 'vectors',
  read: readEmbedding,
  texts: ['input'],
  ask,
  whole(answer, { order }) {
    if (answer instanceof EmbeddingText) return piecesReply(answer.pieces)
    const { vectors, usage, model } = answer
    const format = order.field('encoding_format') as EmbeddingRequest['encoding_format']
    const tokens = usage?.prompt_tokens ?? order.promptTokens
    return jsonReply({
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, format) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: usage?.total_tokens ?? tokens },
    })
  },
})

async function ask(
  provider: Provider,
  call: Call<EmbeddingRequest>,
  { meter }: Context<EmbeddingRequest>,
): Promise<EmbeddingResult> {
  const { embeddingBatch = Infinity } = provider
  const embed = provider.embed?.bind(provider)
  if (embed === undefined) {
    throw refusedValue('This model does not support embeddings.', 'model')
  }
  const inputs = inputsOf(call.field('input') as EmbeddingRequest['input'])
  const tooMany = inputs.length > embeddingBatch
  const answer = tooMany ? await inBatches(embed, embeddingBatch, call, inputs) : await inOne(embed, call, inputs)
  meter.usage = answer.usage
  return answer
}

async function inOne(embed: Embed, call: Call<EmbeddingRequest>, inputs: readonly unknown[]): Promise<EmbeddingResult> {
  const answer = await embed(call)
  return answer instanceof EmbeddingText ? answer : read(answer, inputs.length, call)
}

function read(answer: EmbeddingAnswer, count: number, call: Call<EmbeddingRequest>): Vectors {
  return readVendor(
    () => vectorsOf(answer, count, call),
    () => readUsage(answer.usage, 0),
  )
}

function partOf(call: Call<EmbeddingRequest>, input: readonly unknown[], share: number, signal: AbortSignal) {
  return overlaid(amend(call, { input }, signal), { sent: () => call.sent?.(share), costs: undefined })
}

/** For more inputs than the provider accepts in one call: several calls, whose vectors keep the order of the inputs. */
async function inBatches(
  embed: Embed,
  size: number,
  call: Call<EmbeddingRequest>,
  inputs: readonly unknown[],
): Promise<Vectors> {
  const batches = Array.from({ length: Math.ceil(inputs.length / size) }, (_, index) =>
    inputs.slice(index * size, (index + 1) * size),
  )
  const made: Vectors[] = []
  const usages = () => made.flatMap(({ usage }) => usage ?? [])
  try {
    const parts = await mapConcurrently(batches, maxConcurrentBatches, call.signal, async (input, _, signal) => {
      const answer = await embed(partOf(call, input, input.length / inputs.length, signal))
      const part = read(answer, input.length, call)
      made.push(part)
      return part
    })
    const usage = usages().length === parts.length ? sumOfUsages(usages()) : undefined
    return { vectors: parts.flatMap(({ vectors }) => vectors), usage, model: parts[0]?.model ?? call.publicModel }
  } catch (error) {
    throw billed(error, sumOfUsages(usages()))
  }
}
