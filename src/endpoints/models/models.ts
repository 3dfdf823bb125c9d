/** The model list, in the format that the client reads: OpenAI's, Anthropic's, Codex's or Google's. Shows only models that the caller may use. */
import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { hasGoogleKey } from '../../http/google-error.ts'
import { header, type Exchange } from '../../http/exchange.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import type { Model } from '../../models/contract.ts'
import type { ModelObject } from '../../wire/model.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { contentModel, contentPage } from './google.ts'
import { codexModel } from './codex.ts'
import { pageAfter, pageAround } from './paging.ts'

/**
 * `GET /v1/models`. With the header `anthropic-version`, in Anthropic's format; with `x-goog-api-key`, in Google's; with `client_version` in the query, in
 * OpenAI's format and with the field `models` of Codex.
 */
export const listModels: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/models',
  name: 'models.list',
  async answer({ catalogue, caller, exchange, services }) {
    const models = await catalogue.list(caller, exchange.signal)
    const query = queryOf(exchange.target)
    if (hasGoogleKey(exchange)) return jsonReply(contentPage(models, query))
    if (isAnthropic(exchange)) return jsonReply(anthropicPage(models, query))
    const { page, more } = pageAfter(models, query)
    const codex = query.has('client_version') && { models: page.map((model, index) => codexModel(model, index)) }
    // Without paging parameters, all models in OpenAI's format, which has no paging fields.
    return jsonReply({
      object: 'list',
      data: page.map((model) => modelObject(model, services.shownPrice?.(model, caller))),
      ...more,
      ...codex,
    })
  },
})

/** `GET /v1/models/{id}`, in OpenAI's, Anthropic's or Google's format. */
export const retrieveModel: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/models/*',
  name: 'models.retrieve',
  async answer({ catalogue, caller, exchange, rest, services }) {
    // The rest of the path is the id, whether or not slashes in it are percent-encoded.
    const id = decodeSegment(rest)
    if (id === undefined) throw new GatewayError('model_not_found')
    const model = await catalogue.find(id, caller)
    if (hasGoogleKey(exchange)) return jsonReply(contentModel(model, id))
    return jsonReply(
      isAnthropic(exchange) ? anthropicModel(model, id) : modelObject(model, services.shownPrice?.(model, caller), id),
    )
  },
})

/** `GET /v1beta/models`, in Google's format. */
export const listContentModels: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1beta/models',
  name: 'models.list',
  async answer({ catalogue, caller, exchange }) {
    const models = await catalogue.list(caller, exchange.signal)
    return jsonReply(contentPage(models, queryOf(exchange.target)))
  },
})

/** `GET /v1beta/models/{id}`, in Google's format. */
export const retrieveContentModel: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1beta/models/*',
  name: 'models.retrieve',
  async answer({ catalogue, caller, rest }) {
    const id = decodeSegment(rest)
    if (id === undefined) throw new GatewayError('model_not_found')
    return jsonReply(contentModel(await catalogue.find(id, caller), id))
  },
})

/** All clients of Anthropic's API send this header with every request. */
function isAnthropic(exchange: Exchange): boolean {
  return header(exchange, 'anthropic-version') !== undefined
}

function modelObject(
  model: Model,
  price: object | undefined,
  id: string = model.id,
): ModelObject & Record<string, unknown> {
  return {
    id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
    ...(price && { price }),
  }
}

/** A page of models. Anthropic's lists always have the paging fields. */
function anthropicPage(models: readonly Model[], query: URLSearchParams): object {
  const { page, more } = pageAround(models, query)
  return { data: page.map((model) => anthropicModel(model)), ...more }
}

/** One model. `id`: the name that the client used, if it is an alias. */
function anthropicModel(model: Model, id: string = model.id): object {
  return {
    type: 'model',
    id,
    display_name: model.displayName ?? id,
    created_at: new Date(model.created * 1000).toISOString(),
    max_input_tokens: model.contextWindow ?? null,
    max_tokens: model.maxOutputTokens ?? null,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  }
}
