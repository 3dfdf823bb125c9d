/** The endpoints for stored responses. */
import { invalid } from '../../errors.ts'
import type { InputItem, ResponseObject } from '../../wire/responses.ts'
import type { Reply } from '../../http/exchange.ts'
import { jsonReply } from '../../http/answers.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import { defineEndpoint } from '../define.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { limitIn, orderIn } from '../paging.ts'
import { ResponseArchive, type StoredResponse } from './archive.ts'

/** `GET /v1/responses/{id}`. */
export const retrieveResponse: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/responses/*',
  name: 'responses.retrieve',
  async answer(query) {
    const { response } = await storedResponse(query)
    const { id, exchange, caller, services } = query
    const options = queryOf(exchange.target)
    if (options.get('stream') !== 'true') return jsonReply(response)
    if (response['background'] !== true)
      throw invalid('Only a response with "background" can be streamed again.', 'stream')
    const after = options.get('starting_after') ?? '-1'
    if (!/^-?\d{1,9}$/.test(after)) throw invalid('"starting_after" must be the number of an event.', 'starting_after')
    const { signal } = exchange
    return services.background.follow(caller.account, response as ResponseObject, Number(after), { id, signal })
  },
})

/** `DELETE /v1/responses/{id}`. */
export const deleteResponse: QueryEndpoint = defineEndpoint({
  method: 'DELETE',
  path: '/v1/responses/*',
  name: 'responses.delete',
  async answer(query) {
    const id = idOf(query)
    const { response } = await storedResponse(query)
    if (response['background'] === true) await query.services.background.remove(query.caller.account, id)
    await archiveOf(query).delete(id)
    return jsonReply({ id, object: 'response', deleted: true })
  },
})

/** `POST /v1/responses/{id}/cancel`. Only a response in the background can be cancelled. */
export const cancelResponse: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/responses/*/cancel',
  name: 'responses.cancel',
  async answer(query) {
    const stored = await storedResponse(query)
    if (stored.response['background'] === true)
      return jsonReply((await query.services.background.cancel(query.caller.account, stored)).response)
    throw invalid('Cannot cancel a synchronous response. To stop one, close its connection before it is complete.')
  },
})

/** `GET /v1/responses/{id}/input_items`. */
export const listInputItems: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/responses/*/input_items',
  name: 'responses.input_items',
  async answer(query) {
    return listed((await storedResponse(query)).input, query)
  },
})

/** The page of a list that the query asks for. Throws 400. */
export function listed(all: readonly InputItem[], { exchange }: Pick<Query, 'exchange'>): Reply {
  const options = queryOf(exchange.target)
  const items = orderIn(options) === 'asc' ? all : all.toReversed()
  const limit = limitIn(options, 20, 100)
  const after = options.get('after')
  const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== null && from === 0) throw invalid('"after" must be the id of an item in this list.', 'after')
  return jsonReply(listOf(items.slice(from, from + limit), from + limit < items.length))
}

/** A list as clients get it. */
export function listOf(data: readonly InputItem[], more: boolean): object {
  return { object: 'list', data, first_id: data[0]?.id ?? '', last_id: data.at(-1)?.id ?? '', has_more: more }
}

function archiveOf({ services, caller }: Query): ResponseArchive {
  return new ResponseArchive(services.responses, caller.account)
}

function idOf({ rest }: Query): string {
  return decodeSegment(rest) ?? rest
}

async function storedResponse(query: Query): Promise<StoredResponse> {
  const stored = await archiveOf(query).get(idOf(query))
  return query.services.background.current(query.caller.account, stored)
}
