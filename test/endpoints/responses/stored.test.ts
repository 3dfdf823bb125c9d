/** Stored responses: retrieving, listing, continuing and deleting them, and separation of accounts. */
import { finish, text, toolCall } from '../../chat-chunks.ts'
import { memoryResponseStore, type ResponseStore } from 'modelhatch'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, test } from 'vitest'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { textOf } from '../../../src/wire/json.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { faults } from '../../openapi.ts'
import { hasShared } from '../../shared.ts'
import { ask, errorOf } from '../ask.ts'
import { requireGood } from './rules.ts'
import { scripted } from './scripted.ts'

const keys = { 'sk-test': { account: 'ada' }, 'sk-second': { account: 'ada' }, 'sk-other': { account: 'bob' } }
const answer = [text('Hello'), finish('stop', usageOf(1, 1))]
const gateway = (options: object = {}) => scripted(answer, { keys, ...options })

describe('a stored response', () => {
  test('is retrieved as it was sent, streamed or not, with every key of the account', async () => {
    const { url, whole, stream } = await gateway()
    for (const response of [await whole(), requireGood(await stream())]) {
      for (const key of ['sk-test', 'sk-second']) {
        expect(await ask(url, 'GET', `/responses/${response.id}`, undefined, key)).toMatchObject({
          status: 200,
          json: response,
        })
      }
    }
  })

  test('can be retrieved as soon as its last event was sent', async () => {
    const slow = memoryResponseStore()
    const put = async (...input: Parameters<ResponseStore['put']>) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      await slow.put(...input)
    }
    const { url, stream } = await gateway({ storage: { responses: { ...slow, put } } })
    const { id } = requireGood(await stream())
    expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(200)
  })

  test('can be deleted once, and is unknown afterwards', async () => {
    const { url, whole, create } = await gateway()
    const { id } = await whole()
    expect((await ask(url, 'DELETE', `/responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true })
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
    ] as const) {
      expect((await ask(url, method, `/responses/${id}${path}`)).status).toBe(404)
    }
    expect((await create({ input: 'x', previous_response_id: id })).status).toBe(400)
  })

  test('cannot be cancelled, because it is finished', async () => {
    const { url, whole } = await gateway()
    const refusal = await ask(url, 'POST', `/responses/${(await whole()).id}/cancel`)
    expect([refusal.status, errorOf(refusal).message]).toEqual([400, expect.stringContaining('synchronous')])
  })
})

test('a response with store: false is not stored', async () => {
  const { url, whole, create } = await gateway()
  const { id, store, output } = await whole({ store: false })
  expect(store).toBe(false)
  expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(404)
  expect((await create({ input: 'x', previous_response_id: id })).status).toBe(400)
  expect((await create({ input: [{ type: 'item_reference', id: output[0]?.id }] })).status).toBe(400)
})

test('a response of another account does not exist: the errors are identical', async () => {
  const { url, whole, create } = await gateway()
  const { id, output } = await whole()
  const unknown = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const item = output[0]?.id ?? ''
  const asUnknown = (body: string) => body.replaceAll(unknown, id).replaceAll('msg_unknown', item)
  const requests = [
    (of: string) => ask(url, 'GET', `/responses/${of}`, undefined, 'sk-other'),
    (of: string) => ask(url, 'DELETE', `/responses/${of}`, undefined, 'sk-other'),
    (of: string) => ask(url, 'POST', `/responses/${of}/cancel`, undefined, 'sk-other'),
    (of: string) => ask(url, 'GET', `/responses/${of}/input_items`, undefined, 'sk-other'),
    (of: string) => create({ input: 'x', previous_response_id: of }, 'sk-other'),
    (of: string) => create({ input: [{ type: 'item_reference', id: of === id ? item : 'msg_unknown' }] }, 'sk-other'),
  ]
  for (const request of requests) {
    const [foreign, absent] = [await request(id), await request(unknown)]
    expect([foreign.status, foreign.text]).toEqual([absent.status, asUnknown(absent.text)])
    expect(foreign.status).toBeGreaterThanOrEqual(400)
  }
  expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(200)
})

const dialogue = () =>
  scripted(({ request }) => {
    const said = request.messages.filter(({ role }) => role === 'user').map(({ content }) => content as string)
    return (async function* () {
      yield text(said.join('+'))
      yield finish('stop', usageOf(1, 1))
    })()
  })

describe('a response that continues another one', () => {
  test('starts with its input and output, without its instructions', async () => {
    const { whole, asked } = await dialogue()
    const first = await whole({ input: 'one', instructions: 'Be brief.' })
    const second = await whole({ input: 'two', instructions: 'Be long.', previous_response_id: first.id })
    const third = await whole({ input: 'three', previous_response_id: second.id })
    expect(third).toMatchObject({ previous_response_id: second.id, instructions: null })
    expect(asked[2]?.messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'one+two' },
      { role: 'user', content: 'three' },
    ])
    expect(asked[1]?.messages[0]).toEqual({ role: 'system', content: 'Be long.' })
  })

  test('does not depend on the earlier ones once it is stored', async () => {
    const { url, whole, asked } = await dialogue()
    const first = await whole({ input: 'one' })
    const second = await whole({ input: 'two', previous_response_id: first.id })
    await ask(url, 'DELETE', `/responses/${first.id}`)
    await whole({ input: 'three', previous_response_id: second.id })
    expect(asked[2]?.messages).toHaveLength(5)
  })

  test('can have store: false itself', async () => {
    const { whole } = await dialogue()
    const first = await whole({ input: 'one' })
    expect(await whole({ input: 'two', previous_response_id: first.id, store: false })).toMatchObject({
      previous_response_id: first.id,
      store: false,
      output: [{ content: [{ text: 'one+two' }] }],
    })
  })

  test('can contain the outputs of its calls', async () => {
    const { whole, asked } = await scripted([
      toolCall({ id: 'a', name: 'f', arguments: '{}' }),
      finish('tool_calls', usageOf(1, 1)),
    ])
    const first = await whole({ input: 'Go' })
    await whole({
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: 'a', output: 'done' }],
    })
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  test('is charged for the whole conversation if the vendor reports no usage', async () => {
    const { whole, receipt } = await scripted([text('x'), finish('stop')])
    const first = await whole({ input: 'word '.repeat(1_000) })
    const { usage } = await receipt()
    await whole({ input: 'and?', previous_response_id: first.id })
    expect((await receipt()).usage.prompt_tokens).toBeGreaterThan(usage.prompt_tokens - 50)
  })

  test('is rejected if the conversation exceeds the maximum size of a request', async () => {
    const { whole, create } = await scripted(answer, { sizes: { jsonBytes: 3_000 } })
    const first = await whole({ input: 'a'.repeat(2_000) })
    const refusal = await create({ input: 'b'.repeat(2_000), previous_response_id: first.id })
    expect([refusal.status, errorOf(refusal).code]).toEqual([400, 'context_length_exceeded'])
  })

  test('names the field if the response does not exist', async () => {
    const { create } = await dialogue()
    const refusal = await create({ input: 'x', previous_response_id: 'resp_unknown' })
    expect([refusal.status, errorOf(refusal)]).toMatchObject([
      400,
      { code: 'previous_response_not_found', param: 'previous_response_id' },
    ])
  })
})

test('items can be referenced by id, with or without the type "item_reference"', async () => {
  const { whole, asked } = await gateway()
  const { output } = await whole({ input: 'one' })
  const id = output[0]?.id
  for (const reference of [{ type: 'item_reference', id }, { id }]) {
    await whole({ input: [{ role: 'user', content: 'one' }, reference, { role: 'user', content: 'two' }] })
    expect(asked.at(-1)?.messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'two' },
    ])
  }
})

describe('references to items', () => {
  const referring = (ids: readonly string[]) => ids.map((id) => ({ type: 'item_reference', id }))

  test('to several items of one response read it once', async () => {
    const store = memoryResponseStore()
    let read = 0
    const holding: ResponseStore['holding'] = (...question) => {
      read++
      return store.holding(...question)
    }
    const { url, whole, asked } = await gateway({ storage: { responses: { ...store, holding } } })
    const { id } = await whole({ input: Array.from({ length: 50 }, (_, n) => ({ role: 'user', content: `${n}` })) })
    const { data } = await list(url, id, '?limit=100&order=asc')
    await whole({ input: referring(data.map((item) => item.id)) })
    expect([textOf(asked.at(-1)?.messages[0]?.content).split('\n\n').length, read]).toEqual([50, 1])
  })

  test('must not exceed the maximum size of a request, nor repeat an item', async () => {
    const { whole, create } = await gateway({ sizes: { jsonBytes: 3_000 } })
    const ids: string[] = []
    for (let turn = 0; turn < 2; turn++) {
      const { output } = await whole({ input: [{ role: 'user', content: 'a'.repeat(1_900), id: `msg_${turn}` }] })
      ids.push(`msg_${turn}`, output[0]?.id ?? '')
    }
    const tooMuch = await create({ input: referring(ids) })
    expect([tooMuch.status, errorOf(tooMuch).code]).toEqual([400, 'context_length_exceeded'])
    const twice = await create({ input: referring(['msg_0', 'msg_0']) })
    expect([twice.status, errorOf(twice)]).toMatchObject([400, { param: 'input[1].id' }])
  })
})

const list = async (url: string, id: string, query = '') => {
  const { json } = await ask(url, 'GET', `/responses/${id}/input_items${query}`)
  return json as { data: { id: string; type: string }[]; has_more: boolean; first_id: string; last_id: string }
}

describe('input items', () => {
  const input = [
    { role: 'user', content: 'one' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'done' },
    { role: 'assistant', content: 'two' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'three' }] },
  ]

  test('are listed with type, id, status and content in parts, latest first', async () => {
    const { url, whole } = await gateway()
    const { data, ...rest } = await list(url, (await whole({ input })).id)
    expect(data).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'three' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
      { type: 'function_call_output', output: 'done' },
      { type: 'function_call', status: 'completed' },
      { type: 'message', content: [{ type: 'input_text', text: 'one' }] },
    ])
    expect(new Set(data.map(({ id }) => id)).size).toBe(5)
    expect(rest).toEqual({ object: 'list', first_id: data[0]?.id, last_id: data[4]?.id, has_more: false })
    if (hasShared) expect(faults('ResponseItemList', { data, ...rest })).toEqual([])
  })

  test('can be paged in both directions', async () => {
    const { url, whole } = await gateway()
    const { id } = await whole({ input })
    const all = await list(url, id, '?order=asc')
    const first = await list(url, id, '?order=asc&limit=2')
    const second = await list(url, id, `?order=asc&limit=3&after=${first.last_id}`)
    expect([first.has_more, second.has_more]).toEqual([true, false])
    expect([...first.data, ...second.data]).toEqual(all.data)
    expect((await list(url, id)).data).toEqual(all.data.toReversed())
  })

  test('include those of the continued response', async () => {
    const { url, whole } = await gateway()
    const first = await whole({ input: 'one' })
    const second = await whole({ input: 'two', previous_response_id: first.id })
    const { data } = await list(url, second.id, '?order=asc')
    expect(data).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=x', 'limit'],
    ['?order=up', 'order'],
    ['?after=x', 'after'],
  ])('with %s are rejected by the name of the parameter', async (query, param) => {
    const { url, whole } = await gateway()
    const refusal = await ask(url, 'GET', `/responses/${(await whole()).id}/input_items${query}`)
    expect([refusal.status, errorOf(refusal).param]).toEqual([400, param])
  })
})

const failing = (what: Partial<ResponseStore>): ResponseStore => ({ ...memoryResponseStore(), ...what })
const put = () => Promise.reject(new Error('disk full'))
const get = () => Promise.reject(new Error('secret'))

describe('a custom store', () => {
  test('that fails to write does not fail the response, which then has store: false', async () => {
    const causes: unknown[] = []
    const note = (message: unknown) => void causes.push((message as { error: { cause: Error } }).error.cause.message)
    subscribe('modelhatch:failure', note)
    const { url, whole, stream } = await gateway({ storage: { responses: failing({ put }) } })
    for (const response of [await whole(), (await stream()).at(-1)?.response as ResponseObject]) {
      expect(response).toMatchObject({ status: 'completed', store: false })
      expect((await ask(url, 'GET', `/responses/${response.id}`)).status).toBe(404)
    }
    unsubscribe('modelhatch:failure', note)
    expect(causes).toEqual(['the response store failed', 'the response store failed'])
  })

  test('that fails to read gives a 503, never a 404', async () => {
    const { url, create } = await gateway({ storage: { responses: failing({ get }) } })
    for (const refusal of [
      await ask(url, 'GET', '/responses/resp_1'),
      await create({ input: 'x', previous_response_id: 'resp_1' }),
    ]) {
      expect(refusal.status).toBe(503)
      expect(refusal.text).not.toContain('secret')
    }
  })

  test('does not receive ids that it need not support', async () => {
    const unknown = ['a b', 'é', 'a\0', 'x'.repeat(1_025)]
    const fail = () => Promise.reject(new Error('cannot be kept'))
    const { url, create, whole } = await gateway({
      storage: { responses: failing({ get: fail, holding: fail, delete: fail }) },
    })
    for (const id of unknown) {
      const path = `/responses/${encodeURIComponent(id)}`
      expect((await ask(url, 'GET', path)).status).toBe(404)
      expect((await ask(url, 'DELETE', path)).status).toBe(404)
      expect((await create({ input: 'x', previous_response_id: id })).status).toBe(400)
      expect((await create({ input: [{ type: 'item_reference', id }] })).status).toBe(400)
    }
    const input = unknown.map((id) => ({ type: 'message', id, role: 'user', content: 'x' }))
    expect(await whole({ input })).toMatchObject({ store: true })
  })

  test('replaces the memory store', async () => {
    const store = memoryResponseStore()
    const { whole } = await gateway({ storage: { responses: store } })
    const { id } = await whole()
    expect(await store.get('ada', id)).toMatchObject({ id })
  })

  test('is closed with the gateway', async () => {
    let closed = 0
    const { gateway: made } = await gateway({ storage: { responses: failing({ close: () => void closed++ }) } })
    await made.close({ graceMs: 0 })
    expect(closed).toBe(1)
  })
})
