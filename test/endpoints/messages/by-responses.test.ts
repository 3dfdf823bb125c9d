/** Messages by a vendor that serves responses. */
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { ResponseRequest } from '../../../src/wire/responses.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes, sharedJson } from '../../shared.ts'
import { requireOrder } from './event-order.ts'
import { askMessage } from './scripted.ts'

type Event = Readonly<Record<string, unknown>> & { readonly type: string }

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt',
  output: [],
  incomplete_details: null,
  usage: {
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 59,
  },
}

function sse(events: readonly Event[]): string {
  return events
    .map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`)
    .join('')
}

/** A gateway in front of a vendor that sends these events. */
async function served(events: readonly Event[] | Buffer) {
  const body = Buffer.isBuffer(events) ? events : sse(events)
  const vendor = await vendorFor((_, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
  })
  const provider = openai({ apiKey: 'k', baseURL: vendor.baseURL, name: 'gpt', responses: true })
  const hosted = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
  return {
    ...hosted,
    asked: (index = 0) => vendor.requests[index]?.json as ResponseRequest,
    stream: async (request: object = {}) =>
      requireOrder(await (await askMessage(hosted.url, { ...request, stream: true })).text()),
    whole: async (request: object = {}) => (await askMessage(hosted.url, request)).json(),
  }
}

const reasoningItem = { type: 'reasoning', id: 'rs_1', summary: [] }
const script: readonly Event[] = [
  { type: 'response.created', response: { ...response, status: 'in_progress', usage: null } },
  { type: 'response.in_progress', response: { ...response, status: 'in_progress', usage: null } },
  { type: 'response.output_item.added', output_index: 0, item: reasoningItem },
  { type: 'response.reasoning_summary_part.added', output_index: 0, item_id: 'rs_1', summary_index: 0 },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'rs_1', delta: 'First.' },
  { type: 'response.reasoning_summary_part.added', output_index: 0, item_id: 'rs_1', summary_index: 1 },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'rs_1', delta: 'Second.' },
  { type: 'response.output_item.done', output_index: 0, item: { ...reasoningItem, encrypted_content: 'gAAA=secret' } },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  },
  { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: 'Looking “up”' },
  { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: '.\n' },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'call_x', name: 'weather', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta: '"Oslo"}' },
  { type: 'response.function_call_arguments.done', output_index: 2, item_id: 'fc_1', arguments: '{"city":"Oslo"}' },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'call_x', name: 'weather', arguments: '{"city":"Oslo"}' },
  },
  { type: 'response.completed', response },
]
const tools = [{ name: 'weather', description: 'Weather', input_schema: { type: 'object', properties: { city: {} } } }]
const thinking = { type: 'adaptive' }

test('reasoning, text and calls become blocks', async () => {
  const { stream } = await served(script)
  const message = await stream({ tools, thinking })
  expect(message.content).toMatchObject([
    { type: 'thinking', thinking: 'First.\n\nSecond.', signature: expect.stringMatching(/^mh1\.gpt.*gAAA=secret$/) },
    { type: 'text', text: 'Looking “up”.\n' },
    { type: 'tool_use', id: 'call_x', name: 'weather', input: { city: 'Oslo' } },
  ])
  expect(message.stopReason).toBe('tool_use')
  expect(message.usage).toMatchObject({ input_tokens: 30, cache_read_input_tokens: 20, output_tokens: 9 })
})

test('a client that does not stream gets the same', async () => {
  const { stream, whole, receipt } = await served(script)
  const { content } = await stream({ tools, thinking })
  await receipt()
  expect(await whole({ tools, thinking })).toMatchObject({ content, stop_reason: 'tool_use' })
  expect(await receipt()).toMatchObject({ usageSource: 'reported', usage: { prompt_tokens: 50, completion_tokens: 9 } })
})

test('the next turn sends reasoning, calls and results back as items', async () => {
  const { stream, asked } = await served(script)
  const { content } = await stream({ tools, thinking })
  const question = { role: 'user', content: 'Weather in Oslo?' }
  const result = { type: 'tool_result', tool_use_id: 'call_x', content: 'Rain', is_error: false }
  await stream({
    tools,
    thinking,
    messages: [
      question,
      { role: 'assistant', content },
      { role: 'user', content: [result, { type: 'text', text: 'Go on' }] },
    ],
  })
  expect(asked(1).input).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather in Oslo?' }] },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'First.\n\nSecond.' }],
      encrypted_content: 'gAAA=secret',
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking “up”.\n' }] },
    { type: 'function_call', call_id: 'call_x', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call_output', call_id: 'call_x', output: 'Rain' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
  ])
})

test('the request has the fields of a response', async () => {
  const { stream, asked } = await served(script)
  await stream({
    max_tokens: 1,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Now be long.' },
    ],
    tools: [...tools, { type: 'web_search_20250305', name: 'web_search' }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    thinking,
    output_config: { effort: 'max', format: { type: 'json_schema', schema: { type: 'object' } } },
    temperature: 0.5,
    top_k: 4,
    metadata: { user_id: 'u1' },
  })
  expect(asked()).toEqual({
    model: 'm',
    stream: true,
    store: false,
    instructions: 'Be brief.',
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Now be long.' }] },
    ],
    max_output_tokens: 16,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'max', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: false } },
    tools: [
      {
        type: 'function',
        name: 'weather',
        description: 'Weather',
        parameters: { type: 'object', properties: { city: {} } },
        strict: false,
      },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    temperature: 0.5,
    user: 'u1',
  })
})

describe('the end', () => {
  test.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'refusal'],
    [{}, 'end_turn'],
  ])('%j becomes %s', async (fields, reason) => {
    const last = { ...response, ...fields }
    const text = { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: 'Hi' }
    const { stream } = await served([text, { type: `response.${last.status}`, response: last }])
    expect((await stream()).stopReason).toBe(reason)
  })

  test('is before a stop sequence, which responses do not have', async () => {
    const delta = (text: string) => ({ type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: text })
    const { stream } = await served([
      delta('yes</an'),
      delta('swer> and more'),
      delta(' words'),
      { type: 'response.completed', response },
    ])
    const message = await stream({ stop_sequences: ['</answer>'] })
    expect(message.content).toEqual([{ type: 'text', text: 'yes', citations: null }])
    expect([message.stopReason, message.stopSequence]).toEqual(['stop_sequence', '</answer>'])
    expect(message.usage).toMatchObject({ output_tokens: 9 })
  })
})

test('a vendor that sends all items in the last event only is understood', async () => {
  const output = [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi' }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'weather', arguments: '' },
  ]
  const { stream } = await served([{ type: 'response.completed', response: { ...response, output } }])
  expect((await stream({ tools })).content).toMatchObject([
    { type: 'text', text: 'Hi' },
    { type: 'tool_use', id: 'c', name: 'weather', input: {} },
  ])
})

describe('what a model refuses is left out, and remembered', () => {
  test('the effort and the summary of reasoning', async () => {
    const refused: unknown[] = []
    const vendor = await vendorFor((request, reply) => {
      const { reasoning } = request.json as { reasoning?: { effort?: string; summary?: string } }
      refused.push(reasoning)
      const param = reasoning?.summary
        ? 'reasoning.summary'
        : reasoning?.effort === 'xhigh'
          ? 'reasoning.effort'
          : undefined
      if (param === undefined) reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse(script))
      else
        reply.writeHead(400).end(
          JSON.stringify({
            error: { message: 'no', type: 'invalid_request_error', param, code: 'unsupported_value' },
          }),
        )
    })
    const provider = openai({ apiKey: 'k', baseURL: vendor.baseURL, responses: true })
    const { url } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
    const body = { thinking, output_config: { effort: 'xhigh' }, tools, stream: true }
    for (let turn = 0; turn < 2; turn++) requireOrder(await (await askMessage(url, body)).text())
    expect(refused).toEqual([
      { effort: 'xhigh', summary: 'auto' },
      { effort: 'xhigh' },
      { effort: 'high' },
      { effort: 'high' },
    ])
  })
})

describe.skipIf(!hasShared)('recordings', () => {
  test('a streamed call', async () => {
    const { stream } = await served(sharedBytes('recordings/openai/responses-stream-tool.sse'))
    const { expect: expected } = (
      sharedJson('recordings/openai/expected.json') as Record<
        string,
        { expect: { tool_calls: { name: string; arguments: unknown }[] } }
      >
    )['responses-stream-tool.sse'] as never
    const { content } = await stream({ tools })
    const calls = content.filter(({ type }) => type === 'tool_use')
    const { tool_calls: wanted } = expected as { tool_calls: { name: string; arguments: unknown }[] }
    expect(calls.map(({ name, input }) => ({ name, input }))).toEqual(
      wanted.map(({ name, arguments: input }) => ({ name, input })),
    )
  })
})
