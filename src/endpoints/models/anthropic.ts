/** The model list in the format of Anthropic's `GET /v1/models`. */
import type { Model } from '../../models/contract.ts'
import { pageAround } from './paging.ts'

/** A page of models. Anthropic's lists always have the paging fields. */
export function anthropicPage(models: readonly Model[], query: URLSearchParams): object {
  const { page, more } = pageAround(models, query)
  return { data: page.map((model) => anthropicModel(model)), ...more }
}

/** One model. `id`: the name that the client used, if it is an alias. */
export function anthropicModel(model: Model, id: string = model.id): object {
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
