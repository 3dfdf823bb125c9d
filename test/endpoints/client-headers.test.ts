/** A vendor gets the headers of the host; of the client's, at most beta features. */
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { passedHeaders } from '../../src/endpoints/messages/headers.ts'
import { key, world } from '../adapters/ws/world.ts'
import { vendorFor } from '../hosted.ts'
import { formOf } from './forms.ts'

/** Each of them would choose an account, a payer, a place or a price, or what the vendor does with the request. */
const chosen = [
  'anthropic-workspace-id anthropic-organization-id anthropic-user-profile-id anthropic-version anthropic-odd',
  'anthropic-dangerous-direct-browser-access openai-organization openai-project openai-beta openai-odd x-openai-odd',
  'x-goog-user-project x-goog-request-params x-goog-odd x-groq-odd x-ms-odd api-key x-api-version',
  'x-amzn-bedrock-odd x-dashscope-odd http-referer x-title x-session-id x-stainless-lang x-forwarded-for cookie',
  'x-litellm-odd helicone-auth cf-aig-authorization originator session_id traceparent baggage prefer te-odd',
]
  .join(' ')
  .split(' ')

const host = {
  apiKey: 'sk-host',
  headers: {
    'OpenAI-Organization': 'of the host',
    'X-Goog-User-Project': 'of the host',
    'Anthropic-Beta': 'of the host',
    'Anthropic-Workspace-Id': 'of the host',
  },
}

const messages = [{ role: 'user', content: 'Hi' }]
const asked: Readonly<Record<string, object | FormData>> = {
  '/chat/completions': { messages },
  '/completions': { prompt: 'Hi' },
  '/responses': { input: 'Hi' },
  '/responses/compact': { input: 'Hi' },
  '/responses/input_tokens': { input: 'Hi' },
  '/messages': { messages, max_tokens: 9 },
  '/messages/count_tokens': { messages },
  '/embeddings': { input: 'Hi' },
  '/moderations': { input: 'Hi' },
  '/images/generations': { prompt: 'Hi' },
  '/images/edits': formOf(['model', 'm'], ['prompt', 'Hi'], ['image', new Blob(['x']), 'a.png']),
  '/images/variations': formOf(['model', 'm'], ['image', new Blob(['x']), 'a.png']),
  '/audio/transcriptions': formOf(['model', 'm'], ['file', new Blob(['x']), 'a.wav']),
  '/audio/translations': formOf(['model', 'm'], ['file', new Blob(['x']), 'a.wav']),
  '/videos': { prompt: 'Hi', seconds: '4', size: '720x1280' },
}

test.each<[string, (baseURL: string) => Provider]>([
  ['openai', (baseURL) => openai({ baseURL, responses: true, messages: true, preset: 'openai', ...host })],
  ['anthropic', (baseURL) => anthropic({ baseURL, ...host })],
  ['gemini', (baseURL) => gemini({ baseURL, ...host })],
])('%s', async (_, make) => {
  const vendor = await vendorFor((_request, response) => void response.writeHead(400).end('{"error":{"message":"no"}}'))
  const { port, connect } = await world({ options: { models: { m: make(vendor.baseURL) } } })
  const headers = {
    ...Object.fromEntries(chosen.map((name) => [name, 'of the client'])),
    'anthropic-beta': 'effort-2025-11-24',
    authorization: `Bearer ${key}`,
  }
  for (const [path, body] of Object.entries(asked)) {
    const isForm = body instanceof FormData
    await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method: 'POST',
      headers: { ...headers, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify({ model: 'm', ...body }),
    }).then((response) => response.arrayBuffer())
  }
  const before = vendor.requests.length
  expect(before).toBeGreaterThan(4)
  const client = await connect(headers)
  client.create({ input: 'Hi' })
  await client.response()
  expect(vendor.requests.length).toBeGreaterThan(before)
  for (const request of vendor.requests) {
    expect(JSON.stringify(request.headers), request.url).not.toContain('of the client')
    expect(request.headers).toMatchObject({
      'openai-organization': 'of the host',
      'x-goog-user-project': 'of the host',
    })
    const { 'anthropic-beta': features = 'of the host' } = request.headers
    expect(['of the host', 'of the host,effort-2025-11-24']).toContain(features)
  }
  expect(passedHeaders).toEqual(['anthropic-beta'])
})
