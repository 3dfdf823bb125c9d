/** Paging of the model list by the parameters `limit`, `after`, `after_id` and `before_id`. */
import { invalid } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'

/** A page of the list. */
export interface ModelPage {
  readonly page: readonly Model[]
  /** The paging fields of the response. Absent if the client did not ask for pages. */
  readonly more?: {
    readonly first_id: string | null
    readonly last_id: string | null
    readonly has_more: boolean
  }
}

/** At most `limit` models after the one named by `after`; all of them without these parameters. */
export function pageAfter(models: readonly Model[], query: URLSearchParams): ModelPage {
  const [size, after] = [query.get('limit'), query.get('after')]
  if (size === null && after === null) return { page: models }
  const from = positionOf(models, after, 'after') + 1
  const page = models.slice(from, from + sizeIn(size, 'limit', Infinity))
  return { page, more: endsOf(page, from + page.length < models.length) }
}

/** Anthropic's paging: 20 models unless `limit` asks for another number, at most 1,000, after or before a model. */
export function pageAround(models: readonly Model[], query: URLSearchParams): Required<ModelPage> {
  const size = Math.min(sizeIn(query.get('limit'), 'limit', 20), 1_000)
  const before = query.get('before_id')
  if (before !== null) {
    const end = positionOf(models, before, 'before_id')
    const page = models.slice(Math.max(0, end - size), end)
    return { page, more: endsOf(page, end > size) }
  }
  const from = positionOf(models, query.get('after_id'), 'after_id') + 1
  const page = models.slice(from, from + size)
  return { page, more: endsOf(page, from + page.length < models.length) }
}

/** A parameter that is a number of models. Throws a 400 for anything but a positive integer. */
export function sizeIn(given: string | null, name: string, otherwise: number): number {
  if (given === null) return otherwise
  if (/^\d+$/.test(given) && Number(given) > 0) return Number(given)
  throw invalid(`"${name}" must be a positive integer.`, name)
}

/** The index of a model; -1 if none is named. */
function positionOf(models: readonly Model[], id: string | null, name: string): number {
  if (id === null) return -1
  const index = models.findIndex((model) => model.id === id)
  if (index < 0) throw invalid(`"${name}" must be the id of a model in this list.`, name)
  return index
}

function endsOf(page: readonly Model[], more: boolean): Required<ModelPage>['more'] {
  return { first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null, has_more: more }
}
