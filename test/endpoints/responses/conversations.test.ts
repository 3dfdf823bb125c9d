/** Conversations: their endpoints, and responses that continue and extend them. */
import { memoryIdempotencyStore, memoryResponseStore, type ResponseStore } from 'modelhatch'
import { describe, expect, test } from 'vitest'
import { fresh } from '../../../src/testing/kit.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { finish, text } from '../../chat-chunks.ts'
import { everyBundle } from '../../every-bundle.ts'
import { faults } from '../../openapi.ts'
import { hasShared } from '../../shared.ts'
import { ask, errorOf, type Answered } from '../ask.ts'
import { requireGood } from './rules.ts'
import { scripted } from './scripted.ts'

const keys = { 'sk-test': { account: 'ada' }, 'sk-second': { account: 'ada' }, 'sk-other': { account: 'bob' } }

interface Item {
  readonly id: string
  readonly role?: string
  readonly content: readonly { readonly text: string }[]
}

interface List {
  readonly data: readonly Item[]
  readonly first_id: string
  readonly last_id: string
  readonly has_more: boolean
}

/** A model that says which user messages it has got. */
async function world(options: object = {}) {
  const hosted = await scripted(
    ({ request }) => {
      const said = request.messages.filter(({ role }) => role === 'user').map(({ content }) => content as string)
      return (async function* () {
        yield text(`re ${said.join('+')}`)
        yield finish('stop', usageOf(1, 1))
      })()
    },
    { keys, ...options },
  )
  const { url } = hosted
  const begin = async (body: object = {}, key?: string) =>
    (await ask(url, 'POST', '/conversations', body, key)).json as { readonly id: string }
  const list = async (id: string, query = '?order=asc&limit=100') =>
    (await ask(url, 'GET', `/conversations/${id}/items${query}`)).json as List
  const texts = async (id: string) => (await list(id)).data.map(({ content }) => content[0]?.text)
  return { ...hosted, begin, list, texts }
}

const message = (content: string) => ({ role: 'user', content })

function valid(schema: string, { status, json }: Answered): void {
  expect(status).toBe(200)
  if (hasShared) expect(faults(schema, json)).toEqual([])
}

describe('a conversation', () => {
  test('is created, read, changed and deleted with every key of the account', async () => {
    const { url } = await world()
    const made = await ask(url, 'POST', '/conversations', { metadata: { topic: 'a' }, items: [message('one')] })
    valid('ConversationResource', made)
    const { id } = made.json as { id: string }
    expect(made.json).toMatchObject({ object: 'conversation', metadata: { topic: 'a' } })
    expect((await ask(url, 'GET', `/conversations/${id}`, undefined, 'sk-second')).json).toEqual(made.json)
    const changed = await ask(url, 'POST', `/conversations/${id}`, { metadata: { topic: 'b' } })
    valid('ConversationResource', changed)
    expect((await ask(url, 'GET', `/conversations/${id}`)).json).toEqual({
      ...(made.json as object),
      metadata: { topic: 'b' },
    })
    const gone = await ask(url, 'DELETE', `/conversations/${id}`)
    valid('DeletedConversationResource', gone)
    expect(gone.json).toEqual({ id, object: 'conversation.deleted', deleted: true })
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '', { metadata: {} }],
      ['GET', '/items'],
      ['POST', '/items', { items: [] }],
    ] as const)
      expect((await ask(url, method, `/conversations/${id}${path}`, body)).status).toBe(404)
  })

  test('has items that are added, listed in pages, read and deleted', async () => {
    const { url, begin, list } = await world()
    const { id } = await begin({ items: [message('one')] })
    const added = await ask(url, 'POST', `/conversations/${id}/items`, {
      items: [
        message('two'),
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'done' },
        { role: 'assistant', content: 'three' },
      ],
    })
    valid('ConversationItemList', added)
    const all = await ask(url, 'GET', `/conversations/${id}/items?order=asc`)
    valid('ConversationItemList', all)
    const { data } = all.json as List
    expect(data.slice(1)).toEqual((added.json as List).data)
    expect(data.map(({ id: item }) => item.split('_')[0])).toEqual(['msg', 'msg', 'fc', 'fco', 'msg'])
    const newest = await list(id, '?limit=2')
    expect(newest).toMatchObject({ data: [data[4], data[3]], has_more: true, last_id: data[3]?.id })
    expect((await list(id, `?after=${newest.last_id}`)).data).toEqual([data[2], data[1], data[0]])
    const place = `/conversations/${id}/items/${data[2]?.id}`
    valid('ConversationItem', await ask(url, 'GET', place))
    valid('ConversationResource', await ask(url, 'DELETE', place))
    expect((await list(id)).data).toEqual(data.filter((_, index) => index !== 2))
    expect((await ask(url, 'GET', place)).status).toBe(404)
    expect((await ask(url, 'DELETE', place)).status).toBe(404)
  })

  test('of another account does not exist: the errors are identical', async () => {
    const { url, begin, list, create } = await world()
    const { id } = await begin({ items: [message('one')] })
    const item = (await list(id)).data[0]?.id as string
    const unknown = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const requests = [
      (of: string) => ask(url, 'GET', `/conversations/${of}`, undefined, 'sk-other'),
      (of: string) => ask(url, 'POST', `/conversations/${of}`, { metadata: {} }, 'sk-other'),
      (of: string) => ask(url, 'DELETE', `/conversations/${of}`, undefined, 'sk-other'),
      (of: string) => ask(url, 'GET', `/conversations/${of}/items`, undefined, 'sk-other'),
      (of: string) => ask(url, 'POST', `/conversations/${of}/items`, { items: [message('x')] }, 'sk-other'),
      (of: string) => ask(url, 'GET', `/conversations/${of}/items/${item}`, undefined, 'sk-other'),
      (of: string) => ask(url, 'DELETE', `/conversations/${of}/items/${item}`, undefined, 'sk-other'),
      (of: string) => create({ input: 'x', conversation: of }, 'sk-other'),
    ]
    for (const request of requests) {
      const [foreign, absent] = [await request(id), await request(unknown)]
      expect([foreign.status, foreign.text]).toEqual([404, absent.text.replaceAll(unknown, id)])
      expect(absent.status).toBe(404)
    }
    expect((await ask(url, 'GET', `/conversations/${id}`)).status).toBe(200)
  })

  test('is no response, and a response is no conversation', async () => {
    const { url, begin, whole, create } = await world()
    const { id } = await begin()
    const response = await whole()
    expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(404)
    expect((await ask(url, 'DELETE', `/responses/${id}`)).status).toBe(404)
    expect((await create({ input: 'x', previous_response_id: id })).status).toBe(400)
    expect((await ask(url, 'GET', `/conversations/${response.id}`)).status).toBe(404)
    expect((await ask(url, 'DELETE', `/conversations/${response.id}`)).status).toBe(404)
  })

  test.each([
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }],
    ['metadata.k', { metadata: { k: 'x'.repeat(513) } }],
    ['metadata', { metadata: 'x' }],
    ['items', { items: Array.from({ length: 21 }, () => message('x')) }],
    ['items[0].role', { items: [{ type: 'message', content: 'x' }] }],
    ['items[0]', { items: ['x'] }],
    ['items[0].id', { items: [{ type: 'item_reference', id: 'msg_unknown' }] }],
  ])('with wrong %s is refused', async (param, body) => {
    const { url } = await world()
    const refusal = await ask(url, 'POST', '/conversations', body)
    expect([refusal.status, errorOf(refusal).param]).toEqual([400, param])
  })

  test('refuses items that it has, and more than a request may have', async () => {
    const { url, begin, list } = await world({ sizes: { jsonBytes: 3_000 } })
    const { id } = await begin({ items: [message('one')] })
    const [item] = (await list(id)).data
    const again = await ask(url, 'POST', `/conversations/${id}/items`, { items: [item] })
    expect([again.status, errorOf(again).param]).toEqual([400, 'items[0].id'])
    const add = () => ask(url, 'POST', `/conversations/${id}/items`, { items: [message('x'.repeat(2_000))] })
    expect((await add()).status).toBe(200)
    expect(errorOf(await add()).code).toBe('context_length_exceeded')
  })

  test('is created once, and its items are added once, with an Idempotency-Key', async () => {
    const { url, texts } = await world()
    const send = async (path: string, body: object, key: string) => {
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': key }
      const response = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: response.status, json: (await response.json()) as { id: string } }
    }
    const [first, ...rest] = await Promise.all(
      Array.from({ length: 5 }, () => send('/conversations', { items: [message('one')] }, 'k')),
    )
    for (const each of rest) expect(each).toEqual(first)
    expect((await send('/conversations', {}, 'k')).status).toBe(409)
    const id = String(first?.json.id)
    const items = { items: [message('two')] }
    const added = await Promise.all(Array.from({ length: 5 }, () => send(`/conversations/${id}/items`, items, 'k')))
    for (const { status } of added) expect(status).toBe(200)
    expect((await send(`/conversations/${id}/items`, { items: [] }, 'k')).status).toBe(409)
    expect(await texts(id)).toEqual(['one', 'two'])
  })

  test('draws on the rate of requests that are free', async () => {
    const { url } = await world({ limits: { tokenCounts: '2/min' } })
    const statuses = []
    for (let made = 0; made < 3; made++) statuses.push((await ask(url, 'POST', '/conversations', {})).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('a response in a conversation', () => {
  test.each([false, true])('follows its items, and adds input and output; streamed: %s', async (streamed) => {
    const { url, begin, whole, stream, asked, texts } = await world()
    const { id } = await begin({ items: [message('one'), { role: 'assistant', content: 'ok' }] })
    const make = async (body: object) => (streamed ? requireGood(await stream(body)) : whole(body))
    const first = await make({ input: 'two', conversation: id })
    expect(first).toMatchObject({ conversation: { id }, previous_response_id: null })
    expect((await ask(url, 'GET', `/responses/${first.id}`)).json).toEqual(first)
    await make({ input: [message('three')], conversation: { id }, store: false })
    expect(asked.at(-1)?.messages.map(({ content }) => content)).toEqual(['one', 'ok', 'two', 're one+two', 'three'])
    expect(await texts(id)).toEqual(['one', 'ok', 'two', 're one+two', 'three', 're one+two+three'])
    const last = await make({ input: undefined, conversation: id })
    expect(last.output[0]).toMatchObject({ content: [{ text: 're one+two+three' }] })
  })

  test('that is made again with its Idempotency-Key, because its answer was lost, takes the place of the first', async () => {
    const idempotency = memoryIdempotencyStore()
    const { url, begin, asked, texts } = await world({ storage: { idempotency } })
    const { id } = await begin()
    const send = async () => {
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'k' }
      const body = JSON.stringify({ model: 'm', input: 'one', conversation: id })
      const response = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
      return (await response.json()) as { id: string; output: { id: string }[] }
    }
    const first = await send()
    await idempotency.deleteAll?.('ada')
    const second = await send()
    expect(second.id).not.toBe(first.id)
    expect(asked.map(({ messages }) => messages.map(({ content }) => content))).toEqual([['one'], ['one']])
    expect(await texts(id)).toEqual(['one', 're one'])
    expect((await ask(url, 'GET', `/conversations/${id}/items/${second.output[0]?.id}`)).status).toBe(200)
  })

  test('cannot continue another response too', async () => {
    const { whole, begin, create } = await world()
    const refusal = await create({
      input: 'x',
      conversation: (await begin()).id,
      previous_response_id: (await whole()).id,
    })
    expect([refusal.status, errorOf(refusal)]).toEqual([
      400,
      {
        message:
          "Mutually exclusive parameters: 'previous_response_id', 'conversation'. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
        type: 'invalid_request_error',
        param: null,
        code: 'mutually_exclusive_parameters',
      },
    ])
  })

  test.each([5, { id: 5 }, {}])('is refused with the conversation %j', async (conversation) => {
    const { create } = await world()
    const refusal = await create({ input: 'x', conversation })
    expect([refusal.status, errorOf(refusal).param]).toEqual([400, expect.stringMatching(/^conversation/)])
  })

  test('adds nothing if it fails', async () => {
    const { begin, create, texts } = await scriptedFailure()
    const { id } = await begin({ items: [message('one')] })
    expect((await create({ input: 'two', conversation: id })).status).toBe(500)
    expect(await texts(id)).toEqual(['one'])
  })

  test('is kept although its conversation is deleted meanwhile', async () => {
    const store = memoryResponseStore()
    let remove: (() => Promise<unknown>) | undefined
    const replace: ResponseStore['replace'] = async (record) => {
      await remove?.()
      return store.replace(record)
    }
    const { url, begin, whole } = await world({ storage: { responses: { ...store, replace } } })
    const { id } = await begin()
    remove = () => ask(url, 'DELETE', `/conversations/${id}`)
    const response = await whole({ input: 'two', conversation: id })
    expect(response.store).toBe(true)
    expect((await ask(url, 'GET', `/responses/${response.id}`)).status).toBe(200)
    expect((await ask(url, 'GET', `/conversations/${id}`)).status).toBe(404)
  })

  test('counts the whole conversation in input_tokens, and none is compacted', async () => {
    const { url, begin, create } = await world()
    const { id } = await begin({ items: [message('word '.repeat(400))] })
    const counted = await ask(url, 'POST', '/responses/input_tokens', { model: 'm', input: 'x', conversation: id })
    expect((counted.json as { input_tokens: number }).input_tokens).toBeGreaterThan(400)
    const compacted = await ask(url, 'POST', '/responses/compact', { model: 'm', input: 'x', conversation: id })
    expect([compacted.status, errorOf(compacted).param]).toEqual([400, 'conversation'])
    expect(errorOf(await create({ input: 'x', prompt: { id: 'pmpt_1' } })).param).toBe('prompt')
  })
})

async function scriptedFailure() {
  return world({
    models: {
      m: {
        provider: {
          name: 'down',
          chat: async () => {
            throw new Error('down')
          },
        },
      },
    },
  })
}

describe.each(everyBundle())('sharing %s', (_, there, open) => {
  test.skipIf(!there)('calls that race at two gateways each add once', async () => {
    const account = fresh('ada')
    const one = await world({ keys: { 'sk-test': { account } }, storage: await open() })
    const two = await world({ keys: { 'sk-test': { account } }, storage: await open() })
    const { id } = await one.begin()
    const calls = Array.from({ length: 12 }, (_each, index) =>
      (index % 2 === 0 ? one : two).whole({ input: `call ${index}`, conversation: id }),
    )
    const responses = await Promise.all(calls)
    const { data } = await two.list(id)
    expect(data).toHaveLength(24)
    for (const [index, response] of responses.entries()) {
      const at = data.findIndex(({ id: item }) => item === response.output[0]?.id)
      expect(data[at - 1]?.content[0]?.text).toBe(`call ${index}`)
    }
    expect((await ask(one.url, 'DELETE', `/conversations/${id}`)).status).toBe(200)
    expect((await ask(two.url, 'GET', `/conversations/${id}`)).status).toBe(404)
  })
})
