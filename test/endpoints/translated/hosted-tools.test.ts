/** Tools that run at the vendor, asked for in another wire format. */
import { memoryLedger } from '../../../src/index.ts'
import { defineProvider, type Call, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { MessageRequest } from '../../../src/wire/messages.ts'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { hostedWith } from '../../hosted.ts'
import { framesOf } from '../../matrix/cells.ts'
import { clients } from '../../matrix/clients.ts'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    {
      type: 'text',
      text: 'It rains.',
      citations: [
        {
          type: 'web_search_result_location',
          url: 'https://weather.example/',
          title: 'Weather',
          encrypted_index: 'e',
          cited_text: 'rain',
        },
      ],
    },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
}

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'It rains.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
} as unknown as ResponseObject

async function ask(make: (sent: unknown[]) => Provider, path: string, body: object, allow: readonly string[]) {
  const sent: Record<string, unknown>[] = []
  const { url, receipt } = await hostedWith({ models: { m: { provider: make(sent), allow } } })
  const answer = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
  })
  return { sent, answer, receipt }
}

const speaksMessages = (sent: unknown[]) =>
  defineProvider({
    name: 'messages',
    message({ request }: Call<MessageRequest>) {
      sent.push(request)
      return message as never
    },
  })

const speaksResponses = (sent: unknown[]) =>
  defineProvider({
    name: 'responses',
    respond({ request }) {
      sent.push(request)
      return response
    },
  })

const speaksChats = defineProvider({
  name: 'chats',
  chat() {
    throw new Error('a chat has no such tool')
  },
})

const own = { name: 'f', input_schema: { type: 'object' } }
const messages = [{ role: 'user', content: 'Does it rain?' }]
const berlin = { city: 'Berlin', country: 'DE' }

describe('a search', () => {
  test('of a chat runs at a vendor with Messages, with its sources and its price', async () => {
    const options = { search_context_size: 'low', user_location: { type: 'approximate', approximate: berlin } }
    const { sent, answer, receipt } = await ask(
      speaksMessages,
      'chat/completions',
      { messages, web_search_options: options },
      ['web_search', 'web_search_options'],
    )
    expect(sent[0]?.['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', ...berlin } },
    ])
    const { choices } = (await answer.json()) as { choices: { message: { annotations: object[] } }[] }
    expect(choices[0]?.message.annotations).toMatchObject([
      { type: 'url_citation', url_citation: { url: 'https://weather.example/' } },
    ])
    expect(await receipt()).toMatchObject({ usage: { server_tool_use: { web_search_requests: 1 } } })
  })

  test('of a response keeps its domains at a vendor with Messages', async () => {
    const tools = [{ type: 'web_search', filters: { allowed_domains: ['weather.example'] } }]
    const { sent } = await ask(speaksMessages, 'responses', { input: 'Does it rain?', tools }, ['web_search'])
    expect(sent[0]?.['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['weather.example'] },
    ])
  })

  test('of a message runs at a vendor with Responses', async () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', ...berlin } },
    ]
    const { sent } = await ask(speaksResponses, 'messages', { max_tokens: 100, messages, tools }, ['web_search'])
    expect(sent[0]?.['tools']).toEqual([{ type: 'web_search', user_location: { type: 'approximate', ...berlin } }])
  })

  test('that must not use some sites is left out where the vendor cannot promise that, and named', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', blocked_domains: ['bad.example'] }, own]
    const { sent, answer } = await ask(speaksResponses, 'messages', { max_tokens: 100, messages, tools }, [
      'web_search',
    ])
    expect(sent[0]?.['tools']).toMatchObject([{ type: 'function', name: 'f' }])
    expect(answer.headers.get('x-modelhatch-omitted')).toContain('web_search')
  })

  test('is left out and named unless the model allows it', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }, own]
    const { sent, answer } = await ask(speaksResponses, 'messages', { max_tokens: 100, messages, tools }, [])
    expect(sent[0]?.['tools']).toMatchObject([{ type: 'function', name: 'f' }])
    expect(answer.headers.get('x-modelhatch-omitted')).toContain('web_search')
  })

  test('is refused if no tool is left, because a model makes up what it would find', async () => {
    const searches = [
      ['messages', { max_tokens: 100, messages, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
      ['responses', { input: 'Does it rain?', tools: [{ type: 'web_search' }] }],
    ] as const
    for (const [path, body] of searches) {
      const make = path === 'messages' ? speaksResponses : speaksMessages
      const { sent, answer } = await ask(make, path, body, [])
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: { message: expect.stringContaining('none of the tools in "tools"') },
      })
      expect(sent).toEqual([])
      const none = path === 'messages' ? { type: 'none' } : 'none'
      expect((await ask(make, path, { ...body, tool_choice: none }, [])).answer.status).toBe(200)
    }
  })

  test('is sent to the deployment that has it, if another one would have no tool', async () => {
    const sent: Record<string, unknown>[] = []
    const m = {
      route: [speaksChats, speaksMessages(sent)].map((provider, order) => ({ provider, order })),
      allow: ['web_search'],
    }
    const { url } = await hostedWith({ models: { m } })
    const answer = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Does it rain?', tools: [{ type: 'web_search' }] }),
    })
    expect(answer.status).toBe(200)
    expect(sent[0]?.['tools']).toMatchObject([{ type: 'web_search_20250305' }])
  })
})

test('code runs at a vendor with Responses if the model allows it', async () => {
  const tools = [{ type: 'code_execution_20250825', name: 'code_execution' }]
  const { sent } = await ask(speaksResponses, 'messages', { max_tokens: 100, messages, tools }, ['code_execution'])
  expect(sent[0]?.['tools']).toEqual([{ type: 'code_interpreter', container: { type: 'auto' } }])
})

describe('is charged by the use, in a whole answer and a streamed one', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'rain' } }
  const opened = { ...search, id: 'ws_2', action: { type: 'open_page', url: 'https://weather.example/' } }
  const code = { type: 'code_interpreter_call', status: 'completed', container_id: 'cntr_1', code: '1', outputs: null }
  const output = [search, opened, { ...code, id: 'ci_1' }, { ...code, id: 'ci_2' }, ...response.output]
  const searched = { webSearchQueries: ['rain', 'sun'] }
  const said = { content: { role: 'model', parts: [{ text: 'It rains.' }] }, index: 0, finishReason: 'STOP' }
  const vendors: readonly (readonly [Provider, string])[] = [
    [speaksMessages([]), '0.01'],
    // A page that is opened is free, and so is what else runs in a container.
    [defineProvider({ name: 'responses', respond: () => ({ ...response, output }) as never }), '0.04'],
    [
      defineProvider({
        name: 'gemini',
        generateContent: () => ({
          candidates: [{ ...said, groundingMetadata: searched }],
          usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
        }),
      }),
      '0.02',
    ],
  ]

  test.each(vendors.flatMap(([provider, cost]) => [false, true].map((stream) => ({ provider, cost, stream }))))(
    'by a vendor of $provider.name, stream: $stream',
    async ({ provider, cost, stream }) => {
      const tools = { web_search: '0.01', code_interpreter: '0.03' }
      const model = { provider, allow: ['web_search', 'code_interpreter'], price: { input: '0', output: '0', tools } }
      const ledger = memoryLedger()
      await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
      const { url, receipt } = await hostedWith({
        keys: { 'sk-test': { account: 'acme' } },
        models: { m: model },
        billing: { currency: 'USD' },
        storage: { ledger },
      })
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages, stream }),
      })
      expect(await answer.text()).toContain('It rains.')
      expect((await receipt()).charge).toMatchObject({ cost })
    },
  )
})

describe.each(['chat', 'responses', 'gemini'] as const)('what a tool of the vendor did in an answer for %s', (name) => {
  test.each([false, true])('comes back to the vendor with the next question; streamed: %s', async (stream) => {
    const sent: MessageRequest[] = []
    const { url } = await hostedWith({ models: { m: { provider: speaksMessages(sent) } } })
    const { path, body, entries, back, whole } = clients[name]
    const ask = async (history: readonly object[]) => {
      const named = name === 'gemini' ? {} : { model: 'm', stream }
      const answer = await fetch(url.replace(/\/v1$/, '') + path('m', stream), {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ ...named, ...body(history, { name: 'hosted' }) }),
      })
      const text = await answer.text()
      return back(stream ? whole(framesOf(text)) : JSON.parse(text))
    }
    const question = entries({ role: 'user', parts: [{ text: 'Does it rain?' }] })
    await ask([...question, ...(await ask(question)), ...question])
    const [call, result, text] = message.content
    expect(sent[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: [call, result, { type: 'text', text: text?.text }],
    })
  })
})
