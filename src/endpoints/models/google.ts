/** The model list in the format of Google's `GET /v1beta/models`. */
import { invalid } from '../../errors.ts'
import type { Provider } from '../../providers/contract.ts'
import type { Model } from '../../models/contract.ts'
import { sizeIn } from './paging.ts'

/** A page of models: 50 unless `pageSize` asks for another number, at most 1,000. A token is the name of the last one. */
export function contentPage(models: readonly Model[], query: URLSearchParams): object {
  const size = Math.min(sizeIn(query.get('pageSize') || null, 'pageSize', 50), 1_000)
  const from = positionAfter(models, query.get('pageToken'))
  const page = models.slice(from, from + size)
  const last = page.at(-1)
  const hasMore = from + page.length < models.length
  return { models: page.map((model) => contentModel(model)), ...(hasMore && last && { nextPageToken: last.id }) }
}

function positionAfter(models: readonly Model[], token: string | null): number {
  if (token === null || token === '') return 0
  const index = models.findIndex(({ id }) => id === token)
  if (index < 0) throw invalid('"pageToken" must be one of this list.', 'pageToken')
  return index + 1
}

/** One model. `id`: the name that the client used, if it is an alias. */
export function contentModel(model: Model, id: string = model.id): object {
  return {
    name: `models/${id}`,
    version: '001',
    displayName: model.displayName ?? id,
    ...(model.contextWindow !== undefined && { inputTokenLimit: model.contextWindow }),
    ...(model.maxOutputTokens !== undefined && { outputTokenLimit: model.maxOutputTokens }),
    supportedGenerationMethods: methodsOf(model),
  }
}

/** What any of its deployments serves. */
function methodsOf({ deployments }: Model): string[] {
  const methods: string[] = []
  const providers = deployments.map(({ provider }) => provider)
  if (providers.some((each) => speaks(each))) methods.push('generateContent', 'streamGenerateContent', 'countTokens')
  if (providers.some((each) => each.embed !== undefined)) methods.push('embedContent', 'batchEmbedContents')
  return methods
}

const answering = ['chat', 'message', 'respond', 'generateContent', 'generate'] as const

function speaks(provider: Provider): boolean {
  return answering.some((name) => provider[name] !== undefined)
}
