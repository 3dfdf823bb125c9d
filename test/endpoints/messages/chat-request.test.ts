/** Messages by a model that only supports chat: what the model is asked. */
import { type Call, type Provider } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import { GatewayError } from 'modelhatch'
import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { hostedWith } from '../../hosted.ts'
import { askMessage, scripted, streamOf } from './scripted.ts'

const answer = [text('Hi'), finish('stop')]
const tool = { name: 'weather', description: 'Weather', input_schema: { type: 'object', properties: { city: {} } } }

/** The chat request for a request for a message. */
async function asked(body: object, provider: Partial<Provider> = {}): Promise<ChatRequest> {
  const { create, asked: requests } = await scripted(answer, provider)
  const response = await create(body)
  expect(response.status, await response.text()).toBe(200)
  return requests[0] as ChatRequest
}

async function messages(list: readonly object[], provider: Partial<Provider> = {}, more: object = {}) {
  return (await asked({ messages: list, ...more }, provider)).messages
}

async function refusal(body: object): Promise<{ status: number; text: string }> {
  const { create } = await scripted(answer)
  const response = await create(body)
  return { status: response.status, text: await response.text() }
}

const call = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'weather', input })
const result = (id: string, content: unknown = 'Rain', more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})
const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const words = (value: string) => ({ type: 'text', text: value })
const toolCall = (id: string, args = '{}') => ({ id, type: 'function', function: { name: 'weather', arguments: args } })

describe('the fields', () => {
  test('have the names of a chat', async () => {
    const request = await asked({
      max_tokens: 500,
      temperature: 0.3,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['A', 'B'],
      tools: [tool],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'u1' },
      service_tier: 'auto',
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [] },
      some_field: 1,
    })
    expect(request).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 500,
      temperature: 0.3,
      top_p: 0.9,
      stop: ['A', 'B'],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'Weather', parameters: tool.input_schema },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      reasoning_effort: 'low',
      user: 'u1',
    })
  })

  test.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'weather' },
      { type: 'function', function: { name: 'weather' } },
    ],
  ])('the tool choice %j becomes %j', async (choice, expected) => {
    expect((await asked({ tools: [tool], tool_choice: choice })).tool_choice).toEqual(expected)
  })

  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 20_000 }, max_tokens: 40_000 }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 6_000 }, max_tokens: 40_000 }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 3_000 }, max_tokens: 40_000 }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 40_000 }, 'minimal'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{}, undefined],
  ])('the thinking of %j becomes the effort %s', async (body, effort) => {
    expect((await asked(body)).reasoning_effort).toBe(effort)
  })

  test('the output limit is at most that of the model, and a thinking budget shrinks with it', async () => {
    const requests: ChatRequest[] = []
    const chat = (made: Call<ChatRequest>) => {
      requests.push(made.request)
      return streamOf(answer)
    }
    const { url } = await hostedWith({ models: { m: { provider: { name: 'p', chat }, maxOutputTokens: 4_096 } } })
    await askMessage(url, { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 31_999 } })
    expect(requests[0]).toMatchObject({ max_tokens: 4_096, reasoning_effort: 'low' })
  })

  test('a long user id, which describes a device, is left out', async () => {
    expect(await asked({ metadata: { user_id: 'x'.repeat(65) } })).not.toHaveProperty('user')
  })

  test.each([{ stop_sequences: Array.from({ length: 65 }, String) }, { stop_sequences: ['x'.repeat(257)] }])(
    'stop sequences are bounded',
    async (body) => expect((await refusal(body)).status).toBe(400),
  )

  test.each(['mcp_servers', 'container', 'fallbacks'])('%s is refused by its name', async (field) => {
    const { status, text: body } = await refusal({ [field]: field === 'container' ? 'c1' : [{ name: 'x' }] })
    expect(status).toBe(400)
    expect(body).toContain(`\\"${field}\\"`)
  })

  test('fields that only some vendors have are sent to those', async () => {
    const chatTraits = { topK: true, cacheControl: true, maxStops: 6 }
    const request = await asked(
      {
        top_k: 5,
        stop_sequences: ['1', '2', '3', '4', '5'],
        tools: [{ ...tool, cache_control: { type: 'ephemeral' } }],
        messages: [user(words('a'), { ...words('b'), cache_control: { type: 'ephemeral', ttl: '1h' } })],
      },
      { chatTraits },
    )
    expect(request).toMatchObject({
      top_k: 5,
      stop: ['1', '2', '3', '4', '5'],
      tools: [{ cache_control: { type: 'ephemeral' } }],
      messages: [{ content: [{ type: 'text', text: 'a' }, { cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
    })
  })
})

test.each([
  ['bash_20250124', 'bash', ['command', 'restart']],
  ['text_editor_20250728', 'str_replace_based_edit_tool', ['command', 'path', 'insert_text']],
  ['text_editor_20250124', 'str_replace_editor', ['command', 'path']],
  ['memory_20250818', 'memory', ['command', 'old_path']],
])('the tool %s, which the client runs, is described to other models', async (type, name, fields) => {
  const request = await asked({ tools: [{ type, name }], tool_choice: { type: 'tool', name } })
  const [known] = request.tools ?? []
  expect(known).toMatchObject({ type: 'function', function: { name, description: expect.any(String) as string } })
  expect(Object.keys(known?.function?.parameters?.['properties'] as object)).toEqual(expect.arrayContaining(fields))
  expect(request.tool_choice).toEqual({ type: 'function', function: { name } })
})

describe('tools that run at Anthropic', () => {
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }

  test('are left out', async () => {
    expect((await asked({ tools: [search, tool] })).tools).toHaveLength(1)
    const forced = await asked({ tools: [search, tool], tool_choice: { type: 'tool', name: 'web_search' } })
    expect(forced.tools).toHaveLength(1)
    expect(forced).not.toHaveProperty('tool_choice')
  })

  test.each([true, false])('are named in a header and in the receipt, streamed: %s', async (stream) => {
    const { create, receipt } = await scripted(answer)
    const response = await create({ stream, tools: [search, tool, { type: 'code_execution_20250825', name: 'c' }] })
    await response.text()
    expect(response.headers.get('x-modelhatch-omitted')).toBe('web_search_20250305, code_execution_20250825')
    expect((await receipt()).omitted).toEqual(['web_search_20250305', 'code_execution_20250825'])
    const without = await create({ stream, tools: [tool] })
    await without.text()
    expect(without.headers.get('x-modelhatch-omitted')).toBeNull()
  })

  test('do not break a conversation in which they ran', async () => {
    const list = await messages([
      user(words('Search')),
      assistant(
        words('I search.'),
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: 'u' }],
        },
        words(' Found it.'),
      ),
      user(words('Thanks')),
    ])
    expect(list).toEqual([
      { role: 'user', content: 'Search' },
      { role: 'assistant', content: 'I search. Found it.' },
      { role: 'user', content: 'Thanks' },
    ])
  })
})

describe('instructions', () => {
  const inside = [
    user(words('Hi')),
    { role: 'system', content: 'Be brief.' },
    assistant(words('Ok')),
    user(words('Go')),
  ]

  test('before the conversation are one message', async () => {
    const system = [words('One'), { ...words('Two'), cache_control: { type: 'ephemeral' } }]
    expect(await messages([{ role: 'system', content: 'Three' }, user(words('Hi'))], {}, { system })).toEqual([
      { role: 'system', content: 'One\n\nTwo\n\nThree' },
      { role: 'user', content: 'Hi' },
    ])
  })

  test('inside of it stay in place for vendors that take them there', async () => {
    expect(await messages(inside, { chatTraits: { systemAnywhere: true } })).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Ok' },
      { role: 'user', content: 'Go' },
    ])
  })

  test('inside of it are part of the user message for all others', async () => {
    expect(await messages(inside)).toEqual([
      { role: 'user', content: 'Hi\n\n<system>\nBe brief.\n</system>' },
      { role: 'assistant', content: 'Ok' },
      { role: 'user', content: 'Go' },
    ])
  })

  test('between calls and their results come after the results', async () => {
    const list = [
      user(words('Hi')),
      assistant(call('a')),
      { role: 'system', content: [words('Be brief.')] },
      user(result('a')),
    ]
    expect(await messages(list, { chatTraits: { systemAnywhere: true } })).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'a' }] },
      { role: 'tool', tool_call_id: 'a' },
      { role: 'system', content: 'Be brief.' },
    ])
  })

  test('alone are what the user says', async () => {
    expect(await messages([{ role: 'system', content: 'Say hi.' }])).toEqual([{ role: 'user', content: 'Say hi.' }])
  })

  test('may add tools', async () => {
    const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...tool, name: 'added' } } }
    const request = await asked({ tools: [tool], messages: [user(words('Hi')), { role: 'system', content: [added] }] })
    expect(request.tools?.map((each) => each.function?.name)).toEqual(['weather', 'added'])
    expect(request.messages).toEqual([{ role: 'user', content: 'Hi' }])
  })
})

describe('calls and results', () => {
  test('are messages of their own, with the results before what the user says', async () => {
    const list = await messages([
      user(words('Hi')),
      assistant(words('Look'), call('a', { city: 'Oslo' }), call('b')),
      user(words('Also'), result('b', [words('Sun'), words('Wind')]), result('a', 'Broken', { is_error: true })),
    ])
    expect(list).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Look', tool_calls: [toolCall('a', '{"city":"Oslo"}'), toolCall('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'Sun\nWind' },
      { role: 'tool', tool_call_id: 'a', content: 'Error:\nBroken' },
      { role: 'user', content: 'Also' },
    ])
  })

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }

  test('with images are followed by them', async () => {
    const list = await messages([user(words('Hi')), assistant(call('a')), user(result('a', [image]), words('See?'))])
    expect(list.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'See the content below.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The content of the result of the call a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'See?' },
        ],
      },
    ])
  })

  test('with images keep them for vendors that take them there', async () => {
    const chatTraits = { richResults: true }
    const list = await messages([user(words('Hi')), assistant(call('a')), user(result('a', [words('x'), image]))], {
      chatTraits,
    })
    expect(list[2]).toMatchObject({ role: 'tool', content: [{ text: 'x' }, { type: 'image_url' }] })
  })

  test('without each other are repaired', async () => {
    const list = await messages([
      user(result('lost', 'An old result')),
      assistant(call('a'), call('b')),
      user(result('b'), result('b', 'Again')),
      assistant(words('Ok'), call('c')),
    ])
    expect(list).toEqual([
      { role: 'user', content: 'The result of an earlier tool call:\n\nAn old result' },
      { role: 'assistant', content: null, tool_calls: [toolCall('a'), toolCall('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'Rain' },
      { role: 'tool', tool_call_id: 'a', content: 'Error:\nThe call was not carried out.' },
      { role: 'user', content: 'The result of an earlier tool call:\n\nAgain' },
      { role: 'assistant', content: 'Ok', tool_calls: [toolCall('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'Error:\nThe call was not carried out.' },
    ])
  })

  test('that several messages carry belong to one turn', async () => {
    const list = await messages([
      user(words('Hi')),
      assistant(words('Look')),
      assistant(call('a')),
      assistant(call('b')),
      user(result('a')),
      user(words('then')),
      user(result('b')),
    ])
    expect(list).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Look', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a' },
      { role: 'tool', tool_call_id: 'b' },
      { role: 'user', content: 'then' },
    ])
  })

  test('are followed by a short answer for vendors that let no user speak after results', async () => {
    const list = [user(words('Hi')), assistant(call('a')), user(result('a'), words('Go on'))]
    const roles = (await messages(list, { chatTraits: { userAfterResults: false } })).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })

  test('with the same id twice in a turn are refused by name', async () => {
    const { status, text: body } = await refusal({ messages: [user(words('Hi')), assistant(call('a'), call('a'))] })
    expect(status).toBe(400)
    expect(body).toContain('messages[1].content[1].id')
  })
})

describe('what the user shows', () => {
  test.each([
    [
      { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
      { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
    ],
    [
      { type: 'document', title: 'A', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
      { type: 'file', file: { filename: 'A', file_data: 'data:application/pdf;base64,JVBE' } },
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } },
      { type: 'file', file: { filename: 'document.pdf', file_data: 'https://x.test/a.pdf' } },
    ],
  ])('%j', async (block, part) => {
    expect((await messages([user(block)]))[0]?.content).toEqual([part])
  })

  test.each([
    [
      { type: 'document', title: 'A', context: 'c', source: { type: 'text', media_type: 'text/plain', data: 'Text' } },
      '<document>\nTitle: A\nContext: c\nText\n</document>',
    ],
    [
      {
        type: 'document',
        source: { type: 'base64', media_type: 'text/plain', data: Buffer.from('é').toString('base64') },
      },
      '<document>\né\n</document>',
    ],
    [{ type: 'document', source: { type: 'content', content: [words('a'), words('b')] } }, 'a\n\nb'],
    [
      { type: 'search_result', title: 'T', source: 'S', content: [words('found')] },
      '<search_result>\nTitle: T\nSource: S\nfound\n</search_result>',
    ],
    [
      { type: 'container_upload', file_id: 'f' },
      '[Content of the type "container_upload", which cannot be shown here]',
    ],
  ])('%j is text', async (block, expected) => {
    expect((await messages([user(block)]))[0]?.content).toBe(expected)
  })

  test('in a file at Anthropic is refused by name', async () => {
    const { status, text: body } = await refusal({
      messages: [user({ type: 'image', source: { type: 'file', file_id: 'f' } })],
    })
    expect(status).toBe(400)
    expect(body).toContain('messages[0].content[0].source')
  })

  test('in the place of nothing is refused', async () => {
    expect((await refusal({ messages: [user(words(''))] })).status).toBe(400)
  })
})

describe('what a model refuses is left out', () => {
  const refusing = (param: string | null, values: (request: ChatRequest) => boolean) =>
    scripted(async function* (made: { request: ChatRequest }) {
      if (values(made.request)) {
        throw new GatewayError('unsupported_value', { message: 'no', ...(param !== null && { param }) })
      }
      yield* answer
    } as never)

  test('and the next request does not try it again', async () => {
    const { create, asked: requests } = await refusing(
      'reasoning_effort',
      ({ reasoning_effort: e }) => e === 'max' || e === 'xhigh',
    )
    const body = { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }
    expect((await create(body)).status).toBe(200)
    expect((await create(body)).status).toBe(200)
    expect(requests.map(({ reasoning_effort: effort }) => effort)).toEqual(['max', 'xhigh', 'high', 'high'])
  })

  test('one field after the other', async () => {
    const { create, asked: requests } = await scripted(async function* (made: { request: ChatRequest }) {
      const param = ['temperature', 'top_p', 'stop'].find((name) => made.request[name] !== undefined)
      if (param !== undefined) throw new GatewayError('unsupported_parameter', { param })
      yield text('one END two')
      yield finish('stop')
    } as never)
    const response = await create({ temperature: 0.1, top_p: 0.2, stop_sequences: ['END'] })
    expect(await response.json()).toMatchObject({ content: [{ text: 'one ' }], stop_sequence: 'END' })
    expect(requests).toHaveLength(4)
  })

  test('if the refusal names no field, it is about the effort', async () => {
    const { create, asked: requests } = await refusing(null, ({ reasoning_effort: effort }) => effort !== undefined)
    const body = { output_config: { effort: 'high' } }
    expect((await create(body)).status).toBe(200)
    expect((await create(body)).status).toBe(200)
    expect(requests.map(({ reasoning_effort: effort }) => effort)).toEqual(['high', undefined, undefined])
  })

  test.each([null, 'response_format'])(
    'a schema is put in words for a model that cannot be held to it: %s',
    async (param) => {
      const schema = { type: 'object', properties: { title: { type: 'string' } } }
      const { create, asked: requests } = await refusing(param, ({ response_format: f }) => f?.type === 'json_schema')
      const body = { output_config: { format: { type: 'json_schema', schema } } }
      expect((await create(body)).status).toBe(200)
      expect((await create(body)).status).toBe(200)
      expect(requests.map(({ response_format: format }) => format?.type)).toEqual([
        'json_schema',
        'json_object',
        'json_schema',
        'json_object',
      ])
      expect(requests[3]?.messages).toEqual([
        { role: 'user', content: expect.stringContaining(`schema:\n${JSON.stringify(schema)}`) as string },
      ])
    },
  )

  test.each([null, 'max_tokens'])('a limit above that of the model is lowered: %s', async (param) => {
    const { create, asked: requests } = await refusing(param, ({ max_tokens: limit }) => Number(limit) > 16_384)
    expect((await create({ max_tokens: 32_000 })).status).toBe(200)
    expect(requests.map(({ max_tokens: limit }) => limit)).toEqual([32_000, 16_384])
    const strict = await refusing('max_tokens', () => true)
    expect((await strict.create({ max_tokens: 100 })).status).toBe(400)
    expect(strict.asked).toHaveLength(1)
  })

  test.each([
    ['unsupported_value', 2],
    ['unsupported_parameter', 1],
  ] as const)('only as far as it was refused: %s', async (code, repeated) => {
    const { create, asked: requests } = await scripted(async function* (made: { request: ChatRequest }) {
      if (made.request.temperature !== undefined) throw new GatewayError(code, { param: 'temperature' })
      yield* answer
    } as never)
    for (const temperature of [0.1, 0.1, 0.2]) expect((await create({ temperature })).status).toBe(200)
    expect(requests.filter(({ temperature }) => temperature !== undefined)).toHaveLength(repeated)
  })

  test('a refusal for another reason is the answer', async () => {
    const { create, asked: requests } = await refusing(null, () => true)
    expect((await create({ output_config: { effort: 'high' } })).status).toBe(400)
    expect((await create({})).status).toBe(400)
    expect(requests).toHaveLength(3)
  })

  test('a refusal names the field of the message', async () => {
    const { create } = await refusing('max_tokens', () => true)
    const messageFields = await refusing('response_format', () => true)
    expect(await (await create({})).text()).toContain('no')
    expect((await messageFields.create({})).status).toBe(400)
  })
})
