/** The endpoints for conversations. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { GatewayError, invalid } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { readJson } from '../../http/body.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { decodeSegment } from '../../http/target.ts'
import { bodyDigest } from '../body-digest.ts'
import { check } from '../check.ts'
import { defineEndpoint } from '../define.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { newItemId } from './answer.ts'
import { ResponseArchive } from './archive.ts'
import { Conversations, itemsOf, repeated, type StoredConversation, type Turn } from './conversation.ts'
import { conversationOf } from './history.ts'
import { completed, itemsIn } from './items.ts'
import { listed, listOf } from './stored.ts'
import { lazy } from '../../records/lazy.ts'

const metadata = lazy(() =>
  z
    .record(z.string().max(64), z.string().max(512))
    .refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 pairs'),
)
const items = lazy(() => z.array(z.unknown()).max(20))
const creation = lazy(() => z.looseObject({ metadata: metadata().nullish(), items: items().nullish() }))
const update = lazy(() => z.looseObject({ metadata: metadata() }))
const addition = lazy(() => z.looseObject({ items: items() }))

/** `POST /v1/conversations`. */
export const createConversation: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/conversations',
  name: 'conversations.create',
  limited: 'counts',
  async answer(query) {
    const body = await bodyOf(query, creation())
    const turn = await turnOf(query, body, createConversation)
    const { account } = query.caller
    const key = idempotencyKeyOf(query.exchange)
    const named = createHash('sha256').update(JSON.stringify([account, 'conversations', key]))
    const stored = await conversationsOf(query).create({
      conversation: {
        id: key === undefined ? query.id.replace('req_', 'conv_') : `conv_${named.digest('hex')}`,
        object: 'conversation',
        created_at: Math.floor(Date.now() / 1000),
        metadata: (body.get('metadata') ?? {}) as Readonly<Record<string, string>>,
      },
      turns: [turn],
    })
    repeated(stored, turn)
    return jsonReply(stored.conversation)
  },
})

/** `GET /v1/conversations/{id}`. */
export const retrieveConversation: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/conversations/*',
  name: 'conversations.retrieve',
  answer: async (query) => jsonReply((await conversationsOf(query).get(idsOf(query)[0])).conversation),
})

/** `POST /v1/conversations/{id}`. */
export const updateConversation: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/conversations/*',
  name: 'conversations.update',
  limited: 'counts',
  async answer(query) {
    const given = (await bodyOf(query, update())).get('metadata') as Readonly<Record<string, string>>
    const { conversation } = await conversationsOf(query).change(idsOf(query)[0], (stored) => ({
      ...stored,
      conversation: { ...stored.conversation, metadata: given },
    }))
    return jsonReply(conversation)
  },
})

/** `DELETE /v1/conversations/{id}`. Responses that belonged to it are kept. */
export const deleteConversation: QueryEndpoint = defineEndpoint({
  method: 'DELETE',
  path: '/v1/conversations/*',
  name: 'conversations.delete',
  async answer(query) {
    const [id] = idsOf(query)
    await conversationsOf(query).delete(id)
    return jsonReply({ id, object: 'conversation.deleted', deleted: true })
  },
})

/** `POST /v1/conversations/{id}/items`. */
export const createConversationItems: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/conversations/*/items',
  name: 'conversations.items.create',
  limited: 'counts',
  async answer(query) {
    const turn = await turnOf(query, await bodyOf(query, addition()), createConversationItems)
    let added: Turn | undefined
    await conversationsOf(query).change(idsOf(query)[0], (stored) => {
      added = repeated(stored, turn)
      return added === undefined ? extended(stored, turn, query.sizes.jsonBytes) : stored
    })
    return jsonReply(listOf((added ?? turn).items, false))
  },
})

/** `GET /v1/conversations/{id}/items`. */
export const listConversationItems: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/conversations/*/items',
  name: 'conversations.items.list',
  answer: async (query) => listed(itemsOf(await conversationsOf(query).get(idsOf(query)[0])), query),
})

/** `GET /v1/conversations/{id}/items/{item}`. */
export const retrieveConversationItem: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/conversations/*/items/*',
  name: 'conversations.items.retrieve',
  async answer(query) {
    const [conversation, item] = idsOf(query)
    const found = itemsOf(await conversationsOf(query).get(conversation)).find(({ id }) => id === item)
    if (found === undefined) throw noSuchItem(item, conversation)
    return jsonReply(found)
  },
})

/** `DELETE /v1/conversations/{id}/items/{item}`. */
export const deleteConversationItem: QueryEndpoint = defineEndpoint({
  method: 'DELETE',
  path: '/v1/conversations/*/items/*',
  name: 'conversations.items.delete',
  async answer(query) {
    const [id, item] = idsOf(query)
    const { conversation } = await conversationsOf(query).change(id, (stored) => {
      const turns = stored.turns.map((turn) => ({ ...turn, items: turn.items.filter((each) => each.id !== item) }))
      if (itemsOf({ turns }).length === itemsOf(stored).length) throw noSuchItem(item, id)
      return { ...stored, turns }
    })
    return jsonReply(conversation)
  },
})

function conversationsOf({ services, caller }: Query): Conversations {
  return new Conversations(services.responses, caller.account)
}

async function bodyOf({ exchange, sizes }: Query, schema: z.ZodObject): Promise<JsonBody> {
  const body = await readJson(exchange, sizes)
  check(schema, body)
  return body
}

/** The items of a request, complete and with references resolved. Throws 400 for an invalid one. */
async function turnOf(
  { id, exchange, services, caller, sizes }: Query,
  body: JsonBody,
  endpoint: QueryEndpoint,
): Promise<Turn> {
  const sent = itemsIn(body.get('items'), 'items')
  const archive = new ResponseArchive(services.responses, caller.account)
  const { items: whole } = await conversationOf(sent, [], archive, sizes.jsonBytes, 'items')
  const key = idempotencyKeyOf(exchange)
  const by = key === undefined ? { by: id } : { by: `${endpoint.name} ${key}`, digest: await bodyDigest(body) }
  return { ...by, items: completed(whole, newItemId(id)) }
}

function extended({ conversation, turns }: StoredConversation, turn: Turn, maxBytes: number): StoredConversation {
  const present = new Set(itemsOf({ turns }).map(({ id }) => id))
  for (const [index, { id }] of turn.items.entries()) {
    if (present.has(id)) throw invalid(`Item with id '${id}' is already in the conversation.`, `items[${index}].id`)
  }
  const stored = { conversation, turns: [...turns, turn] }
  if (JSON.stringify(stored).length > maxBytes) throw new GatewayError('context_length_exceeded')
  return stored
}

/** The ids in the path: of the conversation, and of an item. */
function idsOf({ rest }: Query): readonly [conversation: string, item: string] {
  const [conversation = '', item = ''] = rest.split('/items/')
  return [decodeSegment(conversation) ?? conversation, decodeSegment(item) ?? item]
}

function noSuchItem(item: string, conversation: string): GatewayError {
  const message = `Item with id '${item.slice(0, 128)}' not found in conversation '${conversation}'.`
  return new GatewayError('not_found', { message })
}
