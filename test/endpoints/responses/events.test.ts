/** The events of responses made from chats, for each kind of output, all checked by `rules.ts`. */
import { finish, reasoning, text, toolCall, type ToolCallPiece } from '../../chat-chunks.ts'
import { describe, expect, test } from 'vitest'
import type { ChatChunk, FinishReason } from '../../../src/wire/chat.ts'
import type { OutputItem, ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { joined, requireGood, responseFaults } from './rules.ts'
import { scripted } from './scripted.ts'

/** The streamed and the non-streaming response, which must agree. */
async function respond(
  chunks: ChatChunk[],
  body: object = {},
): Promise<{ events: ResponseEvent[]; response: ResponseObject }> {
  const { stream, whole } = await scripted(chunks)
  const events = await stream(body)
  const response = requireGood(events)
  const other = await whole(body)
  expect(responseFaults(other)).toEqual([])
  expect(alike(other)).toEqual(alike(response))
  return { events, response }
}

/** A response without the fields that differ between two requests. */
function alike(response: ResponseObject): unknown {
  const text = JSON.stringify(response).replaceAll(response.id.replace('resp_', ''), '')
  return { ...(JSON.parse(text) as object), created_at: 0, completed_at: response['completed_at'] === null ? null : 0 }
}

const kinds = ({ output }: ResponseObject) => output.map(({ type }) => type)
const call = (piece: ToolCallPiece) => toolCall({ name: 'get_weather', ...piece })
const logprob = (token: string) => ({ token, logprob: -0.1, bytes: [...Buffer.from(token)], top_logprobs: [] })
const refusal = (piece: string): ChatChunk => ({ choices: [{ delta: { refusal: piece } }] })
const outputs = ({ output }: ResponseObject) => output.map(({ call_id: id, arguments: text }) => [id, text])

const usage = {
  ...usageOf(10, 20),
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 7 },
}

describe('text', () => {
  test('is one message with one part, in deltas', async () => {
    const { events, response } = await respond([text('Hel'), text('lo'), finish('stop', usage)])
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(response).toMatchObject({
      status: 'completed',
      model: 'm',
      output: [
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hello' }] },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 7 },
        total_tokens: 30,
      },
    })
    expect(response['completed_at']).toBeTypeOf('number')
  })

  test('with log probabilities has them in each delta and in the complete part', async () => {
    const piece = (token: string): ChatChunk => ({
      choices: [{ delta: { content: token }, logprobs: { content: [logprob(token)], refusal: [] } }],
    })
    const { events, response } = await respond([piece('a'), piece('b'), finish('stop', usage)], {
      include: ['message.output_text.logprobs'],
    })
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.map(({ logprobs }) => logprobs)).toEqual([[logprob('a')], [logprob('b')]])
    expect(events.find(({ type }) => type === 'response.content_part.added')).toMatchObject({ part: { logprobs: [] } })
    expect(response.output[0]).toMatchObject({ content: [{ logprobs: [logprob('a'), logprob('b')] }] })
  })

  test('with a citation has its fields unnested', async () => {
    const citation = { start_index: 0, end_index: 2, url: 'https://example.com/', title: 'Example' }
    const annotated: ChatChunk = {
      choices: [{ delta: { content: 'See', annotations: [{ type: 'url_citation', url_citation: citation }] } }],
    }
    const { events, response } = await respond([annotated, finish('stop', usage)])
    expect(events.find(({ type }) => type === 'response.output_text.annotation.added')).toMatchObject({
      annotation_index: 0,
      annotation: { type: 'url_citation', ...citation },
    })
    expect(response.output[0]).toMatchObject({ content: [{ annotations: [{ type: 'url_citation', ...citation }] }] })
  })

  test('without usage of the vendor gets estimated usage', async () => {
    const { stream, whole, receipt } = await scripted([text('Hello, world'), finish('stop')])
    for (const { usage: reported } of [requireGood(await stream()), await whole()]) {
      expect(reported?.output_tokens).toBe(3)
      expect(reported?.total_tokens).toBe((reported?.input_tokens ?? 0) + 3)
      const billed = await receipt()
      expect(billed).toMatchObject({ usageSource: 'estimated', usage: { completion_tokens: 3 } })
      expect(billed.usage.prompt_tokens).toBe(reported?.input_tokens)
    }
  })
})

describe('a refusal', () => {
  test('is a separate part', async () => {
    const { events, response } = await respond([refusal('I can'), refusal('not.'), finish('stop', usage)])
    expect(joined(events, 'response.refusal.delta')).toBe('I cannot.')
    expect(response.output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] }])
  })

  test('after text is the second part of the message', async () => {
    const { response } = await respond([
      text('Well. '),
      { choices: [{ delta: { refusal: 'No.' } }] },
      finish('stop', usage),
    ])
    expect(response.output).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'Well. ' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
  })
})

describe('a tool call', () => {
  test('is an item with its own id and that of the call', async () => {
    const chunks = [
      call({ id: 'call_1', arguments: '' }),
      toolCall({ arguments: '{"city":' }),
      toolCall({ arguments: '"Rome"}' }),
    ]
    const { events, response } = await respond([...chunks, finish('tool_calls', usage)])
    expect(joined(events, 'response.function_call_arguments.delta')).toBe('{"city":"Rome"}')
    expect(events.find(({ type }) => type === 'response.output_item.added')?.item).toMatchObject({
      arguments: '',
      status: 'in_progress',
    })
    expect(response.status).toBe('completed')
    expect(response.output).toMatchObject([
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'get_weather',
        arguments: '{"city":"Rome"}',
        status: 'completed',
      },
    ])
    expect(response.output[0]?.id).toMatch(/^fc_/)
  })

  test('without arguments gets {}', async () => {
    const { response } = await respond([call({ id: 'call_1' }), finish('tool_calls', usage)])
    expect(response.output).toMatchObject([{ arguments: '{}' }])
  })

  test('without arguments before another one and before text gets {} too', async () => {
    const chunks = [call({ id: 'a' }), call({ index: 1, id: 'b', arguments: '{"n":1}' }), text('Wait.')]
    const { events, response } = await respond([...chunks, finish('tool_calls', usage)])
    expect(response.output).toMatchObject([
      { arguments: '{}' },
      { arguments: '{"n":1}' },
      { content: [{ text: 'Wait.' }] },
    ])
    expect(joined(events, 'response.function_call_arguments.delta')).toBe('{}{"n":1}')
  })

  test('after text and reasoning follows them', async () => {
    const chunks = [
      reasoning('Hm.'),
      text('One moment.'),
      call({ id: 'call_1', arguments: '{}' }),
      finish('tool_calls', usage),
    ]
    expect(kinds((await respond(chunks)).response)).toEqual(['reasoning', 'message', 'function_call'])
  })

  test('between two texts keeps its position', async () => {
    const chunks = [text('A'), call({ id: 'call_1', arguments: '{}' }), text('B'), finish('stop', usage)]
    const { response } = await respond(chunks)
    expect(kinds(response)).toEqual(['message', 'function_call', 'message'])
  })
})

describe('parallel tool calls', () => {
  test('are consecutive items', async () => {
    const { response } = await respond([
      call({ id: 'a', arguments: '{"n":1}' }),
      call({ index: 1, id: 'b', arguments: '' }),
      toolCall({ index: 1, arguments: '{"n":2}' }),
      finish('tool_calls', usage),
    ])
    expect(outputs(response)).toEqual([
      ['a', '{"n":1}'],
      ['b', '{"n":2}'],
    ])
  })

  test('that are interleaved are sent one after the other', async () => {
    const { events, response } = await respond([
      call({ id: 'a', arguments: '{"n"' }),
      call({ index: 1, id: 'b', arguments: '{"n"' }),
      call({ index: 2, id: 'c', arguments: '{"n":3}' }),
      toolCall({ index: 1, arguments: ':2}' }),
      toolCall({ arguments: ':1}' }),
      finish('tool_calls', usage),
    ])
    expect(outputs(response)).toEqual([
      ['a', '{"n":1}'],
      ['b', '{"n":2}'],
      ['c', '{"n":3}'],
    ])
    expect(joined(events, 'response.function_call_arguments.delta')).toBe('{"n":1}{"n":2}{"n":3}')
  })

  test('wait for the previous one only until its arguments are complete', async () => {
    const gate = Promise.withResolvers<void>()
    const { url } = await scripted(async function* () {
      yield call({ id: 'a', arguments: '{}' })
      yield call({ index: 1, id: 'b', arguments: '{"n":' })
      await gate.promise
      yield toolCall({ index: 1, arguments: '2}' })
      yield finish('tool_calls', usage)
    })
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'x', stream: true }),
    })
    let seen = ''
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      seen += Buffer.from(piece).toString()
      // The second call is sent while the model still writes it.
      if (seen.includes(String.raw`"delta":"{\"n\":"`)) gate.resolve()
    }
    expect(seen).toContain('response.completed')
  })

  test('are completed before what the model says after it has begun them', async () => {
    const { response } = await respond([
      call({ index: 0, id: 'a', arguments: '{"city":' }),
      text('Wait'),
      call({ index: 1, id: 'b', arguments: '{' }),
      call({ index: 0, arguments: '"Oslo"}' }),
      reasoning('Hm.'),
      text(' a moment.'),
      call({ index: 1, arguments: '}' }),
      text(' Done.'),
      finish('tool_calls', usage),
    ])
    expect(kinds(response)).toEqual(['function_call', 'message', 'function_call', 'reasoning', 'message'])
    expect(outputs(response).filter(([id]) => id !== undefined)).toEqual([
      ['a', '{"city":"Oslo"}'],
      ['b', '{}'],
    ])
    expect(JSON.stringify(response.output)).toContain('" a moment. Done."')
  })

  test('that are truncated are all sent as far as they arrived', async () => {
    const { response } = await respond([
      call({ id: 'a', arguments: '{"n"' }),
      call({ index: 1, id: 'b', arguments: '{"m"' }),
      finish('length', usage),
    ])
    expect(outputs(response)).toEqual([
      ['a', '{"n"'],
      ['b', '{"m"'],
    ])
    expect(response.output.at(-1)).toMatchObject({ status: 'incomplete' })
  })
})

describe('reasoning', () => {
  const chunks = [reasoning('First '), reasoning('this.'), text('Done.'), finish('stop', usage)]

  test('is sent as text if no summary is requested', async () => {
    const { events, response } = await respond(chunks)
    expect(joined(events, 'response.reasoning_text.delta')).toBe('First this.')
    expect(response.output[0]).toMatchObject({
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'First this.' }],
    })
  })

  test('is sent as a summary on request', async () => {
    const { events, response } = await respond(chunks, { reasoning: { summary: 'auto' } })
    expect(joined(events, 'response.reasoning_summary_text.delta')).toBe('First this.')
    expect(response.output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'First this.' }] })
    expect(response.output[0]).not.toHaveProperty('content')
  })

  test('in the field "reasoning" is treated the same', async () => {
    const { response } = await respond([
      { choices: [{ delta: { reasoning: 'Hm.' } }] },
      text('x'),
      finish('stop', usage),
    ])
    expect(response.output[0]).toMatchObject({ content: [{ text: 'Hm.' }] })
  })

  test('in the middle of a response is a separate item', async () => {
    const { response } = await respond([reasoning('1'), text('A'), reasoning('2'), text('B'), finish('stop', usage)])
    expect(kinds(response)).toEqual(['reasoning', 'message', 'reasoning', 'message'])
  })

  test('has the state of the model, whether or not it is requested', async () => {
    const signed: ChatChunk = {
      choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', signature: 's' }] } }],
    }
    const all = [reasoning('Hm.'), signed, text('x'), finish('stop', usage)]
    const opaque = async (body: object) => (await respond(all, body)).response.output[0]?.['encrypted_content']
    expect(await opaque({ include: ['reasoning.encrypted_content'], store: false })).toMatch(/^mh1\./)
    expect(await opaque({})).toMatch(/^mh1\./)
    expect(await opaque({ store: false })).toMatch(/^mh1\./)
  })
})

describe('the end', () => {
  const ends: [FinishReason, string, string | null][] = [
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
  ]
  test.each(ends)('of a chat with "%s" makes the response %s', async (reason, status, why) => {
    const { response } = await respond([text('Some text'), finish(reason, usage)])
    expect(response.status).toBe(status)
    expect(response.incomplete_details).toEqual(why === null ? null : { reason: why })
    expect(response.output.at(-1)).toMatchObject({ status })
    if (status === 'incomplete') expect(response['completed_at']).toBeNull()
  })

  test('of an empty chat is a response without items', async () => {
    const { response } = await respond([{ choices: [{ delta: { content: '' } }] }, finish('length', usage)])
    expect(response.output).toEqual([])
  })
})

describe('a failure', () => {
  test('before the first content becomes an HTTP status', async () => {
    const { create } = await scripted(async function* () {
      yield* [{ choices: [{ delta: { role: 'assistant', content: '' } }] }]
      throw new Error('secret')
    })
    const answer = await create({ input: 'Hi', stream: true })
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('secret')
  })

  test('in the middle is an error event and a failed response with the completed items', async () => {
    const { stream, receipt } = await scripted(async function* () {
      yield reasoning('Hm.')
      yield text('Hel')
      throw new Error('secret')
    })
    const events = await stream()
    const response = requireGood(events)
    expect(events.at(-2)).toMatchObject({ type: 'error', code: 'server_error', error: { code: 'server_error' } })
    expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' }, usage: null })
    expect(kinds(response)).toEqual(['reasoning'])
    expect(JSON.stringify(events)).not.toContain('secret')
    expect(await receipt()).toMatchObject({ endpoint: 'responses', outcome: 'failed' })
  })

  test('after the status was sent early has the same form', async () => {
    const { stream } = await scripted(
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 30))
        yield* []
        throw new Error('secret')
      },
      { timeouts: { keepAliveMs: 5 } },
    )
    const events = await stream()
    requireGood(events)
    expect(events.map(({ type }) => type).filter((type) => type !== 'response.in_progress')).toEqual([
      'response.created',
      'error',
      'response.failed',
    ])
  })

  test('because the gateway closes has the same form', async () => {
    const { stream, gateway } = await scripted(async function* ({ signal }) {
      yield text('Hel')
      setImmediate(() => void gateway.close({ graceMs: 0 }))
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const events = await stream()
    expect(requireGood(events)).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  })
})

test('usage is charged, and the receipt names the endpoint', async () => {
  const { stream, receipt } = await scripted([text('x'), finish('stop', usage)])
  await stream()
  expect(await receipt()).toMatchObject({
    endpoint: 'responses',
    outcome: 'completed',
    stream: true,
    usage: usageOf(10, 20),
    usageSource: 'reported',
  })
})

test('the response contains every parameter', async () => {
  const { whole } = await scripted([text('x'), finish('stop', usage)])
  const body = {
    instructions: 'Be brief.',
    max_output_tokens: 50,
    max_tool_calls: 2,
    metadata: { a: 'b' },
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    reasoning: { effort: 'low' },
    safety_identifier: 's',
    service_tier: 'auto',
    temperature: 0.5,
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    tool_choice: 'none',
    tools: [{ type: 'function', name: 'f' }],
    top_logprobs: 2,
    top_p: 0.9,
    truncation: 'auto',
    user: 'u',
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
  }
  const response = await whole({ ...body, store: false })
  expect(response).toMatchObject({
    ...body,
    reasoning: { effort: 'low', summary: null },
    tools: [{ type: 'function', name: 'f', parameters: null, strict: null }],
    store: false,
  })
  expect(responseFaults(response)).toEqual([])
})

test('a non-streaming chat becomes the same events', async () => {
  const message = {
    role: 'assistant',
    content: 'Hello',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const { stream } = await scripted(() => ({ choices: [{ message, finish_reason: 'tool_calls' }], usage }) as never)
  const events: ResponseEvent[] = await stream()
  const output: readonly OutputItem[] = requireGood(events).output
  expect(output).toMatchObject([{ content: [{ text: 'Hello' }] }, { name: 'f', arguments: '{}' }])
})
