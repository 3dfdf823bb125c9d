import { anthropic, type AnthropicOptions } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../../hosted.ts'
import { served } from '../served.ts'
import { resultOfClient } from '../chat-results.ts'

const question = { messages: [{ role: 'user', content: 'Hello' }] }

async function answered(reply: VendorReply, model = 'claude-sonnet-5', options: AnthropicOptions = {}) {
  const vendor = await vendorFor(reply)
  const provider = anthropic({ baseURL: vendor.baseURL, apiKey: 'sk-ant-secret', ...options })
  const gateway = await served({ claude: { provider, providerModel: model }, 'all/*': provider })
  const tell = (stream: boolean, request: object = {}) =>
    resultOfClient(gateway.client, { model: 'claude', ...question, ...request }, stream)
  return { vendor, tell, ...gateway }
}

const json =
  (body: object, status = 200, headers: Record<string, string> = {}): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const refusal = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'vendor-request',
})

const message = (fields: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5',
  content: [],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 4 },
  ...fields,
})

const frames =
  (...events: object[]): VendorReply =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  }

const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const ending = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }, { type: 'message_stop' }]

describe.each([false, true])('a stream without the beginnings of its blocks, streamed on: %s', (stream) => {
  test('loses nothing of what was said or thought', async () => {
    const thought = delta(0, { type: 'thinking_delta', thinking: 'Hm.' })
    const said = ['Hello', '!'].map((text) => delta(1, { type: 'text_delta', text }))
    const { tell } = await answered(
      frames({ type: 'message_start', message: message({}) }, thought, ...said, ...ending),
    )
    expect(await tell(stream)).toMatchObject({ content: 'Hello!', reasoning: 'Hm.', finish: 'stop' })
  })

  test('is broken where the name of a call is lost', async () => {
    const call = delta(0, { type: 'input_json_delta', partial_json: '{}' })
    const { tell } = await answered(frames({ type: 'message_start', message: message({}) }, call, ...ending))
    await expect(tell(stream)).resolves.toMatchObject({ error: { status: 503 } })
  })

  test('shows nothing of the work of the vendor', async () => {
    const block = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', name: 'web_search' },
    }
    const input = delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' })
    const { tell } = await answered(
      frames(
        { type: 'message_start', message: message({}) },
        block,
        input,
        delta(1, { type: 'text_delta', text: 'Found.' }),
        ...ending,
      ),
    )
    expect(await tell(stream)).toMatchObject({ content: 'Found.', calls: [] })
  })

  test('that speaks of a failure in a form that is no event is broken', async () => {
    const { tell } = await answered(
      frames({ type: 'message_start', message: message({}) }, { detail: 'no' }, ...ending),
    )
    await expect(tell(stream)).resolves.toMatchObject({ error: { status: 503 } })
  })
})

describe.each([false, true])('streamed: %s', (stream) => {
  test.each([
    [400, 'invalid_request_error', 'messages: text content blocks must be non-empty', 400, 'messages'],
    [400, 'invalid_request_error', 'max_tokens: 99 > 9', 400, 'max_tokens'],
    [400, 'invalid_request_error', 'output_config.effort: no', 400, 'reasoning_effort'],
    [401, 'authentication_error', 'invalid x-api-key', 503, null],
    [402, 'billing_error', 'pay', 503, null],
    [403, 'permission_error', 'no', 503, null],
    [404, 'not_found_error', 'model: claude-sonnet-5', 503, null],
    [413, 'request_too_large', 'too large', 413, null],
    [429, 'rate_limit_error', 'slow down', 429, null],
    [500, 'api_error', 'oops', 503, null],
    [504, 'timeout_error', 'late', 503, null],
    [529, 'overloaded_error', 'Overloaded', 503, null],
  ])('%i %s (%s) becomes %i', async (status, type, text, expected, param) => {
    const { client } = await answered(json(refusal(type, text), status))
    const error = await client.chat.completions
      .create({ model: 'claude', ...question, stream, max_tokens: 99, reasoning_effort: 'low' } as never)
      .catch((thrown: unknown) => thrown as { status: number; param: string | null; message: string })
    expect(error).toMatchObject({ status: expected, param })
    expect(JSON.stringify(error)).not.toMatch(/vendor-request|x-api-key|secret/)
  })

  test('an account that has run dry is the host’s trouble, not the client’s', async () => {
    const text = 'Your credit balance is too low to access the Anthropic API.'
    const { tell } = await answered(json(refusal('invalid_request_error', text), 400))
    expect((await tell(stream)).error).toEqual({ status: 503, code: 'service_unavailable' })
  })

  test('a question that is too long says so', async () => {
    const { tell } = await answered(json(refusal('invalid_request_error', 'prompt is too long: 9 tokens > 8'), 400))
    expect((await tell(stream)).error).toEqual({ status: 400, code: 'context_length_exceeded' })
  })

  test('a model name of the client’s own that the vendor does not know is a 404', async () => {
    const { client } = await answered(json(refusal('not_found_error', 'model: nope'), 404))
    const told = await resultOfClient(client, { model: 'all/nope', ...question }, stream)
    expect(told.error).toEqual({ status: 404, code: 'model_not_found' })
  })

  test('the wait the vendor asks for is handed on', async () => {
    const { url } = await answered(json(refusal('rate_limit_error', 'slow down'), 429, { 'retry-after': '7' }))
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude', ...question, stream }),
    })
    expect(response.headers.get('retry-after')).toBe('7')
    await response.body?.cancel()
  })

  test('a schema that an old model filled in through a tool is the content of the answer', async () => {
    const content = [{ type: 'tool_use', id: 't', name: 'person', input: { age: 7 } }]
    const { tell } = await answered(json(message({ content, stop_reason: 'tool_use' })), 'claude-3-haiku')
    const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } }
    const told = await tell(stream, { response_format: format })
    expect(told).toMatchObject({ content: '{"age":7}', calls: [], finish: 'stop' })
  })

  test('an answer without a reason for its end is broken', async () => {
    const { tell } = await answered(json(message({ content: [{ type: 'text', text: 'Hi' }], stop_reason: null })))
    const told = await tell(stream)
    expect(told.error).toBeDefined()
    expect(told.finish).toBeNull()
  })

  test('the length of the context ends an answer as the limit does', async () => {
    const { tell } = await answered(json(message({ stop_reason: 'model_context_window_exceeded' })))
    expect(await tell(stream)).toMatchObject({ content: '', finish: 'length' })
  })

  test('only the client’s name of the model is seen', async () => {
    const { client } = await answered(json(message({ content: [{ type: 'text', text: 'Hi' }] })))
    const answer = client.chat.completions.create({ model: 'claude', ...question, stream } as never) as Promise<unknown>
    const seen = stream ? await collect(await answer) : [await answer]
    expect(new Set(seen.map((each) => (each as { model: string }).model))).toEqual(new Set(['claude']))
  })
})

const start = { type: 'message_start', message: message({ content: [], stop_reason: null }) }

const events =
  (...frames: { type: string; [field: string]: unknown }[]): VendorReply =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join(''))
  }

test('an error in front of the first word is a status, though the vendor said 200', async () => {
  const { tell } = await answered(events(start, { type: 'ping' }, refusal('rate_limit_error', 'slow down')))
  expect((await tell(true)).error).toEqual({ status: 429, code: 'rate_limit_exceeded' })
})

test('a stream that ends without a reason is broken', async () => {
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }
  const { tell } = await answered(events(start, block, { type: 'message_stop' }))
  const told = await tell(true)
  expect(told).toMatchObject({ content: 'Hi', finish: null })
  expect(told.error).toBeDefined()
})

test('a schema streamed through a tool comes as text, piece by piece', async () => {
  const reply = events(
    start,
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'person', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"age"' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':7}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  )
  const { tell } = await answered(reply, 'claude-3-haiku')
  const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } }
  const told = await tell(true, { response_format: format })
  expect(told).toMatchObject({ content: '{"age":7}', calls: [], finish: 'stop', usage: { completion_tokens: 9 } })
})

test('the vendor is let go as soon as the client has gone', async () => {
  const left = Promise.withResolvers<void>()
  const { client } = await answered((request, response) => {
    request.signal.addEventListener('abort', () => left.resolve())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }
    for (const frame of [start, block]) response.write(`data: ${JSON.stringify(frame)}\n\n`)
  })
  const stream = await client.chat.completions.create({ model: 'claude', ...question, stream: true } as never)
  for await (const _ of stream as unknown as AsyncIterable<unknown>) break
  await left.promise
})

test('the vendor’s models are listed', async () => {
  const data = [{ type: 'model', id: 'claude-x', display_name: 'X', created_at: '2026-01-02T03:04:05Z' }]
  const { client, vendor } = await answered(json({ data, has_more: false }))
  const listed = (await client.models.list()).data.find(({ id }) => id === 'all/claude-x')
  expect(listed).toEqual({ id: 'all/claude-x', object: 'model', created: 1_767_323_045, owned_by: 'anthropic' })
  expect(vendor.requests[0]?.headers).toMatchObject({ 'x-api-key': 'sk-ant-secret', 'anthropic-version': '2023-06-01' })
})

async function collect(stream: unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  for await (const chunk of stream as AsyncIterable<unknown>) seen.push(chunk)
  return seen
}
