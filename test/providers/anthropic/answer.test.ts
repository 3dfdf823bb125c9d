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
  const chat = (stream: boolean, request: object = {}) =>
    resultOfClient(gateway.client, { model: 'claude', ...question, ...request }, stream)
  return { vendor, chat, ...gateway }
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

describe.each([false, true])('a stream without the starts of its blocks, streamed to the client: %s', (stream) => {
  test('loses neither text nor reasoning', async () => {
    const thought = delta(0, { type: 'thinking_delta', thinking: 'Hm.' })
    const texts = ['Hello', '!'].map((text) => delta(1, { type: 'text_delta', text }))
    const { chat } = await answered(
      frames({ type: 'message_start', message: message({}) }, thought, ...texts, ...ending),
    )
    expect(await chat(stream)).toMatchObject({ content: 'Hello!', reasoning: 'Hm.', finish: 'stop' })
  })

  test('is a 503 if the name of a tool call is missing', async () => {
    const call = delta(0, { type: 'input_json_delta', partial_json: '{}' })
    const { chat } = await answered(frames({ type: 'message_start', message: message({}) }, call, ...ending))
    await expect(chat(stream)).resolves.toMatchObject({ error: { status: 503 } })
  })

  test('omits the results of the vendor’s built-in tools', async () => {
    const block = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', name: 'web_search' },
    }
    const input = delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' })
    const { chat } = await answered(
      frames(
        { type: 'message_start', message: message({}) },
        block,
        input,
        delta(1, { type: 'text_delta', text: 'Found.' }),
        ...ending,
      ),
    )
    expect(await chat(stream)).toMatchObject({ content: 'Found.', calls: [] })
  })

  test('is a 503 if it reports a failure in an object without a type', async () => {
    const { chat } = await answered(
      frames({ type: 'message_start', message: message({}) }, { detail: 'no' }, ...ending),
    )
    await expect(chat(stream)).resolves.toMatchObject({ error: { status: 503 } })
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
  ])('maps %i %s (%s) to %i', async (status, type, text, expected, param) => {
    const { client } = await answered(json(refusal(type, text), status))
    const error = await client.chat.completions
      .create({ model: 'claude', ...question, stream, max_tokens: 99, reasoning_effort: 'low' } as never)
      .catch((thrown: unknown) => thrown as { status: number; param: string | null; message: string })
    expect(error).toMatchObject({ status: expected, param })
    expect(JSON.stringify(error)).not.toMatch(/vendor-request|x-api-key|secret/)
  })

  test('maps an account without credit to a 503', async () => {
    const text = 'Your credit balance is too low to access the Anthropic API.'
    const { chat } = await answered(json(refusal('invalid_request_error', text), 400))
    expect((await chat(stream)).error).toEqual({ status: 503, code: 'service_unavailable' })
  })

  test('maps a prompt that is too long to context_length_exceeded', async () => {
    const { chat } = await answered(json(refusal('invalid_request_error', 'prompt is too long: 9 tokens > 8'), 400))
    expect((await chat(stream)).error).toEqual({ status: 400, code: 'context_length_exceeded' })
  })

  test('is a 404 for an unknown model that the client chose itself', async () => {
    const { client } = await answered(json(refusal('not_found_error', 'model: nope'), 404))
    const result = await resultOfClient(client, { model: 'all/nope', ...question }, stream)
    expect(result.error).toEqual({ status: 404, code: 'model_not_found' })
  })

  test('passes on the vendor’s retry-after', async () => {
    const { url } = await answered(json(refusal('rate_limit_error', 'slow down'), 429, { 'retry-after': '7' }))
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude', ...question, stream }),
    })
    expect(response.headers.get('retry-after')).toBe('7')
    await response.body?.cancel()
  })

  test('returns the input of the answer tool as content', async () => {
    const content = [{ type: 'tool_use', id: 't', name: 'person', input: { age: 7 } }]
    const { chat } = await answered(json(message({ content, stop_reason: 'tool_use' })), 'claude-3-haiku')
    const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } }
    const result = await chat(stream, { response_format: format })
    expect(result).toMatchObject({ content: '{"age":7}', calls: [], finish: 'stop' })
  })

  test('drops what the model says before a call of the answer tool, which is not forced while it reasons', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'text', text: "I'll invoke the JSON response tool." },
      { type: 'tool_use', id: 't', name: 'person', input: { age: 7 } },
    ]
    const { chat, vendor } = await answered(json(message({ content, stop_reason: 'tool_use' })), 'claude-sonnet-4')
    const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } }
    const result = await chat(stream, { response_format: format, reasoning_effort: 'high' })
    expect(vendor.requests[0]?.json).toMatchObject({ tool_choice: { type: 'auto' }, thinking: { type: 'enabled' } })
    expect(result).toMatchObject({ content: '{"age":7}', reasoning: 'Hm', calls: [], finish: 'stop' })
  })

  test('has the words with which the model refuses', async () => {
    const details = { type: 'refusal', category: 'cyber', explanation: 'Not that.' }
    const { client } = await answered(json(message({ stop_reason: 'refusal', stop_details: details })))
    const answer = client.chat.completions.create({ model: 'claude', ...question, stream } as never) as Promise<unknown>
    const seen = JSON.stringify(stream ? await collect(await answer) : await answer)
    expect(seen).toContain('"refusal":"Not that."')
    expect(seen).toContain('"finish_reason":"content_filter"')
  })

  test('is an error without a stop reason', async () => {
    const { chat } = await answered(json(message({ content: [{ type: 'text', text: 'Hi' }], stop_reason: null })))
    const result = await chat(stream)
    expect(result.error).toBeDefined()
    expect(result.finish).toBeNull()
  })

  test('maps an exceeded context window to the finish reason "length"', async () => {
    const { chat } = await answered(json(message({ stop_reason: 'model_context_window_exceeded' })))
    expect(await chat(stream)).toMatchObject({ content: '', finish: 'length' })
  })

  test('returns only the public model name', async () => {
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

test('turns an error inside a 200 before the first content into a status', async () => {
  const { chat } = await answered(events(start, { type: 'ping' }, refusal('rate_limit_error', 'slow down')))
  expect((await chat(true)).error).toEqual({ status: 429, code: 'rate_limit_exceeded' })
})

test('ends a stream without a stop reason with an error', async () => {
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }
  const { chat } = await answered(events(start, block, { type: 'message_stop' }))
  const result = await chat(true)
  expect(result).toMatchObject({ content: 'Hi', finish: null })
  expect(result.error).toBeDefined()
})

test('streams the input of the answer tool as text', async () => {
  const reply = events(
    start,
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'person', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"age"' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':7}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  )
  const { chat } = await answered(reply, 'claude-3-haiku')
  const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } }
  const result = await chat(true, { response_format: format })
  expect(result).toMatchObject({ content: '{"age":7}', calls: [], finish: 'stop', usage: { completion_tokens: 9 } })
})

test('closes the connection to the vendor when the client disconnects', async () => {
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

test('lists the vendor’s models', async () => {
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
