/** The model list. Shows only models that the caller's group may use. */
import { GatewayError, invalid } from '../errors.ts'
import { jsonReply } from '../http/answers.ts'
import { decodeSegment, queryOf } from '../http/target.ts'
import type { Model } from '../models/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { QueryEndpoint } from './endpoint.ts'

/** `GET /v1/models`, with optional paging by `limit` and `after`. */
export const listModels: QueryEndpoint = {
  name: 'models.list',
  async answer({ catalogue, caller, exchange }) {
    const models = await catalogue.list(caller, exchange.signal)
    const { page, more } = pageOf(models, queryOf(exchange.target))
    // Without paging parameters, all models in OpenAI's format, which has no paging fields.
    return jsonReply({ object: 'list', data: page.map((model) => modelObject(model)), ...more })
  },
}

/** `GET /v1/models/{id}`. */
export const retrieveModel: QueryEndpoint = {
  name: 'models.retrieve',
  async answer({ catalogue, caller, rest }) {
    // The rest of the path is the id, whether or not slashes in it are percent-encoded.
    const id = decodeSegment(rest)
    if (id === undefined) throw new GatewayError('model_not_found')
    return jsonReply(modelObject(await catalogue.find(id, caller), id))
  },
}

/** At most `limit` models after the one named by `after`. */
function pageOf(models: readonly Model[], query: URLSearchParams): { page: readonly Model[]; more?: object } {
  const [size, after] = [query.get('limit'), query.get('after')]
  if (size === null && after === null) return { page: models }
  const limit = size === null ? Infinity : Number(size)
  if (size !== null && !(/^\d+$/.test(size) && limit > 0)) throw invalid('"limit" must be a positive integer.', 'limit')
  const from = after === null ? 0 : models.findIndex(({ id }) => id === after) + 1
  if (after !== null && from === 0) throw invalid('"after" must be the id of a model in this list.', 'after')
  const page = models.slice(from, from + limit)
  const ends = { first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null }
  return { page, more: { ...ends, has_more: from + page.length < models.length } }
}

function modelObject(model: Model, id: string = model.id): ModelObject & Record<string, unknown> {
  return {
    id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
  }
}
