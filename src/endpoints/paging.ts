/** Ids in paths, and the pages of lists. */
import { invalid, type GatewayError } from '../errors.ts'
import { decodeSegment } from '../http/target.ts'
import type { TaskListOptions } from '../tasks/contract.ts'
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

/** What of a list a page has, and whether there is more. */
export interface Page<Item> {
  readonly page: Item[]
  readonly hasMore: boolean
}

/** Records that are read at a time to fill a page, where the first ones are not shown. */
const leastAtOnce = 100

/** A page of a list. It is full even if records between are not shown: clients take an empty one for the end of the list. */
export async function pageOf<Item extends { readonly id: string }>(
  list: (options: Omit<TaskListOptions, 'now'>) => Promise<readonly Item[]>,
  { limit, order, after }: Pick<TaskListOptions, 'limit' | 'order'> & { readonly after: string | undefined },
  isShown: (item: Item) => boolean = () => true,
): Promise<Page<Item>> {
  const shown: Item[] = []
  let [size, place] = [limit + 1, after]
  for (;;) {
    const found = await list({ limit: size, order, ...(place && { after: place }) })
    for (const each of found) if (isShown(each)) shown.push(each)
    if (found.length < size || shown.length > limit)
      return { page: shown.slice(0, limit), hasMore: shown.length > limit }
    place = found.at(-1)?.id
    size = Math.max(size, leastAtOnce)
  }
}
