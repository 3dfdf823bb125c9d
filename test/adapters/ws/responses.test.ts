/** Responses over a WebSocket: what a client sends and gets. */
import { DatabaseSync } from 'node:sqlite'
import { GatewayError } from 'modelhatch'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { defineProvider, type Call } from 'modelhatch/providers'
import { finish, reasoning, text, toolCall } from '../../chat-chunks.ts'
import { sqlite } from 'modelhatch/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import type { InputItem } from '../../../src/wire/responses.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { thorough } from '../../long.ts'
import { key, parrot, responsesVendor, saidBy, textOf, world } from './world.ts'

const user = (content: string): InputItem => ({ type: 'message', role: 'user', content })

test('the official client gets the events of a response, each as one message, and continues it', async () => {
  const asked: ChatRequest[] = []
  const { port, receipts } = await world({ options: { models: { m: parrot(asked) } }, path: '/ai' })
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/ai/v1`, apiKey: key })
  const socket = new ResponsesWS(client)
  onTestFinished(() => socket.close())
  const types: string[] = []
  let previous: string | undefined
  for (const said of ['Hello there', 'And again']) {
    socket.send({
      type: 'response.create',
      model: 'm',
      input: said,
      store: false,
      ...(previous !== undefined && { previous_response_id: previous }),
    })
    let heard = ''
    for await (const event of socket.stream()) {
      if (event.type === 'error') throw event.error
      if (event.type !== 'message') continue
      types.push(event.message.type)
      if (event.message.type === 'response.output_text.delta') heard += event.message.delta
      if (event.message.type !== 'response.completed') continue
      expect(event.message.response.previous_response_id).toBe(previous ?? null)
      previous = event.message.response.id
      break
    }
    expect(heard).toBe(said)
  }
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.output_item.added'])
  expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(receipts).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }])
})

describe('events', () => {
  test('have rising sequence numbers, and carry the stream_id of their request', async () => {
    const { connect } = await world()
    const client = await connect()
    client.create({ input: 'a b c', stream_id: 'Lane_1-a.b' })
    const messages = await client.response()
    expect(messages.map((message) => message.sequence_number)).toEqual(messages.map((_, index) => index))
    expect(new Set(messages.map((message) => message['stream_id']))).toEqual(new Set(['Lane_1-a.b']))
    client.create({ input: 'a' })
    expect((await client.response())[0]).not.toHaveProperty('stream_id')
  })

  test('begin with the id of their request, which leads to its record', async () => {
    const { connect, gateway } = await world({ options: { usage: { record: true } } })
    const client = await connect()
    for (const lane of [undefined, 'lane']) {
      client.create({ input: 'a b c', ...(lane !== undefined && { stream_id: lane }) })
      const [first, ...others] = await client.response()
      expect(first).toMatchObject({ type: 'response.created', ...(lane !== undefined && { stream_id: lane }) })
      expect(others.filter((event) => 'request_id' in event)).toEqual([])
      const id = String(first?.['request_id'])
      await expect.poll(() => gateway.admin.usage.find(id)).toMatchObject({ id, endpoint: 'responses' })
    }
  })

  test('of a vendor with a responses endpoint pass through, and envelope fields do not reach it', async () => {
    const delta = { type: 'response.output_text.delta', sequence_number: 3, item_id: 'msg_1', output_index: 0 }
    const message = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [] }
    const response = { id: 'resp_v', object: 'response', status: 'completed', model: 'm', output: [message] }
    const events = [
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: message },
      { ...delta, delta: 'Grüße ' },
      { ...delta, sequence_number: 4, delta: '\\n\\n "data:" ' },
      { type: 'response.completed', sequence_number: 5, response },
    ]
    const { vendor, provider } = await responsesVendor((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    })
    const { connect } = await world({ options: { models: { m: { provider, providerModel: 'm' } } } })
    const client = await connect()
    client.create({ input: 'Hi', generate: true, stream_id: 'x', stream: false })
    const messages = await client.response()
    expect(messages.filter(({ type }) => type.endsWith('.delta')).map((each) => each['delta'])).toEqual([
      'Grüße ',
      '\\n\\n "data:" ',
    ])
    expect(vendor.requests[0]?.json).toMatchObject({ model: 'm', stream: true, store: false })
    for (const field of ['type', 'generate', 'stream_id']) expect(vendor.requests[0]?.json).not.toHaveProperty(field)
  })

  test('of a response that fails midway end with response.failed, and the socket serves the next request', async () => {
    let calls = 0
    const broken = defineProvider({
      name: 'broken',
      async *chat({ request }: { request: ChatRequest }) {
        yield text('Half')
        if (++calls === 1) throw new Error('the vendor broke off')
        yield finish('stop', usageOf(1, 1))
        void saidBy(request)
      },
    })
    const { connect, receipts } = await world({ options: { models: { m: broken } } })
    const client = await connect()
    client.create({ input: 'Hi' })
    expect((await client.response()).at(-1)).toMatchObject({ type: 'error', error: { code: 'server_error' } })
    expect(await client.next()).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
    expect(textOf(await client.ask({ input: 'Hi' }))).toBe('Half')
    expect(receipts).toMatchObject([{ outcome: 'failed' }, { outcome: 'completed' }])
  })
})

describe('a prewarm', () => {
  test('calls no model, costs nothing, and is continued by its id', async () => {
    const asked: ChatRequest[] = []
    const { connect, receipts } = await world({ options: { models: { m: parrot(asked) } } })
    const client = await connect()
    client.create({ generate: false, input: [{ ...user('Rules.'), role: 'developer' }] })
    const [created, completed, ...more] = await client.response()
    expect(more).toEqual([])
    expect(created).toMatchObject({ type: 'response.created', response: { status: 'in_progress', output: [] } })
    expect(completed).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed', output: [], store: false, usage: { total_tokens: 0 } },
    })
    expect(completed?.response?.id).toBe(created?.response?.id)
    expect(asked).toEqual([])
    expect(receipts).toEqual([])
    const previous = completed?.response?.id as string
    await client.ask({ previous_response_id: previous, input: [user('One')] })
    // Also later, and more than once.
    await client.ask({ previous_response_id: previous, input: [user('Two')] })
    expect(asked.map(({ messages }) => messages.map((message) => message.content))).toEqual([
      ['Rules.', 'One'],
      ['Rules.', 'Two'],
    ])
  })

  test('of an account without money is not stored, whatever it asks for', async () => {
    const database = new DatabaseSync(':memory:')
    const storage = sqlite(database)
    const { connect } = await world({
      options: {
        keys: { [key]: { account: 'poor' } },
        models: { m: { provider: parrot(), price: { input: '1', output: '1' } } },
        billing: { currency: 'EUR' },
        storage,
      },
    })
    const client = await connect()
    const input = [user('x'.repeat(1024 * 1024))]
    for (let at = 0; at < (thorough ? 40 : 8); at++) {
      client.create({ generate: false, store: true, input })
      expect((await client.response()).at(-1)).toMatchObject({ response: { status: 'completed', store: false } })
    }
    expect(await storage.responses.get('poor', 'none')).toBeUndefined()
    const stored = 'SELECT count(*) AS rows, total(length(body)) AS bytes FROM modelhatch_responses'
    expect(database.prepare(stored).get()).toEqual({ rows: 0, bytes: 0 })
    client.create({ input: 'Hi' })
    expect(await client.next()).toMatchObject({ status: 429, error: { code: 'insufficient_quota' } })
  })

  test('is checked like a request: the model, the fields and the key', async () => {
    const { connect } = await world()
    const client = await connect()
    client.create({ generate: false, input: 'Hi', model: 'unknown' })
    expect(await client.next()).toMatchObject({ status: 404, error: { code: 'model_not_found' } })
    client.create({ generate: false, input: 'Hi', temperature: 9 })
    expect(await client.next()).toMatchObject({ status: 400, error: { param: 'temperature' } })
    client.create({ generate: 'no', input: 'Hi' })
    expect(await client.next()).toMatchObject({ status: 400, error: { param: 'generate' } })
  })
})

describe('previous_response_id', () => {
  test('names a response with store: false only on its own connection', async () => {
    const { connect } = await world()
    const client = await connect()
    const { id } = await client.ask({ input: 'Hi' })
    const other = await connect()
    other.create({ previous_response_id: id, input: 'More' })
    expect(await other.next()).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    })
    expect((await client.ask({ previous_response_id: id, input: 'More' })).previous_response_id).toBe(id)
  })

  test('names a stored response on any connection, until it is deleted', async () => {
    const { connect, port } = await world()
    const { id } = await (await connect()).ask({ input: 'Hi', store: true })
    const client = await connect()
    await client.ask({ previous_response_id: id, input: 'More' })
    const headers = { authorization: `Bearer ${key}` }
    const deleted = await fetch(`http://127.0.0.1:${port}/v1/responses/${id}`, { method: 'DELETE', headers })
    expect(deleted.status).toBe(200)
    client.create({ previous_response_id: id, input: 'More' })
    expect(await client.next()).toMatchObject({ error: { code: 'previous_response_not_found' } })
  })

  test('of a continuation that failed, before or amid its answer, continues what was there before', async () => {
    const asked: ChatRequest[] = []
    const fragile = defineProvider({
      name: 'fragile',
      async *chat({ request }: { request: ChatRequest }) {
        const said = saidBy(request)
        if (said === 'Refuse') throw new GatewayError('unsupported_value', { message: 'No.' })
        yield text(`Heard ${said}`)
        if (said === 'Break') throw new Error('the vendor broke off')
        asked.push(request)
        yield finish('stop', usageOf(1, 1))
      },
    })
    const { connect } = await world({ options: { models: { m: fragile } } })
    const client = await connect()
    const { id } = await client.ask({ input: 'Hi' })
    client.create({ previous_response_id: id, input: 'Refuse' })
    expect(await client.next()).toMatchObject({ type: 'error', error: { code: 'unsupported_value' } })
    client.create({ previous_response_id: id, input: 'Break' })
    const failed = (await client.response()).at(0) as { response: { id: string } }
    expect(await client.next()).toMatchObject({ type: 'response.failed' })
    client.create({ previous_response_id: failed.response.id, input: 'More' })
    expect(await client.next()).toMatchObject({ error: { code: 'previous_response_not_found' } })
    for (const input of ['More', 'Again']) {
      expect(textOf(await client.ask({ previous_response_id: id, input }))).toBe(`Heard ${input}`)
      expect(asked.at(-1)?.messages.map(({ content }) => content)).toEqual(['Hi', 'Heard Hi', input])
    }
  })

  test('keeps tool calls and reasoning of a conversation that is sent turn by turn', async () => {
    const asked: ChatRequest[] = []
    const agent = defineProvider({
      name: 'agent',
      async *chat({ request }: Call<ChatRequest>) {
        asked.push(request)
        yield reasoning('First look.')
        yield { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', signature: 'sig' }] } }] }
        if (asked.length === 1) yield toolCall({ id: 'call_1', name: 'ls', arguments: '{}' })
        else yield text('Done.')
        yield finish(asked.length === 1 ? 'tool_calls' : 'stop', usageOf(10, 5))
      },
    })
    const { connect } = await world({ options: { models: { m: agent } } })
    const client = await connect()
    const first = await client.ask({ input: 'List.' })
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' }
    expect(textOf(await client.ask({ previous_response_id: first.id, input: [output] }))).toContain('Done.')
    expect(asked[1]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        reasoning_details: [{ type: 'reasoning.text', signature: 'sig' }],
        tool_calls: [{ id: 'call_1', function: { name: 'ls' } }],
      },
      { role: 'tool', content: 'a.txt' },
    ])
  })

  test.each(['', 'before anything, ', 'in the middle, '])(
    'continues what it did %safter a continuation has failed',
    async (when) => {
      const asked: ChatRequest[] = []
      const failing = defineProvider({
        name: 'failing',
        async *chat({ request }: Call<ChatRequest>) {
          asked.push(request)
          if (saidBy(request) === 'Fail' && when.startsWith('before')) throw new Error('down')
          yield text('Hel')
          if (saidBy(request) === 'Fail' && when !== '') throw new Error('down')
          yield text('lo')
          yield finish('stop', usageOf(10, 5))
        },
      })
      const { connect } = await world({ options: { models: { m: failing } } })
      const client = await connect()
      const { id } = await client.ask({ input: 'One' })
      const second = await client.ask({ previous_response_id: id, input: 'Two' })
      const unanswered = { type: 'function_call_output', call_id: 'none', output: '' }
      client.create({ previous_response_id: second.id, input: when === '' ? [unanswered] : 'Fail' })
      const ended = await client.response()
      expect(ended.at(-1)?.type).toBe('error')
      if (when.startsWith('in the middle')) expect((await client.next()).type).toBe('response.failed')
      await client.ask({ previous_response_id: second.id, input: 'Three' })
      expect(asked.at(-1)?.messages.map(({ content }) => content)).toEqual(['One', 'Hello', 'Two', 'Hello', 'Three'])
    },
  )

  test('is forgotten once the sockets together remember too much', async () => {
    const { connect } = await world({ upgrade: { rememberedBytes: 2_000 } })
    const client = await connect()
    const { id } = await client.ask({ input: 'x'.repeat(800) })
    await (await connect()).ask({ input: 'y'.repeat(800) })
    client.create({ previous_response_id: id, input: 'More' })
    expect(await client.next()).toMatchObject({ error: { code: 'previous_response_not_found' } })
  })

  test('is not displaced by what another account prepares, which costs nothing', async () => {
    const { connect } = await world({ upgrade: { rememberedBytes: 4_000 } })
    const client = await connect()
    const { id } = await client.ask({ input: 'x'.repeat(800) })
    const other = await connect({ authorization: 'Bearer sk-paying' })
    for (let count = 0; count < 10; count++) await other.ask({ generate: false, input: 'y'.repeat(800) })
    expect(textOf(await client.ask({ previous_response_id: id, input: 'More' }))).toBe('More')
  })
})

describe('errors', () => {
  test('of one request are messages, and the socket stays open', async () => {
    const { connect } = await world()
    const client = await connect()
    const bad = [
      ['not json', { status: 400 }],
      ['[]', { status: 400 }],
      ['{"type":"response.cancel"}', { status: 400, error: { param: 'type' } }],
      ...['1', '""', '"a b"', `"${'x'.repeat(257)}"`].map((name) => [
        `{"type":"response.create","model":"m","input":"Hi","stream_id":${name}}`,
        { status: 400, error: { code: 'invalid_stream_id', param: 'stream_id', type: 'invalid_request_error' } },
      ]),
      ['{"type":"response.create","model":"m","input":"Hi","background":true}', { error: { param: 'background' } }],
      ['{"type":"response.create","model":"m"}', { error: { param: 'input' } }],
      [`{"type":"response.create","model":"m","input":${'['.repeat(100)}${']'.repeat(100)}}`, { status: 400 }],
    ] as [string, object][]
    for (const [text, expected] of bad) {
      client.ws.send(text)
      const message = await client.next()
      expect(message).toMatchObject({ type: 'error', ...expected })
      expect(message).not.toHaveProperty('stream_id')
    }
    client.ws.send(Buffer.from('{}'), { binary: true })
    expect(await client.next()).toMatchObject({ type: 'error', status: 400 })
    client.ws.send('{"type":"response.processed","response_id":"resp_1"}')
    expect(textOf(await client.ask({ input: 'Still here' }))).toBe('Still here')
  })

  test('of limits say when to try again', async () => {
    const { connect } = await world({ options: { groups: { default: { models: '*', rate: { requests: '1/min' } } } } })
    const client = await connect()
    await client.ask({ input: 'Hi' })
    client.create({ input: 'Hi', stream_id: 'a' })
    expect(await client.next()).toMatchObject({
      type: 'error',
      status: 429,
      stream_id: 'a',
      error: { code: 'rate_limit_exceeded' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string },
    })
  })
})
