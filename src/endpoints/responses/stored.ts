/** What can be done with a response that was kept: `/v1/responses/{id}` and what is below it. */
import { invalid } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { Shelf, type Kept } from './keep.ts'
import { readResponse } from './request.ts'

export const retrieveResponse: QueryEndpoint = {
  name: 'responses.retrieve',
  async answer(query) {
    return jsonReply((await keptFor(query)).response)
  },
}

export const deleteResponse: QueryEndpoint = {
  name: 'responses.delete',
  async answer(query) {
    const id = idOf(query)
    await shelfOf(query).delete(id)
    return jsonReply({ id, object: 'response', deleted: true })
  },
}

export const cancelResponse: QueryEndpoint = {
  name: 'responses.cancel',
  async answer(query) {
    await keptFor(query)
    throw invalid('Cannot cancel a synchronous response. Close its connection while it is being made.')
  },
}

export const listInputItems: QueryEndpoint = {
  name: 'responses.input_items',
  async answer(query) {
    const { input } = await keptFor(query)
    const options = queryOf(query.exchange.target)
    const order = options.get('order') ?? 'desc'
    if (order !== 'asc' && order !== 'desc') throw invalid('"order" must be "asc" or "desc".', 'order')
    const limit = Number(options.get('limit') ?? 20)
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalid('"limit" must be from 1 to 100.', 'limit')
    const items = order === 'asc' ? input : input.toReversed()
    const after = options.get('after')
    const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
    if (after !== null && from === 0) throw invalid('"after" must be the id of an item of this list.', 'after')
    const data = items.slice(from, from + limit)
    const ends = { first_id: data[0]?.id ?? '', last_id: data.at(-1)?.id ?? '' }
    return jsonReply({ object: 'list', data, ...ends, has_more: from + limit < items.length })
  },
}

/** An estimate: about four bytes a token, as for every answer that no vendor has counted. */
export const countInputTokens: QueryEndpoint = {
  name: 'responses.input_tokens',
  async answer({ exchange, sizes, caller, parts, catalogue }) {
    const order = await readResponse(exchange, sizes, { caller, parts, now: Date.now })
    await catalogue.find(order.model, caller)
    return jsonReply({ object: 'response.input_tokens', input_tokens: order.promptTokens })
  },
}

function shelfOf({ parts, caller }: Query): Shelf {
  return new Shelf(parts.responses, caller.account)
}

function idOf({ rest }: Query): string {
  return decodeSegment(rest) ?? rest
}

function keptFor(query: Query): Promise<Kept> {
  return shelfOf(query).get(idOf(query))
}
