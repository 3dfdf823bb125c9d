import { anthropic, type AnthropicOptions } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { vendorRequests } from '../vendor-requests.ts'

const of = (model: string, options: AnthropicOptions = {}) =>
  vendorRequests((baseURL) => anthropic({ baseURL, apiKey: 'sk-ant', ...options }), model)

const lookup = {
  type: 'function',
  function: { name: 'lookup', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
}
const called = (id: string, text: string) => ({ id, type: 'function', function: { name: 'lookup', arguments: text } })

describe('messages', () => {
  test('sends the instructions at the beginning as system, and later ones at their place', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: 'Now.' },
        { role: 'user', content: 'Hi' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Be' },
            { type: 'text', text: 'brief.' },
          ],
        },
      ],
    })
    expect(body.system).toBe('Be kind.\n\nNow.')
    const later = { type: 'text', text: '<system>\nBe\n\nbrief.\n</system>' }
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }, later] }])
  })

  test('sends a request with only instructions as a user message', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({ messages: [{ role: 'system', content: 'Say hello.' }] })
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }])
    expect(body).not.toHaveProperty('system')
  })

  test('merges adjacent messages of one role, and drops empty text', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'c ' },
      ],
    })
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'c' }] },
    ])
  })

  test('sends the results of parallel calls together, before the next text of the user', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      tools: [lookup],
      messages: [
        { role: 'user', content: 'Look up both.' },
        { role: 'assistant', content: null, tool_calls: [called('a', '{"q":"x"}'), called('b', '')] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
        { role: 'user', content: 'And?' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
      ],
    })
    expect(body.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'lookup', input: { q: 'x' } },
          { type: 'tool_use', id: 'b', name: 'lookup', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'one' },
          { type: 'tool_result', tool_use_id: 'b', content: 'two' },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  test('keeps the text of an assistant message together with its calls', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Let me see.', tool_calls: [called('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content: '' },
      ],
    })
    expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual(['text', 'tool_use'])
    expect(body.messages[2].content).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: [] }])
  })

  test('replaces ids of tool calls that the API rejects, in calls and results', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [called('functions.lookup:0', '{}')] },
        { role: 'tool', tool_call_id: 'functions.lookup:0', content: 'one' },
        { role: 'assistant', tool_calls: [called('functions.lookup:0', '{}')] },
        { role: 'tool', tool_call_id: 'functions.lookup:0', content: 'two' },
      ],
    })
    const ids = body.messages.slice(1).map((message: never) => {
      const [{ id, tool_use_id: result }] = (message as { content: [{ id?: string; tool_use_id?: string }] }).content
      return id ?? result
    })
    expect(ids).toEqual(['functions_lookup_0', 'functions_lookup_0', 'functions_lookup_0_2', 'functions_lookup_0_2'])
  })

  test('sends broken arguments of an earlier call as text', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [called('a', '{"q": "x')] },
        { role: 'tool', tool_call_id: 'a', content: 'The arguments are no JSON.' },
      ],
    })
    expect(body.messages[1].content[0].input).toEqual({ invalid_arguments: '{"q": "x' })
  })

  test('repairs calls without results, and results without calls', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      tools: [lookup],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'tool', tool_call_id: 'gone', content: 'one' },
        { role: 'assistant', tool_calls: [called('a', '{}')] },
        { role: 'user', content: 'Go on' },
      ],
    })
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: ['Hi', 'The result of an earlier tool call:', 'one'].map((text) => ({ type: 'text', text })),
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'lookup', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'The call was not carried out.', is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ])
  })

  test('validates a large request, which the gateway has not validated', async () => {
    const { refused } = await of('claude-sonnet-5')
    const filler = { role: 'user', content: 'x'.repeat(20_000) }
    const wrong: readonly [object, string][] = [
      [{ role: 'user', content: 7 }, 'messages[1].content'],
      [{ role: 'user', content: [null] }, 'messages[1].content[0]'],
      [{ role: 'user', content: [{ type: 'text' }] }, 'messages[1].content[0].text'],
      [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }, 'messages[1].content[0].image_url.url'],
      [{ role: 'assistant', tool_calls: [{ id: 'a' }] }, 'messages[1].tool_calls[0].function'],
      [{ role: 'assistant', tool_calls: {} }, 'messages[1].tool_calls'],
      [{ role: 'robot', content: '' }, 'messages[1].role'],
    ]
    for (const [message, param] of wrong) {
      expect(await refused({ messages: [filler, message] })).toMatchObject({ status: 400, param })
    }
  })
})

async function part(content: object) {
  const { sent } = await of('claude-sonnet-5')
  return (await sent({ messages: [{ role: 'user', content: [content] }] })).messages[0].content[0]
}

const image = (url: string) => part({ type: 'image_url', image_url: { url, detail: 'low' } })
const file = (data: string) => part({ type: 'file', file: { filename: 'a.pdf', file_data: data } })

describe('images and documents', () => {
  test('sends the URL of an image', async () => {
    expect(await image('https://example.test/cat.png')).toEqual({
      type: 'image',
      source: { type: 'url', url: 'https://example.test/cat.png' },
    })
  })

  test('sends the data of a data URL with parameters, upper case and white space', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAECAw==' }
    for (const url of [
      'data:image/png;base64,AAECAw==',
      'data:image/png;charset=utf-8;base64,AAECAw==',
      'DATA:Image/PNG;name=a.png;BASE64,AAEC\nAw==',
      'data:image/png;base64,AAECAw%3D%3D',
      'data:image/png,%00%01%02%03',
    ]) {
      expect(await image(url)).toEqual({ type: 'image', source })
    }
    expect((await image('data:image/jpg;base64,AAEC')).source.media_type).toBe('image/jpeg')
  })

  test('sends PDF and text files as documents', async () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
    expect(await file('data:application/pdf;base64,JVBERi0=')).toEqual({
      type: 'document',
      title: 'a.pdf',
      source: pdf,
    })
    expect(await file('JVBERi0=')).toEqual({ type: 'document', title: 'a.pdf', source: pdf })
    expect((await file('data:text/plain;base64,w6k=')).source).toEqual({
      type: 'text',
      media_type: 'text/plain',
      data: 'é',
    })
  })

  test('rejects unsupported content by name', async () => {
    const { refused } = await of('claude-sonnet-5')
    const wrong: readonly [object, string][] = [
      [{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AAEC' } }, 'image_url.url'],
      [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, 'image_url.url'],
      [{ type: 'image_url', image_url: { url: 'data:image/png;base64,' } }, 'image_url.url'],
      [{ type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } }, 'input_audio'],
      [{ type: 'file', file: { file_id: 'file-1' } }, 'file.file_id'],
      [{ type: 'file', file: { file_data: 'data:application/zip;base64,AAEC' } }, 'file.file_data'],
      [{ type: 'hologram' }, 'type'],
    ]
    for (const [content, where] of wrong) {
      const refusal = await refused({ messages: [{ role: 'user', content: [content] }] })
      expect(refusal).toMatchObject({ status: 400, param: `messages[0].content[0].${where}` })
    }
  })

  test('passes on cache markers of Anthropic and of OpenAI', async () => {
    const mark = { type: 'ephemeral', ttl: '1h' }
    expect(await part({ type: 'text', text: 'a', cache_control: mark })).toHaveProperty('cache_control', mark)
    expect(await part({ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } })).toHaveProperty(
      'cache_control',
      { type: 'ephemeral' },
    )
  })
})

describe('tools', () => {
  test('passes a schema on unchanged', async () => {
    const { sent } = await of('claude-sonnet-5')
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { q: { anyOf: [{ type: 'string', minLength: 2 }, { $ref: '#/$defs/Q' }] } },
      additionalProperties: false,
      $defs: { Q: { type: 'number' } },
    }
    const body = await sent({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
    expect(body.tools).toEqual([{ name: 'f', input_schema: parameters }])
    expect(body).not.toHaveProperty('tool_choice')
  })

  test('declares a function without parameters with an empty object', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({ tools: [{ type: 'function', function: { name: 'f', description: 'F' } }] })
    expect(body.tools).toEqual([{ name: 'f', description: 'F', input_schema: { type: 'object' } }])
  })

  test.each([
    ['auto', true, { type: 'auto' }],
    ['required', true, { type: 'any' }],
    ['none', true, { type: 'none' }],
    [{ type: 'function', function: { name: 'lookup' } }, true, { type: 'tool', name: 'lookup' }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [
      { type: 'function', function: { name: 'lookup' } },
      false,
      { type: 'tool', name: 'lookup', disable_parallel_tool_use: true },
    ],
  ])('translates tool_choice %j with parallel calls %j', async (choice, parallel, expected) => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({ tools: [lookup], tool_choice: choice, parallel_tool_calls: parallel })
    expect(body.tool_choice).toEqual(expected)
  })

  test('declares only the allowed tools', async () => {
    const { sent } = await of('claude-sonnet-5')
    const other = { type: 'function', function: { name: 'other' } }
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'lookup' } }] }
    const body = await sent({
      tools: [lookup, other],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    })
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['lookup'])
    expect(body.tool_choice).toEqual({ type: 'any' })
  })

  test('declares the tools of earlier calls even if the request has none', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [called('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ],
    })
    expect(body.tools).toEqual([{ name: 'lookup', input_schema: { type: 'object' } }])
    expect(body.tool_choice).toEqual({ type: 'none' })
  })

  test('rejects a tool_choice that matches no tool by name', async () => {
    const { refused } = await of('claude-sonnet-5')
    expect(await refused({ tool_choice: 'required' })).toMatchObject({ status: 400, param: 'tool_choice' })
    const choice = { type: 'function', function: { name: 'nobody' } }
    expect(await refused({ tools: [lookup], tool_choice: choice })).toMatchObject({
      status: 400,
      param: 'tool_choice.function.name',
    })
  })

  test('rejects a forced call for a model that does not support it', async () => {
    const { refused } = await of('claude-opus-5-5')
    expect(await refused({ tools: [lookup], tool_choice: 'required' })).toMatchObject({ param: 'tool_choice' })
  })
})

describe('response_format', () => {
  const schema = {
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'Years' },
      tag: { type: 'string', format: 'color' },
    },
    required: ['age'],
  }
  const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } }

  test('sends a schema without the keywords that the vendor rejects', async () => {
    const { sent } = await of('claude-sonnet-5')
    const before = JSON.stringify(schema)
    const body = await sent({ response_format: format })
    expect(body.output_config.format).toEqual({
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: {
          age: { type: 'integer', description: 'Years\nminimum: 0.' },
          tag: { type: 'string', description: 'format: color.' },
        },
        required: ['age'],
        additionalProperties: false,
      },
    })
    expect(JSON.stringify(schema)).toBe(before)
  })

  test('gives an older model the schema as a forced tool', async () => {
    const { sent } = await of('claude-sonnet-4-20250514')
    const body = await sent({ response_format: format })
    expect(body.tools).toEqual([{ name: 'person', description: expect.any(String), input_schema: schema }])
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'person', disable_parallel_tool_use: true })
    expect(body).not.toHaveProperty('output_config')
  })

  test('lets an older model with other tools call any of them', async () => {
    const { sent } = await of('claude-sonnet-4-20250514')
    const body = await sent({ response_format: format, tools: [lookup] })
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['lookup', 'person'])
    expect(body.tool_choice).toEqual({ type: 'any' })
  })

  test('requests a JSON object with an instruction', async () => {
    const { sent } = await of('claude-sonnet-5')
    const body = await sent({ response_format: { type: 'json_object' } })
    expect(body.system).toMatch(/JSON object/)
  })
})

describe('thinking', () => {
  test.each([
    ['claude-opus-5', 'high', { type: 'adaptive', display: 'summarized' }, 'high'],
    ['claude-opus-5', 'minimal', { type: 'adaptive', display: 'summarized' }, 'low'],
    ['claude-opus-5', 'xhigh', { type: 'adaptive', display: 'summarized' }, 'xhigh'],
    ['claude-opus-4-6', 'xhigh', { type: 'adaptive', display: 'summarized' }, 'max'],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', 'none', undefined, 'low'],
    ['claude-sonnet-4-5', 'medium', { type: 'enabled', budget_tokens: 3000 }, undefined],
    ['claude-3-haiku-20240307', 'none', undefined, undefined],
  ])('%s at effort %s', async (model, effort, thinking, level) => {
    const { sent } = await of(model)
    const body = await sent({ reasoning_effort: effort, max_tokens: 10_000 })
    expect(body.thinking).toEqual(thinking)
    expect(body.output_config?.effort).toBe(level)
  })

  test('keeps the budget below the limit, and omits it if the limit is too small', async () => {
    const { sent } = await of('claude-sonnet-4-5')
    const budget = async (max_tokens: number) => (await sent({ reasoning_effort: 'low', max_tokens })).thinking
    expect(await budget(1_025)).toEqual({ type: 'enabled', budget_tokens: 1_024 })
    expect(await budget(1_024)).toBeUndefined()
  })

  test('rejects an effort for a model without reasoning by name', async () => {
    const { refused } = await of('claude-3-haiku-20240307')
    expect(await refused({ reasoning_effort: 'low' })).toMatchObject({
      status: 400,
      code: 'unsupported_value',
      param: 'reasoning_effort',
    })
  })

  test('turns thinking off for a forced call, and for a turn whose thinking the client lost', async () => {
    const { sent } = await of('claude-sonnet-4-5')
    const forced = await sent({ reasoning_effort: 'low', tools: [lookup], tool_choice: 'required' })
    expect(forced).not.toHaveProperty('thinking')
    const lost = await sent({
      reasoning_effort: 'low',
      tools: [lookup],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [called('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ],
    })
    expect(lost).not.toHaveProperty('thinking')
  })

  test('restores the order of thinking, and drops that of other vendors', async () => {
    const { sent } = await of('claude-sonnet-5')
    const format = 'anthropic-claude-v1'
    const order = ['thinking', 11, 'thinking', 'thinking', 'call']
    const body = await sent({
      tools: [lookup],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [called('a', '{}')],
          reasoning_details: [
            { type: 'reasoning.text', text: 'One', signature: 's1', format, index: 0, order },
            { type: 'reasoning.encrypted', data: 'd2', format, index: 1 },
            { type: 'reasoning.text', text: 'Foreign', signature: 's3', format: 'google-gemini-v1', index: 2 },
            { type: 'reasoning.text', text: 'Unsigned', format, index: 3 },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ],
    })
    expect(body.messages[1].content).toEqual([
      { type: 'thinking', thinking: 'One', signature: 's1' },
      { type: 'text', text: 'Let me see.' },
      { type: 'redacted_thinking', data: 'd2' },
      { type: 'tool_use', id: 'a', name: 'lookup', input: {} },
    ])
  })
})

test.each([
  ['another text', { content: 'Let me.' }],
  ['no call', { tool_calls: [] }],
  ['an order of other blocks', { order: [3, 'thinking', 'call'] }],
  ['an invalid order', { order: ['thinking', -11, 22, 'call'] }],
  ['an order that is not a list', { order: 'thinking' }],
])('puts the thinking first in a message that the client has changed: %s', async (_, changed) => {
  const { order = [11, 'thinking', 'call'], ...changes } = changed as { order?: unknown }
  const { sent } = await of('claude-sonnet-5')
  const thought = { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1', order }
  const message = { content: 'Let me see.', tool_calls: [called('a', '{}')], reasoning_details: [thought], ...changes }
  const { messages } = await sent({
    tools: [lookup],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', ...message },
      ...message.tool_calls.map(() => ({ role: 'tool', tool_call_id: 'a', content: 'one' })),
    ],
  })
  expect(messages[1].content.slice(0, 2)).toMatchObject([{ type: 'thinking', signature: 's' }, { type: 'text' }])
})

test('drops blank text everywhere', async () => {
  const { sent } = await of('claude-sonnet-5')
  const blank = [
    { type: 'text', text: ' \n' },
    { type: 'text', text: 'x' },
  ]
  const body = await sent({
    tools: [lookup],
    messages: [
      { role: 'system', content: '\n' },
      { role: 'user', content: blank },
      { role: 'assistant', content: '\n\n', tool_calls: [called('a', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: blank },
      { role: 'user', content: '\t' },
    ],
  })
  expect(body).not.toHaveProperty('system')
  expect(body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'lookup', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
  ])
})

describe('settings', () => {
  test('uses the client’s limit, otherwise the registry’s, otherwise the model’s', async () => {
    const { sent } = await of('claude-sonnet-4-5')
    expect((await sent({ max_tokens: 5 })).max_tokens).toBe(5)
    expect((await sent({ max_completion_tokens: 6, max_tokens: 5 })).max_tokens).toBe(6)
    expect((await sent({})).max_tokens).toBe(64_000)
    expect((await (await of('somebody-else')).sent({})).max_tokens).toBe(4_096)
    const configured = await of('somebody-else', { traits: { 'somebody-else': { maxTokens: 9 } } })
    expect((await configured.sent({})).max_tokens).toBe(9)
  })

  test('adjusts or drops sampling parameters that the model does not accept', async () => {
    const sampling = { temperature: 1.7, top_p: 0.5, top_k: 3 }
    expect(await (await of('claude-sonnet-4-20250514')).sent(sampling)).toMatchObject({
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
    })
    const onlyOne = await (await of('claude-sonnet-4-5')).sent(sampling)
    expect(onlyOne).toMatchObject({ temperature: 1, top_k: 3 })
    expect(onlyOne).not.toHaveProperty('top_p')
    const none = await (await of('claude-sonnet-5')).sent(sampling)
    for (const field of Object.keys(sampling)) expect(none).not.toHaveProperty(field)
    const thinking = await (await of('claude-sonnet-4-5')).sent({ temperature: 0, reasoning_effort: 'low' })
    expect(thinking).not.toHaveProperty('temperature')
  })

  test('rejects them by name if the host chooses so', async () => {
    const options = { sampling: 'refuse' } as const
    const refused = async (model: string, request: object) => (await (await of(model, options)).refused(request)).param
    expect(await refused('claude-sonnet-4-20250514', { temperature: 1.1 })).toBe('temperature')
    expect(await refused('claude-sonnet-5', { temperature: 0.5 })).toBe('temperature')
    expect(await refused('claude-sonnet-4-5', { temperature: 0.5, top_p: 0.5 })).toBe('top_p')
    expect((await (await of('claude-sonnet-5', options)).sent({ temperature: 1, top_p: 1 })).model).toBe(
      'claude-sonnet-5',
    )
  })

  test('sends stop, user and service tier under the vendor’s names', async () => {
    const { sent, refused } = await of('claude-sonnet-5')
    const body = await sent({ stop: 'END', user: 'u', service_tier: 'default', max_tokens: 1 })
    expect(body).toMatchObject({
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
    })
    expect(await refused({ stop: ['\n'] })).toMatchObject({ status: 400, param: 'stop' })
    expect(await refused({ service_tier: 'flex' })).toMatchObject({ status: 400, param: 'service_tier' })
  })

  test('replaces a user that could identify a person by its hash', async () => {
    const { sent } = await of('claude-sonnet-5')
    const id = async (fields: object) => ((await sent(fields)) as { metadata?: { user_id?: string } }).metadata?.user_id
    for (const opaque of ['user-1', '550e8400-e29b-41d4-a716-446655440000', 'a'.repeat(256), '123456']) {
      expect(await id({ user: opaque })).toBe(opaque)
    }
    const personal = [
      'ada@example.com',
      'Ada Lovelace',
      '+49 30 1234567',
      '0301234567',
      '030-123-4567',
      'a'.repeat(257),
    ]
    const hashes: (string | undefined)[] = []
    for (const user of personal) hashes.push(await id({ user }))
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(hashes).size).toBe(personal.length)
    expect(await id({ user: 'ada@example.com' })).toBe(hashes[0])
    expect(await id({ user: '' })).toBeUndefined()
    expect(await id({ user: 'u', safety_identifier: 's' })).toBe('s')
    expect(await id({ user: 'u', safety_identifier: null })).toBe('u')
  })

  test('rejects unsupported fields with the names of field and model', async () => {
    const { refused, sent } = await of('claude-sonnet-5')
    for (const [field, value] of Object.entries({
      n: 2,
      logprobs: true,
      logit_bias: { 1: 5 },
      seed: 1,
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      modalities: ['text', 'audio'],
      audio: { voice: 'x', format: 'wav' },
      verbosity: 'low',
      web_search_options: {},
      functions: [{ name: 'f' }],
    })) {
      const refusal = await refused({ [field]: value })
      expect(refusal).toMatchObject({ status: 400, code: 'unsupported_parameter', param: field })
      expect(refusal.message).toContain('"model"')
    }
    const harmless = { n: 1, logprobs: false, logit_bias: {}, frequency_penalty: 0, modalities: ['text'], store: true }
    const body = await sent({ ...harmless, metadata: { a: 'b' }, prompt_cache_key: 'k', unheard_of: 1 })
    expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model'])
  })

  test('drops unsupported fields if the host chooses so', async () => {
    const { sent } = await of('claude-sonnet-5', { dropParams: ['seed'] })
    expect(await sent({ seed: 1 })).not.toHaveProperty('seed')
  })

  test('accepts a base URL with and without /v1', async () => {
    for (const strip of [false, true]) {
      const { sent, url } = await vendorRequests(
        (baseURL) => anthropic({ baseURL: strip ? baseURL.slice(0, -3) : baseURL }),
        'claude-sonnet-5',
      )
      await sent({})
      expect(url()).toBe('/v1/messages')
    }
  })
})
