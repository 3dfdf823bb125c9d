/** Messages by a model that only supports chat: the events. */
import { finish, reasoning, text, toolCall } from '../../chat-chunks.ts'
import { describe, expect, test } from 'vitest'
import { requireOrder } from './event-order.ts'
import { scripted } from './scripted.ts'

const tools = [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }]
/** Of a call that the model itself has made. */
const caller = { type: 'direct' }
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

describe('a text', () => {
  test('is one block', async () => {
    const { stream } = await scripted([text('Hello'), text(' world'), finish('stop', usage)])
    const message = await stream()
    expect(message.content).toEqual([{ type: 'text', text: 'Hello world', citations: null }])
    expect(message.stopReason).toBe('end_turn')
    expect(message.model).toBe('m')
  })

  test('is the same for a client that does not stream', async () => {
    const { whole } = await scripted([text('Hello'), text(' world'), finish('stop', usage)])
    const message = await whole()
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello world' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    })
    expect(message.id).toMatch(/^msg_/)
  })

  test('of white space alone before a call is left out, because vendors reject it in the next turn', async () => {
    const { stream } = await scripted([
      text('\n'),
      text(' '),
      toolCall({ name: 'weather', arguments: '{}' }),
      finish('tool_calls'),
    ])
    expect((await stream({ tools })).content).toMatchObject([{ type: 'tool_use' }])
  })

  test('keeps its leading white space', async () => {
    const { stream } = await scripted([text('\n'), text(' a'), finish('stop')])
    expect((await stream()).content).toEqual([{ type: 'text', text: '\n a', citations: null }])
  })
})

describe('calls', () => {
  test('that are written at the same time become one block after the other', async () => {
    const { stream } = await scripted([
      text('Let me look.'),
      toolCall({ index: 0, id: 'call_a', name: 'weather', arguments: '{"city":' }),
      toolCall({ index: 1, id: 'call_b', name: 'weather', arguments: '{"city"' }),
      toolCall({ index: 0, arguments: '"Oslo"}' }),
      toolCall({ index: 1, arguments: ':"Rome"}' }),
      finish('tool_calls', usage),
    ])
    const message = await stream({ tools })
    expect(message.content).toEqual([
      { type: 'text', text: 'Let me look.', citations: null },
      { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Oslo' }, caller },
      { type: 'tool_use', id: 'call_b', name: 'weather', input: { city: 'Rome' }, caller },
    ])
    expect(message.stopReason).toBe('tool_use')
  })

  test('without arguments have an empty object', async () => {
    const { stream, whole } = await scripted([toolCall({ id: 'call_a', name: 'weather' }), finish('tool_calls')])
    const call = { type: 'tool_use', id: 'call_a', name: 'weather', input: {}, caller }
    expect((await stream({ tools })).content).toEqual([call])
    expect((await whole({ tools })).content).toEqual([call])
  })

  test('get ids of the usual form if the vendor has none, and if Claude would reject those of the vendor', async () => {
    const { stream } = await scripted([
      toolCall({ index: 0, name: 'weather', arguments: '{}' }),
      toolCall({ index: 1, id: 'functions.weather:1', name: 'weather', arguments: '{}' }),
      finish('tool_calls'),
    ])
    const { content } = await stream({ tools })
    expect(content).toMatchObject([{ id: expect.stringMatching(/^toolu_/) }, { id: expect.stringMatching(/^toolu_/) }])
  })

  test('that the output limit cuts end the message', async () => {
    const { stream, whole } = await scripted([
      toolCall({ id: 'a', name: 'weather', arguments: '{"city":"Os' }),
      finish('length'),
    ])
    const message = await stream({ tools })
    expect(message.stopReason).toBe('max_tokens')
    expect(message.content).toEqual([{ type: 'tool_use', id: 'a', name: 'weather', input: '{"city":"Os', caller }])
    expect(await whole({ tools })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ type: 'tool_use', input: {} }],
    })
  })

  test('after text go on with text', async () => {
    const { stream } = await scripted([
      toolCall({ id: 'a', name: 'weather', arguments: '{}' }),
      text('Done.'),
      finish('tool_calls'),
    ])
    expect((await stream({ tools })).content).toMatchObject([{ type: 'tool_use' }, { type: 'text', text: 'Done.' }])
  })

  test('and what the model says between them come one after the other, as it began them', async () => {
    const { stream, whole } = await scripted([
      toolCall({ index: 0, id: 'a', name: 'weather', arguments: '{"city":' }),
      text('Wait'),
      toolCall({ index: 1, id: 'b', name: 'weather', arguments: '{' }),
      toolCall({ index: 0, arguments: '"Oslo"}' }),
      reasoning('Hm.'),
      text(' a moment.'),
      toolCall({ index: 1, arguments: '}' }),
      text(' Done.'),
      finish('tool_calls', usage),
    ])
    const content = [
      { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
      { type: 'text', text: 'Wait' },
      { type: 'tool_use', id: 'b', name: 'weather', input: {} },
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: ' a moment. Done.' },
    ]
    expect((await stream({ tools, thinking: { type: 'adaptive' } })).content).toMatchObject(content)
    expect((await whole({ tools, thinking: { type: 'adaptive' } })).content).toMatchObject(content)
  })

  test('that stay incomplete are followed by what the model said', async () => {
    const { stream } = await scripted([
      toolCall({ id: 'a', name: 'weather', arguments: '{"city":"Os' }),
      text('Wait.'),
      finish('length'),
    ])
    const message = await stream({ tools })
    expect(message.stopReason).toBe('max_tokens')
    expect(message.content).toEqual([
      { type: 'tool_use', id: 'a', name: 'weather', input: '{"city":"Os', caller },
      { type: 'text', text: 'Wait.', citations: null },
    ])
  })

  test('have the name that the client knows, however long', async () => {
    const name = `mcp__${'long'.repeat(20)}__tool`
    const { stream, asked } = await scripted((call) => {
      const [tool] = call.request.tools ?? []
      return (async function* () {
        yield toolCall({ id: 'a', name: tool?.function?.name ?? '', arguments: '{}' })
        yield finish('tool_calls')
      })()
    })
    const { content } = await stream({ tools: [{ name, input_schema: { type: 'object' } }] })
    expect(content).toMatchObject([{ type: 'tool_use', name }])
    expect(asked[0]?.tools?.[0]?.function?.name.length).toBeLessThanOrEqual(64)
  })
})

describe('state of a call', () => {
  const signed = (index: number, more: object) => ({
    choices: [
      {
        delta: {
          tool_calls: [
            { index, id: `c${index}`, type: 'function', function: { name: 'weather', arguments: '{}' }, ...more },
          ],
        },
      },
    ],
  })
  const state = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } })
  const thinking = { type: 'thinking', thinking: '', signature: expect.stringMatching(/^mh1\.scripted\./) as string }
  const weather = { type: 'tool_use', name: 'weather' }

  test('is in a block before it', async () => {
    const { stream } = await scripted([
      signed(0, state('s0')),
      signed(1, {}),
      signed(2, state('s2')),
      finish('tool_calls'),
    ])
    expect((await stream({ tools })).content).toMatchObject([thinking, weather, weather, thinking, weather])
  })

  test('is in the reasoning before it', async () => {
    const { stream } = await scripted([reasoning('Hm'), signed(0, state('s0')), finish('tool_calls')])
    const body = { tools, thinking: { type: 'adaptive' } }
    expect((await stream(body)).content).toMatchObject([{ ...thinking, thinking: 'Hm' }, weather])
  })

  test('returns to the vendor with its call, and to no other vendor', async () => {
    const { stream, asked } = await scripted([reasoning('Hm'), signed(0, state('s0')), finish('tool_calls')])
    const { content } = await stream({ tools, thinking: { type: 'adaptive' } })
    const result = { type: 'tool_result', tool_use_id: 'c0', content: 'Rain' }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ]
    await stream({ tools, messages })
    const other = await scripted([text('Hi'), finish('stop')], { maker: 'other' })
    await other.stream({ tools, messages })
    const call = { id: 'c0', type: 'function', function: { name: 'weather', arguments: '{}' } }
    expect(asked[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm',
      tool_calls: [{ ...call, ...state('s0') }],
    })
    expect(other.asked[0]?.messages[1]).toEqual({ role: 'assistant', content: null, tool_calls: [call] })
  })

  test('that arrives after it is in a block behind it', async () => {
    const late = { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] } }] }
    const { stream } = await scripted([signed(0, {}), late, finish('tool_calls')])
    expect((await stream({ tools })).content).toMatchObject([weather, thinking])
  })
})

describe('state of a text', () => {
  const signature = { extra_content: { google: { thought_signature: 's' } } }
  const state = { choices: [{ delta: signature }] }
  const thinking = { type: 'thinking', thinking: '', signature: expect.stringMatching(/^mh1\.scripted\./) as string }
  const late = [text('Hi'), text(' there'), state, finish('stop')]
  const answer = { type: 'text', text: 'Hi there', citations: null }

  test('that arrives after it is in a block behind it, or before it in a message that is not streamed', async () => {
    const { stream, whole } = await scripted(late)
    for (const body of [{ tools }, { thinking: { type: 'adaptive' } }]) {
      expect((await stream(body)).content).toMatchObject([answer, thinking])
      expect((await whole(body)).content).toMatchObject([thinking, answer])
    }
  })

  test('that arrives before it, or with it, is in a block before it', async () => {
    for (const chunks of [
      [state, text('Hi there'), finish('stop')],
      [{ choices: [{ delta: { content: 'Hi there', ...signature } }] }, finish('stop')],
    ]) {
      const { stream, whole } = await scripted(chunks)
      expect((await stream({ tools })).content).toMatchObject([thinking, answer])
      expect((await whole({ tools })).content).toMatchObject([thinking, answer])
    }
    const { whole } = await scripted(() => ({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi there', refusal: null, ...signature },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
    }))
    expect((await whole({ tools })).content).toMatchObject([thinking, answer])
    expect((await whole()).content).toEqual([answer])
  })

  test('returns to the vendor with its text, and to no other vendor', async () => {
    const { stream, whole, asked } = await scripted(late)
    const other = await scripted(late, { maker: 'other' })
    for (const { content } of [await stream({ tools }), await whole({ tools })]) {
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
        { role: 'user', content: 'And?' },
      ]
      await stream({ tools, messages })
      expect(asked.at(-1)?.messages[1]).toEqual({ role: 'assistant', content: 'Hi there', ...signature })
      await other.stream({ tools, messages })
      expect(other.asked.at(-1)?.messages[1]).toEqual({ role: 'assistant', content: 'Hi there' })
    }
  })

  test('has no block without a text, nor for a client that expects text alone', async () => {
    const { stream } = await scripted([text(' '), state, finish('stop')])
    expect((await stream({ tools })).content).toEqual([])
    const { stream: plain, whole } = await scripted(late)
    expect((await plain()).content).toEqual([answer])
    expect((await whole()).content).toEqual([answer])
  })

  test('has no block behind it for Claude Code, which takes the last one for the answer', async () => {
    const { url } = await scripted(late)
    const ask = (stream: boolean) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: {
          'x-api-key': 'sk-test',
          'content-type': 'application/json',
          'user-agent': 'claude-cli/2.1.330 (external, sdk-cli)',
        },
        body: JSON.stringify({
          model: 'm',
          max_tokens: 10,
          messages: [{ role: 'user', content: 'Hi' }],
          tools,
          stream,
        }),
      })
    expect(requireOrder(await (await ask(true)).text()).content).toEqual([answer])
    expect(await (await ask(false)).json()).toMatchObject({ content: [thinking, answer] })
  })
})

describe('reasoning', () => {
  const script = [reasoning('Hm'), reasoning('m.'), text('Hi'), finish('stop', usage)]

  test('is a signed block for a client that asks for it', async () => {
    const { stream } = await scripted(script)
    const { content } = await stream({ thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 })
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', signature: expect.stringMatching(/^mh1\.scripted\./) },
      { type: 'text', text: 'Hi', citations: null },
    ])
  })

  test('has no text for a client that asks for none of it', async () => {
    const { stream } = await scripted(script)
    const { content } = await stream({ thinking: { type: 'adaptive', display: 'omitted' } })
    expect(content).toMatchObject([{ type: 'thinking', thinking: '' }, { type: 'text' }])
  })

  test.each([{}, { thinking: { type: 'disabled' } }])(
    'is left out for a client that expects text alone: %j',
    async (body) => {
      const { stream } = await scripted(script)
      expect((await stream(body)).content).toEqual([{ type: 'text', text: 'Hi', citations: null }])
    },
  )
})

describe('the end', () => {
  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ] as const)('%s becomes %s', async (reason, expected) => {
    const { stream, whole } = await scripted([text('Hi'), finish(reason)])
    expect((await stream()).stopReason).toBe(expected)
    expect((await whole()).stop_reason).toBe(expected)
  })

  test('is a call even if the vendor says otherwise', async () => {
    const { stream } = await scripted([toolCall({ name: 'weather', arguments: '{}' }), finish('stop')])
    expect((await stream({ tools })).stopReason).toBe('tool_use')
  })

  test('is a refusal if the model refuses in words', async () => {
    const { stream } = await scripted([{ choices: [{ delta: { refusal: 'I cannot.' } }] }, finish('stop')])
    const message = await stream()
    expect(message.content).toEqual([{ type: 'text', text: 'I cannot.', citations: null }])
    expect(message.stopReason).toBe('refusal')
  })

  test.each(['stop_reason', 'matched_stop'])('names the stop sequence that the vendor tells in %s', async (field) => {
    const { stream } = await scripted([text('Hi'), { choices: [{ delta: {}, finish_reason: 'stop', [field]: 'END' }] }])
    const { stopReason, stopSequence } = await stream({ stop_sequences: ['END'] })
    expect([stopReason, stopSequence]).toEqual(['stop_sequence', 'END'])
  })

  test('comes before a stop sequence beyond those that the vendor takes', async () => {
    const { stream, asked } = await scripted([text('one S'), text('TOP5 two'), text(' three'), finish('stop', usage)])
    const message = await stream({ stop_sequences: ['A', 'B', 'C', 'D', 'STOP5'] })
    expect(asked[0]?.stop).toEqual(['A', 'B', 'C', 'D'])
    expect(message.content).toEqual([{ type: 'text', text: 'one ', citations: null }])
    expect([message.stopReason, message.stopSequence]).toEqual(['stop_sequence', 'STOP5'])
    expect(message.usage).toMatchObject({ output_tokens: 20 })
  })
})

describe('usage', () => {
  const cached = {
    ...usage,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30, cache_write_1h_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }

  test('does not count what a cache read or wrote as input', async () => {
    const { stream } = await scripted([text('Hi'), finish('stop', cached)])
    expect((await stream()).usage).toMatchObject({
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    })
  })

  test('is estimated in the first event, and in the last one if the vendor reports none', async () => {
    const { stream, receipt } = await scripted([text('Hello there'), finish('stop')])
    const { firstUsage, usage: last } = await stream()
    expect(Number(firstUsage['input_tokens'])).toBeGreaterThan(10)
    expect(last['input_tokens']).toBe(firstUsage['input_tokens'])
    expect(last['output_tokens']).toBe(3)
    expect(await receipt()).toMatchObject({ endpoint: 'messages', usageSource: 'estimated', outcome: 'completed' })
  })

  test('is in the receipt', async () => {
    const { stream, receipt } = await scripted([text('Hi'), finish('stop', cached)])
    await stream()
    expect(await receipt()).toMatchObject({ usage: cached, usageSource: 'reported' })
  })
})

test.each([true, false])('the request made for the model is released with the first content: %s', async (releases) => {
  const seen: unknown[] = []
  const { stream, asked } = await scripted(
    async function* () {
      yield text('Hi')
      // A turn later the first content is at the client.
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen.push(asked[0]?.messages)
      yield finish('stop')
    } as never,
    { releasesCalls: releases },
  )
  await stream()
  expect(seen).toEqual([releases ? null : [{ role: 'user', content: 'Hi' }]])
})
