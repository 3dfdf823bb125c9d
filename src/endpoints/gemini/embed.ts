/** `POST /v1beta/models/{model}:embedContent` and `:batchEmbedContents`: embeddings in Google's format. */
import { withOmission } from '../../admission/meter.ts'
import { invalid } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { JsonBody } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { itemsAt, recordAt } from '../../formats/gemini/fields.ts'
import { stringIn } from '../../providers/reading/parts.ts'
import type { EmbeddingRequest } from '../../wire/embeddings.ts'
import type { Fields } from '../../wire/json.ts'
import { EmbeddingText } from '../../providers/contract.ts'
import { embeddings } from '../embeddings/embeddings.ts'
import { encoded, vectorsOf, type Vectors } from '../embeddings/list.ts'
import { maxInputs } from '../embeddings/request.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'

type Answer = EmbeddingText | Vectors

/** One text, and one vector. */
export const embedContent: CallEndpoint<EmbeddingRequest, Answer> = defineEndpoint({
  ...embeddings,
  path: '/v1beta/models:embedContent',
  read: (exchange, sizes) => readEmbed(exchange, sizes, (body) => [body]),
  whole: (answer, { order }) => jsonReply({ embedding: vectorsIn(answer, order)[0] }),
})

/** A list of requests, and a vector for each. */
export const batchEmbedContents: CallEndpoint<EmbeddingRequest, Answer> = defineEndpoint({
  ...embeddings,
  path: '/v1beta/models:batchEmbedContents',
  read: (exchange, sizes) => readEmbed(exchange, sizes, (body) => itemsAt(body['requests'], 'requests')),
  whole: (answer, { order }) => jsonReply({ embeddings: vectorsIn(answer, order) }),
})

async function readEmbed(
  exchange: Exchange,
  sizes: Sizes,
  requestsIn: (body: Fields) => readonly unknown[],
): Promise<Order<EmbeddingRequest>> {
  const body = await readJson(exchange, sizes)
  const requests = requestsIn(recordAt(body.value, 'body'))
  if (requests.length === 0) throw invalid('"requests" must have at least one item.', 'requests')
  if (requests.length > maxInputs) throw invalid(`"requests" may have at most ${maxInputs} items.`, 'requests')
  const items = requests.map((each, index) =>
    readItem(each, requests.length === 1 && !('requests' in body.value) ? '' : `requests[${index}].`),
  )
  const [first] = items
  const dimensions = first?.dimensions
  if (items.some((each) => each.dimensions !== dimensions))
    throw invalid('"outputDimensionality" must be the same in all requests.', 'requests')
  const request = { model: body.get('model'), input: items.map(({ text }) => text), encoding_format: 'float' }
  const made = JsonBody.fromValue(dimensions === undefined ? request : { ...request, dimensions }, sizes)
  const omitted = items.flatMap((each) => each.omitted).reduce<readonly string[]>(withOmission, [])
  return Object.assign(jsonOrder<EmbeddingRequest>(made, false), omitted.length > 0 && { omitted })
}

/** They change the vectors, and only Google's API has them. */
const googles = ['taskType', 'title']

interface Item {
  readonly text: string
  readonly dimensions: number | undefined
  readonly omitted: readonly string[]
}

function readItem(raw: unknown, place: string): Item {
  const given = recordAt(raw, place === '' ? 'body' : place.slice(0, -1))
  const { content, config } = given
  const where = `${place}content`
  const { parts } = typeof content === 'string' ? { parts: [{ text: content }] } : recordAt(content, where)
  const texts = itemsAt(parts, `${where}.parts`).map((part, index) => {
    const at = `${where}.parts[${index}]`
    return stringIn(recordAt(part, at), 'text', at)
  })
  if (texts.length === 0) throw invalid(`"${where}.parts" must have at least one item.`, `${where}.parts`)
  const settings = { ...(config !== undefined && recordAt(config, `${place}config`)), ...given }
  const { outputDimensionality: dimensions } = settings
  if (dimensions !== undefined && !(Number.isSafeInteger(dimensions) && (dimensions as number) > 0))
    throw invalid(`"${place}outputDimensionality" must be a positive integer.`, `${place}outputDimensionality`)
  const omitted = googles.filter((name) => settings[name] !== undefined)
  return { text: texts.join('\n'), dimensions: dimensions as number | undefined, omitted }
}

function vectorsIn(answer: Answer, { model, field }: Order<EmbeddingRequest>): object[] {
  const { length } = field('input') as readonly string[]
  const { vectors } =
    answer instanceof EmbeddingText ? vectorsOf(answer, length, { model, publicModel: model }) : answer
  return vectors.map((vector) => ({ values: encoded(vector, 'float') }))
}
