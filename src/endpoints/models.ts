/** `GET /v1/models` and `GET /v1/models/{id}`: what the caller's group may use, nothing else. */
import { GatewayError } from '../errors.ts'
import { jsonReply } from '../http/answers.ts'
import { decodeSegment } from '../http/target.ts'
import type { Model } from '../models/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { QueryEndpoint } from './endpoint.ts'

export const listModels: QueryEndpoint = {
  name: 'models.list',
  async answer({ catalogue, caller, exchange }) {
    const models = await catalogue.list(caller, exchange.signal)
    return jsonReply({ object: 'list', data: models.map((model) => modelObject(model)) })
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

function modelObject(model: Model, id: string = model.id): ModelObject & Record<string, unknown> {
  return {
    id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
  }
}
