/** Types of items, blocks and parts that cost the host or reach its account, sent through real gateways to a recording vendor. */
import { anthropic, openai, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { errorOf, post } from '../endpoints/ask.ts'
import { key, world as sockets } from '../adapters/ws/world.ts'
import { vendorFor } from '../hosted.ts'
import { world, type Fields } from './world.ts'

const chats = (baseURL: string) => openai({ baseURL })
const responses = (baseURL: string) => openai({ baseURL, responses: true })
const claude = (baseURL: string) => anthropic({ baseURL, apiKey: 'sk' })
const relayed = (baseURL: string) => openai({ baseURL, messages: true })

const long = 'x'.repeat(20_000)

/** A request to an endpoint whose conversation has one more item, message or block. */
const inChat = (part: object): [string, Fields] => [
  '/chat/completions',
  { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, part] }] },
]
const inResponse = (item: object): [string, Fields] => [
  '/responses',
  { input: [{ role: 'user', content: 'Hi' }, item] },
]
const inMessage = (block: object): [string, Fields] => [
  '/messages',
  { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, block] }] },
]

const hosted = [
  { type: 'image_generation' },
  { type: 'code_interpreter', container: { type: 'auto' } },
  { type: 'web_search' },
  { type: 'mcp', server_label: 'x', server_url: 'https://x.example' },
  { type: 'file_search', vector_store_ids: ['vs_1'] },
  { type: 'shell', environment: { type: 'container_auto' } },
  { type: 'programmatic_tool_calling' },
  { type: 'unheard_of' },
  { type: 'namespace', name: 'n', tools: [{ type: 'mcp', server_url: 'https://x.example' }] },
]
const hostedByClaude = [
  { type: 'web_search_20250305', name: 'web_search' },
  { type: 'code_execution_20250825', name: 'code_execution' },
  { type: 'advisor_20260301', name: 'advisor' },
  { type: 'mcp_toolset', mcp_server_name: 'x' },
]
const added = (tool: object) => ({ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool } })

describe('a tool that runs at the vendor is refused inside the conversation', () => {
  test.each([
    ...hosted.flatMap((tool) => [
      inResponse({ type: 'additional_tools', role: 'developer', tools: [tool] }),
      inResponse({ type: 'tool_search_output', call_id: 'c', execution: 'client', tools: [tool] }),
    ]),
    ...hostedByClaude.flatMap((tool) => [
      inMessage({ type: 'tool_addition', tool }),
      inMessage(added(tool)),
      inMessage({ type: 'compaction', content: 'So far.', tool_changes: [added(tool)] }),
    ]),
    inMessage({ type: 'tool_addition', tool: { type: 'mcp_toolset_reference', server_name: 'x' } }),
    inMessage({ type: 'server_made_tool', name: 'x' }),
    ['/chat/completions', { messages: [{ role: 'system', content: 'Hi', tools: [{ type: 'builtin_function' }] }] }] as [
      string,
      Fields,
    ],
    inChat({ type: 'hosted_search' }),
    inResponse({ type: 'unheard_of' }),
    inResponse({ type: 'mcp_approval_response', approval_request_id: 'm', approve: true }),
    inResponse({ type: 'shell_call', action: {}, environment: { type: 'container_reference', container_id: 'cntr' } }),
  ])('%s %j', async (path, fields) => {
    for (const make of makersOf(path)) {
      const { ask } = await world(make)
      expect(await ask(fields, path)).toMatch(/^(?:input\[1\]|messages\[0\])/)
      expect(await ask({ ...fields, metadata: { long } }, path)).toMatch(/^(?:input\[1\]|messages\[0\])/)
    }
  })

  test('also in a conversation too long to be parsed, and however it is spelled', async () => {
    const said = `{"type":"text","text":"${long}"}`
    for (const written of [
      '{"type":"tool_addition","tool":{"type":"web_search_20250305"}}',
      '{"\\u0074ype":"tool_addition","tool":{"type":"web_search_20250305"}}',
      '{"type":"tool_\\u0061ddition","tool":{"type":"web_search_20250305"}}',
      '{"Type":"tool_addition","tool":{"TYPE":"web_search_20250305"}}',
      '{"type":"text","text":"","TYPE":"new_tool"}',
    ]) {
      const { ask } = await world(claude)
      const body = `{"max_tokens":9,"messages":[{"role":"user","content":[${said},${written}]}]}`
      expect(await ask(body, '/messages')).toMatch(/^messages\[0\]\.content\[1\]\.(?:tool|type|TYPE)/)
    }
  })

  test('of two members with one name the vendor gets the one that was checked', async () => {
    const { ask, text } = await world(responses)
    const tools = '[{"type":"image_generation"}]'
    const item = `{"type":"additional_tools","tools":${tools},"type":"message","role":"user","content":"Hi","tools":[]}`
    expect(await ask(`{"input":[${item}]}`, '/responses')).toBeUndefined()
    expect(text()).not.toMatch(/additional_tools|image_generation/)
  })

  test('in each way to ask for a response or its cost', async () => {
    const item = { type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation' }] }
    const { url } = await world(responses)
    for (const path of ['/responses', '/responses/compact', '/responses/input_tokens']) {
      const refused = await post(url, path, { model: 'm', input: [item] })
      expect([refused.status, errorOf(refused).param]).toEqual([400, 'input[0].tools[0].type'])
    }
    const native = await world(claude)
    const block = { type: 'tool_addition', tool: hostedByClaude[0] }
    const counted = await post(native.url, '/messages/count_tokens', {
      model: 'm',
      messages: [{ role: 'user', content: [block] }],
    })
    expect(counted.status).toBe(400)
    expect(native.vendor.requests).toHaveLength(0)
  })
})

test('over a WebSocket, and in a stored conversation that another model continues', async () => {
  const vendor = await vendorFor((_, response) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
    const body = { id: 'resp_1', object: 'response', status: 'completed', model: 'x', output: [message] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const provider = responses(vendor.baseURL)
  const models = { m: provider, open: { provider, allow: ['image_generation'] } }
  const { connect, port } = await sockets({ options: { models } })
  const client = await connect()
  const input = [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation' }] }]
  const refused = { type: 'error', status: 400, error: { code: 'unsupported_parameter' } }
  client.create({ input, model: 'm' })
  expect((await client.response()).at(-1)).toMatchObject(refused)
  client.create({ input, model: 'm', generate: false })
  expect((await client.response()).at(-1)).toMatchObject(refused)
  expect(vendor.requests).toHaveLength(0)
  const url = `http://127.0.0.1:${port}`
  const first = await post(url, '/responses', { model: 'open', input }, key)
  expect(first.status).toBe(200)
  const { id } = first.json as { id: string }
  const next = { input: 'And now?', previous_response_id: id }
  expect((await post(url, '/responses', { model: 'open', ...next }, key)).status).toBe(200)
  const other = await post(url, '/responses', { model: 'm', ...next }, key)
  expect([other.status, errorOf(other).code]).toEqual([400, 'unsupported_parameter'])
  expect(vendor.requests).toHaveLength(2)
})

describe('a file of the host’s account is refused', () => {
  test.each<[string, Fields, string]>([
    [...inChat({ type: 'file', file: { file_id: 'file-1' } }), 'messages[0].content[1].file.file_id'],
    [
      ...inResponse({ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }),
      'input[1].content[0].file_id',
    ],
    [
      ...inResponse({ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }),
      'input[1].content[0].file_id',
    ],
    [
      ...inResponse({
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', file_id: 'f' },
      }),
      'input[1].output.file_id',
    ],
    [
      ...inResponse({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', file_id: 'f' }] }),
      'input[1].output[0].file_id',
    ],
    [
      ...inMessage({ type: 'document', source: { type: 'file', file_id: 'f' } }),
      'messages[0].content[1].source.file_id',
    ],
    [...inMessage({ type: 'container_upload', file_id: 'f' }), 'messages[0].content[1].file_id'],
    ['/images/edits', { prompt: 'p', images: [{ file_id: 'file-1' }] }, 'images'],
    ['/images/edits', { prompt: 'p', images: [{ image_url: 'https://x/y.png' }], mask: { file_id: 'f' } }, 'mask'],
    ['/chat/completions', { modalities: ['audio'], audio: { voice: { id: 'voice_1' }, format: 'mp3' } }, 'audio'],
  ])('%s %j', async (path, fields, param) => {
    for (const make of makersOf(path)) {
      const { ask } = await world(make)
      expect(await ask(fields, path)).toBe(param)
      const { ask: allowed } = await world(make, { allow: ['files', 'audio'] })
      expect(await allowed(fields, path)).toBeUndefined()
    }
  })
})

describe('the vendor gets', () => {
  test.each([
    inResponse({
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'function', name: 'f', parameters: {} }],
    }),
    inResponse({ type: 'tool_search_output', call_id: 'c', tools: [{ type: 'namespace', name: 'n', tools: [] }] }),
    inResponse({ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }] }),
    inResponse({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }),
    inResponse({
      type: 'mcp_list_tools',
      server_label: 'x',
      tools: [{ name: 'n', input_schema: { type: 'unheard_of' } }],
    }),
    inResponse({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'file_citation', file_id: 'f' }] }],
    }),
    inResponse({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"type":"mcp"}' }),
    inMessage(added({ name: 'f', input_schema: { type: 'object' } })),
    inMessage({ type: 'tool_addition', tool: { type: 'tool_reference', tool_name: 'f' } }),
    inMessage({ type: 'tool_use', id: 't', name: 'f', input: { type: 'web_search', tools: [{ type: 'mcp' }] } }),
    inMessage({ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } }),
    inMessage({
      type: 'web_search_tool_result',
      tool_use_id: 's',
      caller: { type: 'code_execution_20250825', tool_id: 't' },
      content: [{ type: 'web_search_result', url: 'https://x', title: 'x', encrypted_content: 'e' }],
    }),
    inMessage({
      type: 'bash_code_execution_tool_result',
      tool_use_id: 's',
      content: {
        type: 'bash_code_execution_result',
        content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
      },
    }),
    inMessage({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }),
    inChat({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } }),
    inChat({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }),
  ])('the client’s own tools, its media, and what was answered before: %s %j', async (path, fields) => {
    for (const make of makersOf(path)) {
      const { ask } = await world(make)
      expect(await ask(fields, path)).toBeUndefined()
    }
  })

  test('what the model allows, by the name of the tool, the type or the field', async () => {
    const asked = async (allow: string[], make: (url: string) => Provider, [path, fields]: [string, Fields]) =>
      (await world(make, { allow })).ask(fields, path)
    const tools = [{ type: 'image_generation' }]
    const item = inResponse({ type: 'additional_tools', role: 'developer', tools })
    expect(await asked(['image_generation'], responses, item)).toBeUndefined()
    expect(await asked(['tools'], responses, item)).toBeUndefined()
    expect(await asked(['web_search'], responses, item)).toBe('input[1].tools[0].type')
    const approval = inResponse({ type: 'mcp_approval_response', approval_request_id: 'm', approve: true })
    expect(await asked(['mcp'], responses, approval)).toBeUndefined()
    expect(await asked(['unheard_of'], responses, inResponse({ type: 'unheard_of' }))).toBeUndefined()
    expect(await asked(['web_search'], claude, inMessage(added(hostedByClaude[0] as object)))).toBeUndefined()
  })
})

function makersOf(path: string): ((baseURL: string) => Provider)[] {
  if (path === '/messages') return [claude, relayed]
  return [path === '/responses' ? responses : chats]
}
