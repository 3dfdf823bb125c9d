/** `GET /v1/models` and `GET /v1/models/{id}`: what the caller's group may use, nothing else. */
import { GatewayError, invalid } from '../errors.ts'
import { jsonReply } from '../http/answers.ts'
import { decodeSegment, queryOf } from '../http/target.ts'
import type { Model } from '../models/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { QueryEndpoint } from './endpoint.ts'

export const listModels: QueryEndpoint = {
  name: 'models.list',
  async answer({ catalogue, caller, exchange }) {
    const models = await catalogue.list(caller, exchange.signal)
    const { page, more } = pageOf(models, queryOf(exchange.target))
    // Whoever asks for no page gets all there is, in the form that OpenAI's list has.
    return jsonReply({ object: 'list', data: page.map((model) => modelObject(model)), ...more })
  },
}

export const retrieveModel: QueryEndpoint = {
  name: 'models.retrieve',
  async answer({ catalogue, caller, rest }) {
    // Clients encode the slashes in an id, people type them raw: the rest of the path is the id either way.
    const id = decodeSegment(rest)
    if (id === undefined) throw new GatewayError('model_not_found')
    return jsonReply(modelObject(await catalogue.find(id, caller), id))
  },
}

/** The models behind `after`, at most `limit` of them. */
function pageOf(models: readonly Model[], query: URLSearchParams): { page: readonly Model[]; more?: object } {
  const [asked, after] = [query.get('limit'), query.get('after')]
  if (asked === null && after === null) return { page: models }
  const limit = asked === null ? Infinity : Number(asked)
  if (asked !== null && !(/^\d+$/.test(asked) && limit > 0)) {
    throw invalid('"limit" must be a whole number above 0.', 'limit')
  }
  const from = after === null ? 0 : models.findIndex(({ id }) => id === after) + 1
  if (after !== null && from === 0) throw invalid('"after" must be the id of a model of this list.', 'after')
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
