import { defineProvider, finish, gemini, openai, text } from 'modelhatch/providers'
import { openaiDialect } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { GatewayOptions, ModelOptions } from '../../../src/index.ts'
import { geminiDialect } from '../../../src/testing/dialects/gemini.ts'
import type { Script } from '../../../src/testing/dialects/dialect.ts'
import { scriptedDialect } from '../../../src/testing/scripted-dialect.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }
const hello = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const google = { 'x-goog-api-key': 'sk-test' }

interface Sent {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a body of any shape
  readonly json: any
}

async function send(url: string, path: string, body: unknown, headers: Record<string, string> = google): Promise<Sent> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const answer = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    json: isJson ? JSON.parse(answer) : undefined,
  }
}

/** A gateway with the model `m` at a vendor with Google's API, and `gpt` at one that chats. */
async function served(
  script: Script = { text: 'Hello', usage },
  model: Partial<ModelOptions> = {},
  options: Partial<GatewayOptions> = {},
) {
  const native = await vendorFor(scriptedDialect(geminiDialect, () => script).reply)
  const chats = await vendorFor(scriptedDialect(openaiDialect, () => script).reply)
  const hosted = await hostedWith({
    models: {
      m: {
        provider: gemini({ baseURL: native.baseURL.replace('/v1', '') }),
        providerModel: geminiDialect.model,
        ...model,
      },
      gpt: {
        provider: openai({ baseURL: chats.baseURL, responses: false }),
        providerModel: openaiDialect.model,
        ...model,
      },
    },
    ...options,
  })
  const path = (name: string, method = 'generateContent') => `/v1beta/models/${name}:${method}`
  return { ...hosted, native, chats, path }
}

describe('a vendor with the same API', () => {
  test('gets the request as it is, and its answer reaches the client under the public name', async () => {
    const { url, native, path, receipt } = await served()
    const body = { contents: hello, generationConfig: { topK: 3 }, safetySettings: [{ category: 'c', threshold: 't' }] }
    const { status, json } = await send(url, path('m'), body)
    expect(status).toBe(200)
    expect(native.requests[0]?.json).toEqual(body)
    expect(json).toMatchObject({ modelVersion: 'm', candidates: [{ content: { parts: [{ text: 'Hello' }] } }] })
    expect((await receipt()).usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 30 })
  })

  test('keeps the digits of large integers, whole and streamed', async () => {
    const answer = (end: string) =>
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":1234567890123456789}}}]}${end},"index":0}]}`
    const vendor = await vendorFor((request, response) => {
      const isStream = request.url.includes('stream')
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      const body = answer(',"finishReason":"STOP"')
      response.end(isStream ? `data: ${body}\r\n\r\n` : body)
    })
    const { url } = await hostedWith({ models: { m: gemini({ baseURL: vendor.baseURL }) } })
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      expect((await send(url, `/v1beta/models/m:${method}`, { contents: hello })).text).toContain('1234567890123456789')
    }
  })

  test('gets no state of other makers, and calls without any are marked', async () => {
    const { url, native, path } = await served()
    const envelope = Buffer.from('mh1.*.{"before":[{"text":"Hm","maker":"anthropic","data":"s"}]}').toString('base64')
    const call = { functionCall: { id: '1', name: 'f', args: {} } }
    const result = { functionResponse: { id: '1', name: 'f', response: { output: 'x' } } }
    const contents = [
      ...hello,
      {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true },
          { text: 'a', thoughtSignature: envelope },
          { ...call, thoughtSignature: envelope },
        ],
      },
      { role: 'user', parts: [result] },
    ]
    expect((await send(url, path('m'), { contents })).status).toBe(200)
    const sent = native.requests[0]?.json as { contents: { parts: object[] }[] }
    expect(sent.contents[1]?.parts).toEqual([
      { text: 'Hm', thought: true },
      { text: 'a' },
      { ...call, thoughtSignature: 'skip_thought_signature_validator' },
    ])
  })

  test('that breaks off gives a stream with an error at its end', async () => {
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"candidates":[{"content":{"parts":[{"text":"Hel"}]},"index":0}]}\r\n\r\n')
    })
    const { url } = await hostedWith({ models: { m: gemini({ baseURL: vendor.baseURL }) } })
    const { status, text: events } = await send(url, '/v1beta/models/m:streamGenerateContent?alt=sse', {
      contents: hello,
    })
    expect(status).toBe(200)
    expect(events).toContain('"Hel"')
    expect(events.trim().split('\r\n\r\n').at(-1)).toMatch(/^data: \{"error":\{"code":503/)
    const { json } = await send(url, '/v1beta/models/m:streamGenerateContent', { contents: hello })
    expect(json.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } })
  })
})

describe('what the host pays for', () => {
  const searching = { contents: hello, tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }] }

  test.each(['m', 'gpt'])('tools that run at the vendor are left out of a request for %s', async (model) => {
    const { url, native, chats, path } = await served()
    const { headers, status } = await send(url, path(model), searching)
    expect(status).toBe(200)
    expect(headers.get('x-modelhatch-omitted')).toBe('google_search')
    const [sent] = model === 'm' ? native.requests : chats.requests
    expect(JSON.stringify(sent?.json)).not.toMatch(/google_?search/i)
  })

  test.each(['google_search', 'web_search'])('unless the options of the model allow %s', async (name) => {
    const { url, native, path } = await served(undefined, { allow: [name] })
    await send(url, path('m'), searching)
    expect(native.requests[0]?.json).toEqual(searching)
  })

  test.each(['m', 'gpt'])('a request for %s with no other tool is refused', async (model) => {
    const { url, native, chats, path } = await served()
    const { status, json } = await send(url, path(model), { contents: hello, tools: [{ googleSearch: {} }] })
    expect(status).toBe(400)
    expect(json.error.details).toContainEqual(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field: 'tools[0].googleSearch' })] }),
    )
    expect([...native.requests, ...chats.requests]).toEqual([])
  })

  test.each<[string, object]>([
    ['cachedContent', { cachedContent: 'cachedContents/1' }],
    ['cachedContent', { cached_content: 'cachedContents/1' }],
    [
      'contents[0].parts[0].fileData.fileUri',
      { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/file' } }] }] },
    ],
    [
      'contents[0].parts[0].file_data.file_uri',
      {
        contents: [
          { parts: [{ file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/1' } }] },
        ],
      },
    ],
  ])('%s in the account of the host is refused', async (field, body) => {
    const { url, native, path } = await served()
    const { status, json } = await send(url, path('m'), { contents: hello, ...body })
    expect(status).toBe(400)
    expect(json.error.details).toContainEqual(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field })] }),
    )
    expect(native.requests).toEqual([])
  })

  test('unknown fields do not reach the vendor', async () => {
    const { url, native, path } = await served()
    const { headers } = await send(url, path('m'), { contents: hello, store: true })
    expect(headers.get('x-modelhatch-omitted')).toBe('store')
    expect(native.requests[0]?.json).toEqual({ contents: hello })
  })

  test('fields that only Google has are reported where another vendor answers', async () => {
    const { url, native, path } = await served()
    const body = {
      contents: hello,
      system_instruction: { parts: [{ text: 'Be kind.' }] },
      safetySettings: [{ category: 'c', threshold: 't' }],
      generationConfig: { topK: 2, mediaResolution: 'MEDIA_RESOLUTION_LOW', thinking_config: { thinkingBudget: 0 } },
    }
    const { headers, status } = await send(url, path('gpt'), body)
    expect(status).toBe(200)
    expect(headers.get('x-modelhatch-omitted')).toBe(
      'generationConfig.mediaResolution, safetySettings, generationConfig.topK',
    )
    expect((await send(url, path('m'), body)).headers.get('x-modelhatch-omitted')).toBeNull()
    expect(native.requests).toHaveLength(1)
  })

  test('the limit of tokens is at most that of the model', async () => {
    const { url, native, path } = await served(undefined, { maxOutputTokens: 500 })
    await send(url, path('m'), { contents: hello, generationConfig: { maxOutputTokens: 9_000, topK: 2 } })
    expect(native.requests[0]?.json).toEqual({ contents: hello, generationConfig: { topK: 2, maxOutputTokens: 500 } })
  })
})

describe('keys', () => {
  test.each<[string, Record<string, string>, number]>([
    ['x-goog-api-key', google, 200],
    ['a bearer token', { authorization: 'Bearer sk-test' }, 200],
    ['nothing', {}, 401],
  ])('in %s', async (_, headers, expected) => {
    const { url, path } = await served()
    const { status, json } = await send(url, path('gpt'), { contents: hello }, headers)
    expect(status).toBe(expected)
    if (status === 401) expect(json.error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' })
  })

  test('in the query count only by option, and only for this API', async () => {
    const without = await served()
    expect((await send(without.url, `${without.path('gpt')}?key=sk-test`, { contents: hello }, {})).status).toBe(401)
    const { url, path } = await served(undefined, {}, { keyInQuery: true })
    expect((await send(url, `${path('gpt')}?key=sk-test`, { contents: hello }, {})).status).toBe(200)
    expect((await send(url, '/v1/models?key=sk-test', undefined, {})).status).toBe(401)
  })
})

describe('paths', () => {
  const echo = defineProvider({
    name: 'echo',
    async *generate({ publicModel }) {
      yield text(publicModel)
      yield finish('stop')
    },
  })

  test.each([
    ['/v1beta/models/plain:generateContent', 'plain'],
    ['/v1/models/plain:generateContent', 'plain'],
    ['/v1beta/models/org/model:generateContent', 'org/model'],
    ['/v1beta/models/org%2Fmodel:generateContent', 'org/model'],
    ['/v1beta/models/model:8b:generateContent', 'model:8b'],
  ])('%s names the model %s', async (path, name) => {
    const { url } = await hostedWith({ models: { [name]: echo } })
    const { json } = await send(url, path, { contents: hello })
    expect(json.candidates[0].content.parts[0].text).toBe(name)
  })

  test('an unknown method, or model, has an error of Google', async () => {
    const { url } = await hostedWith({ models: { m: echo } })
    expect((await send(url, '/v1beta/models/m:dance', {})).json.error.code).toBe(405)
    expect((await send(url, '/v1beta/dance', {})).json.error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    expect((await send(url, '/v1beta/models/x:generateContent', { contents: hello })).json.error.status).toBe(
      'NOT_FOUND',
    )
  })

  test('the list at /v1/models is that of Google only with its header', async () => {
    const { url } = await hostedWith({ models: { m: echo } })
    expect((await send(url, '/v1/models', undefined)).json).toMatchObject({ models: [{ name: 'models/m' }] })
    const bearer = { authorization: 'Bearer sk-test' }
    expect((await send(url, '/v1/models', undefined, bearer)).json).toMatchObject({
      object: 'list',
      data: [{ id: 'm' }],
    })
    expect((await send(url, '/v1/models/m', undefined)).json).toMatchObject({ name: 'models/m' })
    expect((await send(url, '/v1/models/none', undefined)).json.error.status).toBe('NOT_FOUND')
    expect((await send(url, '/v1beta/models', undefined)).json).toMatchObject({ models: [{ name: 'models/m' }] })
  })
})

test('a repeated request with an idempotency key gets the same answer, and no other form of it', async () => {
  const { url, chats, path } = await served()
  const headers = { ...google, 'idempotency-key': 'once' }
  const [first, second] = [
    await send(url, path('gpt'), { contents: hello }, headers),
    await send(url, path('gpt'), { contents: hello }, headers),
  ]
  expect(second.json).toEqual(first.json)
  const streamed = await send(url, `${path('gpt', 'streamGenerateContent')}?alt=sse`, { contents: hello }, headers)
  expect(streamed.text).toContain('data: ')
  expect(chats.requests).toHaveLength(2)
})

test('balances and prices count as for chats', async () => {
  const options = { billing: { currency: 'EUR' }, keys: { 'sk-test': { account: 'a' } } }
  const { url, gateway, path, receipt } = await served(undefined, { price: { input: '1', output: '2' } }, options)
  const poor = await send(url, path('gpt'), { contents: hello })
  expect(poor.json.error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' })
  await gateway.admin.accounts.topUp({ account: 'a', amount: '10', reference: 'first' })
  expect((await send(url, path('gpt'), { contents: hello })).status).toBe(200)
  expect(await receipt()).toMatchObject({
    endpoint: 'content.generate',
    model: 'gpt',
    charge: { basis: 'reported', cost: '0.00016' },
  })
})
