import { gemini } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../../hosted.ts'
import { served } from '../served.ts'
import { resultOfClient } from '../chat-results.ts'

const question = { messages: [{ role: 'user', content: 'Hello' }] }
const lookup = { type: 'function', function: { name: 'lookup' } }

async function answered(reply: VendorReply, model = 'gemini-2.5-flash') {
  const vendor = await vendorFor(reply)
  const provider = gemini({ baseURL: vendor.baseURL, apiKey: 'secret' })
  const gateway = await served({ gemini: { provider, providerModel: model }, 'all/*': provider })
  const chat = (stream: boolean, request: object = {}) =>
    resultOfClient(gateway.client, { model: 'gemini', ...question, ...request }, stream)
  return { vendor, chat, ...gateway }
}

const json =
  (body: object, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))

/** Responds in the requested form: one body, or one event for each. */
const responses =
  (...bodies: object[]): VendorReply =>
  ({ url }, response) => {
    if (!url.includes('alt=sse')) {
      const parts = bodies.flatMap((body) => (body as Generated).candidates?.[0]?.content?.parts ?? [])
      const last = bodies.at(-1) as Generated
      const [candidate] = last.candidates ?? []
      const whole = { ...last, candidates: [{ ...candidate, content: { parts } }] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(bodies.map((body) => `data: ${JSON.stringify(body)}\r\n\r\n`).join(''))
  }

interface Generated {
  readonly candidates?: readonly { readonly content?: { readonly parts?: object[] }; readonly finishReason?: string }[]
}

const part = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
const end = (finishReason: string, ...parts: object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 5, totalTokenCount: 12 },
})
const call = (args: object) => ({ functionCall: { name: 'lookup', args } })

describe.each([false, true])('streamed: %s', (stream) => {
  test('numbers tool calls from several events over the whole response', async () => {
    const { chat } = await answered(
      responses(part({ text: 'Let me ' }, call({ q: 1 })), part({ text: 'see.' }), end('STOP', call({ q: 2 }))),
    )
    const result = await chat(stream, { tools: [lookup] })
    expect(result).toMatchObject({ content: 'Let me see.', finish: 'tool_calls' })
    expect(result.calls.map(({ arguments: text }) => text)).toEqual(['{"q":1}', '{"q":2}'])
    expect(result.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 })
  })

  test('returns the client’s name of a function that has another name at the vendor', async () => {
    const { chat } = await answered(responses(end('STOP', { functionCall: { name: '_3d_model', args: {} } })))
    const result = await chat(stream, { tools: [{ type: 'function', function: { name: '3d_model' } }] })
    expect(result.calls).toMatchObject([{ name: '3d_model' }])
  })

  test('passes on only the first call if parallel calls are disabled', async () => {
    const { chat } = await answered(responses(end('STOP', call({ q: 1 }), call({ q: 2 }))))
    const result = await chat(stream, { tools: [lookup], parallel_tool_calls: false })
    expect(result.calls.map(({ arguments: text }) => text)).toEqual(['{"q":1}'])
    expect(result.finish).toBe('tool_calls')
  })

  test.each([
    ['MAX_TOKENS', 'length'],
    ['RECITATION', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['OTHER', 'stop'],
  ])('maps the finish reason %s to %s', async (reason, finish) => {
    const { chat } = await answered(responses(end(reason, { text: 'Hi' })))
    expect(await chat(stream)).toMatchObject({ content: 'Hi', finish })
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'])(
    '%s is no answer',
    async (reason) => {
      const { chat } = await answered(responses(end(reason, call({}))))
      const result = await chat(stream)
      expect(result).toMatchObject({ calls: [], finish: null, error: { status: 503 } })
    },
  )

  test.each([
    [400, { status: 'INVALID_ARGUMENT', message: 'contents.parts must not be empty.' }, 400, null, 'messages'],
    [
      400,
      { status: 'INVALID_ARGUMENT', message: 'Unable to submit: max_output_tokens is 99' },
      400,
      null,
      'max_tokens',
    ],
    [400, { status: 'INVALID_ARGUMENT', message: 'Something secret' }, 400, null, null],
    [400, { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }, 503, 'service_unavailable', null],
    [400, { status: 'FAILED_PRECONDITION', message: 'Enable billing' }, 503, 'service_unavailable', null],
    [403, { status: 'PERMISSION_DENIED', message: 'no' }, 503, 'service_unavailable', null],
    [404, { status: 'NOT_FOUND', message: 'models/gemini-2.5-flash is not found' }, 503, 'service_unavailable', null],
    [500, { status: 'INTERNAL', message: 'secret' }, 503, 'service_unavailable', null],
    [503, { status: 'UNAVAILABLE', message: 'overloaded' }, 503, 'service_unavailable', null],
  ])('maps %i %j to %i', async (status, error, expected, code, param) => {
    const { client } = await answered(json({ error: { code: status, ...error } }, status))
    const thrown = await client.chat.completions
      .create({ model: 'gemini', ...question, stream, max_tokens: 99 } as never)
      .catch((refusal: unknown) => refusal)
    expect(thrown).toMatchObject({ status: expected, param, ...(code !== null && { code }) })
    expect(JSON.stringify(thrown)).not.toMatch(/secret/)
  })

  test('maps a prompt that is too long to context_length_exceeded', async () => {
    const message = 'The input token count (9) exceeds the maximum number of tokens allowed (8).'
    const { chat } = await answered(json({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }, 400))
    expect((await chat(stream)).error).toEqual({ status: 400, code: 'context_length_exceeded' })
  })

  test('reads an error that is wrapped in a list, as for a stream', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', details }
    const { url } = await answered(json([{ error }], 429))
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gemini', ...question, stream }),
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '35'])
    await response.body?.cancel()
  })

  test('is a 404 for an unknown model that the client chose itself', async () => {
    const { client } = await answered(json({ error: { code: 404, status: 'NOT_FOUND' } }, 404))
    const result = await resultOfClient(client, { model: 'all/nope', ...question }, stream)
    expect(result.error).toEqual({ status: 404, code: 'model_not_found' })
  })

  test('returns the arguments of the answer tool as content', async () => {
    const { chat } = await answered(responses(end('STOP', { functionCall: { name: 'thing', args: { a: 1 } } })))
    const format = { type: 'json_schema', json_schema: { name: 'thing', schema: { type: 'object' } } }
    const result = await chat(stream, { response_format: format, tools: [lookup] })
    expect(result).toMatchObject({ content: '{"a":1}', calls: [], finish: 'stop' })
  })

  test('returns an image as a part of the message', async () => {
    const inlineData = { mimeType: 'image/png', data: 'AAEC' }
    const { chat } = await answered(responses(part({ text: 'Look:' }, { inlineData }), end('STOP', { inlineData })))
    const result = await chat(stream)
    const url = 'data:image/png;base64,AAEC'
    const image = { type: 'image_url', image_url: { url } }
    expect(result).toMatchObject({ content: 'Look:', extra: { images: [image, image] } })
  })

  test('returns several candidates as several choices', async () => {
    const two = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' },
        { index: 0, content: { parts: [{ text: 'a' }, call({})] }, finishReason: 'STOP' },
      ],
    }
    const { client } = await answered((_, response) => {
      const type = stream ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      response.end(stream ? `data: ${JSON.stringify(two)}\r\n\r\n` : JSON.stringify(two))
    })
    const seen: Record<number, { text: string; finish: unknown }> = {}
    const request = { model: 'gemini', ...question, n: 2, stream }
    const answer: unknown = await client.chat.completions.create(request as never)
    const chunks = stream ? (answer as AsyncIterable<Chunk>) : [answer as Chunk]
    for await (const { choices } of chunks) {
      for (const { index, delta, message, finish_reason: finish } of choices) {
        const choice = (seen[index] ??= { text: '', finish: null })
        choice.text += (delta ?? message)?.content ?? ''
        choice.finish ??= finish
      }
    }
    expect(seen).toEqual({ 0: { text: 'a', finish: 'tool_calls' }, 1: { text: 'b', finish: 'stop' } })
  })
})

interface Chunk {
  readonly choices: readonly {
    readonly index: number
    readonly delta?: { readonly content?: string | null }
    readonly message?: { readonly content?: string | null }
    readonly finish_reason: string | null
  }[]
}

test('ends the stream with an error that arrives after the first content', async () => {
  const { chat } = await answered(responses(part({ text: 'Hi' }), { error: { code: 500, status: 'INTERNAL' } }))
  const result = await chat(true)
  expect(result).toMatchObject({ content: 'Hi', finish: null, error: { code: 'service_unavailable' } })
})

test('turns an error inside a 200 before the first content into a status', async () => {
  const { chat } = await answered(responses({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }))
  expect((await chat(true)).error).toEqual({ status: 429, code: 'rate_limit_exceeded' })
})

test('assembles arguments that arrive in pieces by their paths', async () => {
  const pieces = [
    { jsonPath: '$.name', stringValue: 'a"', willContinue: true },
    { jsonPath: '$.name', stringValue: 'b' },
    { jsonPath: '$.list[0].n', numberValue: 1.5 },
    { jsonPath: '$.list[0].on', boolValue: true },
    { jsonPath: '$.list[1]', nullValue: 'NULL_VALUE' },
    { jsonPath: '$.list[9999999]', numberValue: 1 },
    { jsonPath: '$.empty[]' },
    { jsonPath: '$.__proto__.x', numberValue: 1 },
  ]
  const open = { name: 'lookup', willContinue: true }
  const { chat } = await answered(
    responses(
      part({ functionCall: open }),
      ...pieces.map((piece) => part({ functionCall: { partialArgs: [piece], willContinue: true } })),
      end('STOP', { functionCall: {} }),
    ),
  )
  const result = await chat(true)
  expect(result.calls.map(({ arguments: text }) => text)).toEqual([
    '{"name":"a\\"b","list":[{"n":1.5,"on":true},null],"empty":[],"__proto__":{"x":1}}',
  ])
  expect(Object.prototype).not.toHaveProperty('x')
})

test('lists the vendor’s models', async () => {
  const { client, vendor } = await answered(json({ models: [{ name: 'models/gemini-x' }] }))
  const listed = (await client.models.list()).data.find(({ id }) => id === 'all/gemini-x')
  expect(listed).toMatchObject({ object: 'model', owned_by: 'google' })
  expect(vendor.requests[0]?.headers).toMatchObject({ 'x-goog-api-key': 'secret' })
})
