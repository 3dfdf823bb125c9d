/** Vertex AI: addresses, bodies and tokens. */
import { expect, test } from 'vitest'
import { vertex, type GoogleCredentials, type VertexOptions } from 'modelhatch/providers/vertex'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'
import { chatAnswer, contentAnswer, messageAnswer } from '../answers.ts'

const place = { project: 'me', location: 'europe-west4' }
const below = '/projects/me/locations/europe-west4'

/** The shape of the library: `Headers`, with the project that is billed. */
const credentials: GoogleCredentials = {
  getRequestHeaders: async () =>
    new Headers({ Authorization: 'Bearer google', 'X-Goog-User-Project': 'billed' }) as Iterable<[string, string]>,
}

async function vertexVendor() {
  return vendorFor((request, response) => {
    const answer = /rawPredict/i.test(request.url)
      ? request.url.includes('count-tokens')
        ? { input_tokens: 7 }
        : messageAnswer
      : request.url.includes('generateContent')
        ? contentAnswer
        : chatAnswer
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
}

async function asked(options: Pick<VertexOptions, 'api'> & { credentials?: GoogleCredentials }, providerModel: string) {
  const vendor = await vertexVendor()
  const origin = new URL(vendor.baseURL).origin
  const provider = vertex({ credentials, ...options, ...place, origin })
  const { url } = await hostedWith({ models: { m: { provider, providerModel } } })
  return { vendor, url }
}

test('Claude is asked by rawPredict: the model is in the path, the version in the body', async () => {
  const { vendor, url } = await asked({ api: 'anthropic' }, 'claude-sonnet-4-5@20250929')
  expect((await askChat(url)).status).toBe(200)
  const [request] = vendor.requests
  expect(request?.url).toBe(`/v1${below}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`)
  expect(request?.json).toMatchObject({ anthropic_version: 'vertex-2023-10-16', messages: [{ role: 'user' }] })
  expect(request?.json).not.toHaveProperty('model')
  expect(request?.headers).toMatchObject({ authorization: 'Bearer google', 'x-goog-user-project': 'billed' })
  expect(request?.headers).not.toHaveProperty('x-api-key')
})

test('a streamed message of Claude is asked by streamRawPredict', async () => {
  const { vendor, url } = await asked({ api: 'anthropic' }, 'claude-opus-4-8')
  const body = { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const headers = { 'x-api-key': 'sk-test', 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(vendor.requests[0]?.url).toBe(`/v1${below}/publishers/anthropic/models/claude-opus-4-8:streamRawPredict`)
  expect(vendor.requests[0]?.json).toMatchObject({ stream: true, anthropic_version: 'vertex-2023-10-16' })
})

test("Claude's tokens are counted by a model of their own, with the name in the body", async () => {
  const { vendor, url } = await asked({ api: 'anthropic' }, 'claude-opus-4-8')
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  const headers = { 'x-api-key': 'sk-test', 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect(await response.json()).toEqual({ input_tokens: 7 })
  expect(vendor.requests[0]?.url).toBe(`/v1${below}/publishers/anthropic/models/count-tokens:rawPredict`)
  expect(vendor.requests[0]?.json).toMatchObject({ model: 'claude-opus-4-8', anthropic_version: 'vertex-2023-10-16' })
})

test('Gemini is asked below its publisher', async () => {
  const { vendor, url } = await asked({ api: 'gemini' }, 'gemini-2.5-pro')
  expect((await askChat(url)).status).toBe(200)
  expect(vendor.requests[0]?.url).toBe(`/v1${below}/publishers/google/models/gemini-2.5-pro:generateContent`)
  expect(vendor.requests[0]?.headers).toMatchObject({ authorization: 'Bearer google' })
})

test('other models are asked in the format of OpenAI', async () => {
  const { vendor, url } = await asked({ api: 'openai' }, 'meta/llama-4-maverick')
  expect((await askChat(url)).status).toBe(200)
  expect(vendor.requests[0]?.url).toBe(`/v1beta1${below}/endpoints/openapi/chat/completions`)
  expect(vendor.requests[0]?.json).toMatchObject({ model: 'meta/llama-4-maverick' })
})

test('a client that has access tokens only serves too', async () => {
  const { vendor, url } = await asked(
    { api: 'openai', credentials: { getAccessToken: async () => ({ token: 'access' }) } },
    'meta/llama-4-maverick',
  )
  await askChat(url)
  expect(vendor.requests[0]?.headers.authorization).toBe('Bearer access')
})

test.each([
  ['global', 'https://aiplatform.googleapis.com'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ['us-east5', 'https://us-east5-aiplatform.googleapis.com'],
])('its address in %s is %s', (location, origin) => {
  expect(vertex({ api: 'anthropic', project: 'me', location, credentials }).origin).toBe(origin)
})

test.each([
  [{ api: 'gemini', project: '../x', location: 'eu' }, 'project'],
  [{ api: 'gemini', project: 'me', location: 'eu/x' }, 'location'],
  [{ api: 'gemini', project: 'me', location: 'eu', credentials: {} }, 'credentials'],
  [{ api: 'chat', project: 'me', location: 'eu' }, 'api'],
])('%j is refused', (options, name) => {
  expect(() => vertex({ credentials, ...options } as unknown as VertexOptions)).toThrow(`"${name}"`)
})

test('a client without a token fails before anything is sent', async () => {
  const { vendor, url } = await asked({ api: 'openai', credentials: { getAccessToken: () => null } }, 'meta/llama-4')
  expect((await askChat(url)).status).toBe(503)
  expect(vendor.requests).toHaveLength(0)
})
