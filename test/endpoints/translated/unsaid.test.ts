/** Fields of a chat beside the conversation, at vendors that are asked in another format. */
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { scriptedVendor } from 'modelhatch/testing'
import { expect, onTestFinished, test } from 'vitest'
import { hostedWith } from '../../hosted.ts'

const safety_settings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]

test.each([
  [
    'are reported if they are not sent',
    { frobnicate: 1, prediction: { type: 'content', content: 'Hi' } },
    anthropic,
    'frobnicate, prediction',
  ],
  ['are not reported if Gemini gets them', { safety_settings }, gemini, null],
  ['are reported if they are for another vendor', { safety_settings }, anthropic, 'safety_settings'],
  ['are not reported if Claude gets them', { safety_identifier: 'ada' }, anthropic, null],
] as const)('%s', async (_, fields, make: (options: { baseURL: string; apiKey: string }) => Provider, omitted) => {
  const claude = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
  }
  const google = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
  }
  const vendor = await scriptedVendor((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...claude, ...google, usage: { input_tokens: 1, output_tokens: 1 } }))
  })
  onTestFinished(() => vendor.close())
  const provider = make({ baseURL: vendor.baseURL, apiKey: 'k' })
  const { url } = await hostedWith({ models: { m: { provider } } })
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
  })
  expect([answer.status, answer.headers.get('x-modelhatch-omitted')]).toEqual([200, omitted])
})

const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
}

async function askChatVendor(path: string, body: object) {
  const vendor = await scriptedVendor((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(chat))
  })
  onTestFinished(() => vendor.close())
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k', responses: false })
  const { url } = await hostedWith({ models: { m: { provider } } })
  return fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
  })
}

test('fields of blocks and tools that only the client’s format has are reported by their place', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'A report.' }
  const documents = [true, false].map((enabled) => ({ type: 'document', source, citations: { enabled } }))
  const { status, headers } = await askChatVendor('messages', {
    max_tokens: 9,
    messages: [{ role: 'user', content: documents }],
    tools: [{ name: 'f', input_schema: { type: 'object' }, input_examples: [{ a: 1 }] }],
  })
  expect(status).toBe(200)
  expect(headers.get('x-modelhatch-omitted')).toBe('messages[0].content[0].citations, tools[0].input_examples')
})

test.each([true, false])('of a text completion, too; streamed: %s', async (stream) => {
  const vendor = await scriptedVendor((_request, response) => {
    const [data, type] = stream
      ? [`data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n`, 'text/event-stream']
      : [`{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`, 'application/json']
    response.writeHead(200, { 'content-type': type })
    response.end(data)
  })
  onTestFinished(() => vendor.close())
  const { url } = await hostedWith({ models: { m: { provider: gemini({ baseURL: vendor.baseURL, apiKey: 'k' }) } } })
  const answer = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', prompt: ['Hi', 'Ho'], echo: true, stream, user: 'ada', frobnicate: 1 }),
  })
  expect(await answer.text()).toContain('Hi')
  expect(answer.headers.get('x-modelhatch-omitted')).toBe('frobnicate, user')
})

test('what changes an embedding for Google alone', async () => {
  const vendor = await scriptedVendor((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
    )
  })
  onTestFinished(() => vendor.close())
  const { url } = await hostedWith({ models: { m: { provider: openai({ baseURL: vendor.baseURL, apiKey: 'k' }) } } })
  const asked = { content: { parts: [{ text: 'Hi' }] }, taskType: 'RETRIEVAL_QUERY', config: { title: 'It' } }
  for (const [method, body] of [
    ['embedContent', asked],
    ['batchEmbedContents', { requests: [asked] }],
  ] as const) {
    const answer = await fetch(`${url}/v1beta/models/m:${method}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([answer.status, answer.headers.get('x-modelhatch-omitted')]).toEqual([200, 'taskType, title'])
  }
})

const lookup = { type: 'function', name: 'lookup', parameters: { type: 'object', properties: {} } }
const computer = { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'linux' }
const mcp = { type: 'mcp', server_label: 'crm', server_url: 'https://crm.example/mcp' }

test.each([
  ['that the vendor lacks is left out and reported if another one is left', [computer, lookup], 200, undefined],
  ['of a server that the vendor would call is refused by its place', [lookup, mcp], 400, 'tools[1]'],
] as const)('a tool %s', async (_, tools, status, param) => {
  const answer = await askChatVendor('responses', { input: 'Hi', tools })
  const { error } = (await answer.json()) as { error: { param: string } | null }
  expect([answer.status, error?.param]).toEqual([status, param])
  if (status === 200) expect(answer.headers.get('x-modelhatch-omitted')).toBe('computer_use_preview')
})
