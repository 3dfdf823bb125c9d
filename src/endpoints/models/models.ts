/** The model list, in the format that the client reads: OpenAI's, Anthropic's or Codex's. Shows only models that the caller may use. */
import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { header, type Exchange } from '../../http/exchange.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import type { Model } from '../../models/contract.ts'
import type { ModelObject } from '../../wire/model.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { anthropicModel, anthropicPage } from './anthropic.ts'
import { codexModel } from './codex.ts'
import { pageAfter } from './paging.ts'

/**
 * `GET /v1/models`. With the header `anthropic-version`, in Anthropic's format; with `client_version` in the query, in
 * OpenAI's format and with the field `models` of Codex.
 */
export const listModels: QueryEndpoint = {
  name: 'models.list',
  async answer({ catalogue, caller, exchange }) {
    const models = await catalogue.list(caller, exchange.signal)
    const query = queryOf(exchange.target)
    if (isAnthropic(exchange)) return jsonReply(anthropicPage(models, query))
    const { page, more } = pageAfter(models, query)
    const codex = query.has('client_version') && { models: page.map((model, index) => codexModel(model, index)) }
    // Without paging parameters, all models in OpenAI's format, which has no paging fields.
    return jsonReply({ object: 'list', data: page.map((model) => modelObject(model)), ...more, ...codex })
  },
}

/** `GET /v1/models/{id}`, in OpenAI's or Anthropic's format. */
export const retrieveModel: QueryEndpoint = {
  name: 'models.retrieve',
  async answer({ catalogue, caller, exchange, rest }) {
    // The rest of the path is the id, whether or not slashes in it are percent-encoded.
    const id = decodeSegment(rest)
    if (id === undefined) throw new GatewayError('model_not_found')
    const model = await catalogue.find(id, caller)
    return jsonReply(isAnthropic(exchange) ? anthropicModel(model, id) : modelObject(model, id))
  },
}

/** All clients of Anthropic's API send this header with every request. */
function isAnthropic(exchange: Exchange): boolean {
  return header(exchange, 'anthropic-version') !== undefined
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
