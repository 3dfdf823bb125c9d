/** Ids in paths, and the pages of lists. */
import { invalid, type GatewayError } from '../errors.ts'
import { decodeSegment } from '../http/target.ts'
import { isTaskId } from '../tasks/insert.ts'
import type { Query } from './endpoint.ts'

/** The id of a task in the path. Throws `missing()` for anything that cannot be one. */
export function taskIdIn({ rest }: Pick<Query, 'rest'>, missing: () => GatewayError): string {
  const id = decodeSegment(rest)
  if (id === undefined || !isTaskId(id)) throw missing()
  return id
}

/** The parameter `limit`. Throws a 400 for anything but 1 to `most`. */
export function limitIn(search: URLSearchParams, usual: number, most: number): number {
  const limit = Number(search.get('limit') ?? usual)
  if (!Number.isInteger(limit) || limit < 1 || limit > most) throw invalid(`"limit" must be 1 to ${most}.`, 'limit')
  return limit
}

/** The parameter `order`, by default `desc`. Throws 400. */
export function orderIn(search: URLSearchParams): 'asc' | 'desc' {
  const order = search.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw invalid('"order" must be "asc" or "desc".', 'order')
  return order
}

/** The place of a page: a parameter that names a task. Throws a 400 for anything that cannot be the id of one. */
export function placeIn(search: URLSearchParams, name: string, what: string): string | undefined {
  const id = search.get(name) ?? undefined
  if (id !== undefined && !isTaskId(id)) throw invalid(`"${name}" must be the id of a ${what}.`, name)
  return id
}
