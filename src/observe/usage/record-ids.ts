import type { UsageRecord, UsageStore } from './contract.ts'

/** How the id of a request begins, see `requestId`. */
const ofRequest = 'req_'

/**
 * The `x-request-id` of a response that repeats the response to an earlier request, or tells of its work: the id of that
 * request's usage record, a dot, and its own id. It leads to the record in any process, and nothing needs to be stored.
 */
export function repeatingId(record: string, own: string): string {
  return record === own ? own : `${record}.${own}`
}

/** The usage record to which an `x-request-id` leads; undefined if there is none. */
export async function findRecord(
  store: Required<Pick<UsageStore, 'find'>>,
  id: string,
): Promise<UsageRecord | undefined> {
  for (const each of recordIdsOf(id)) {
    const record = await store.find(each)
    if (record !== undefined) return record
  }
  return undefined
}

/** The ids of usage records to which an `x-request-id` may lead: its own, or that of the request that it repeats. */
export function recordIdsOf(id: string): readonly string[] {
  const at = id.lastIndexOf(`.${ofRequest}`)
  return at < 0 ? [id] : [id, id.slice(0, at)]
}
