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
  const tell = (stream: boolean, request: object = {}) =>
    resultOfClient(gateway.client, { model: 'gemini', ...question, ...request }, stream)
  return { vendor, tell, ...gateway }
}

const json =
  (body: object, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))

/** In the form that was asked for: one body, or an event each. */
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
  test('calls that come one an event, beside text, are numbered over the whole answer', async () => {
    const { tell } = await answered(
      responses(part({ text: 'Let me ' }, call({ q: 1 })), part({ text: 'see.' }), end('STOP', call({ q: 2 }))),
    )
    const told = await tell(stream, { tools: [lookup] })
    expect(told).toMatchObject({ content: 'Let me see.', finish: 'tool_calls' })
    expect(told.calls.map(({ arguments: text }) => text)).toEqual(['{"q":1}', '{"q":2}'])
    expect(told.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 })
  })

  test('a function has the name of the client, though it has another one there', async () => {
    const { tell } = await answered(responses(end('STOP', { functionCall: { name: '_3d_model', args: {} } })))
    const told = await tell(stream, { tools: [{ type: 'function', function: { name: '3d_model' } }] })
    expect(told.calls).toMatchObject([{ name: '3d_model' }])
  })

  test('where only one call is wanted, only the first is handed on', async () => {
    const { tell } = await answered(responses(end('STOP', call({ q: 1 }), call({ q: 2 }))))
    const told = await tell(stream, { tools: [lookup], parallel_tool_calls: false })
    expect(told.calls.map(({ arguments: text }) => text)).toEqual(['{"q":1}'])
    expect(told.finish).toBe('tool_calls')
  })

  test.each([
    ['MAX_TOKENS', 'length'],
    ['RECITATION', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['OTHER', 'stop'],
  ])('%s is %s', async (reason, finish) => {
    const { tell } = await answered(responses(end(reason, { text: 'Hi' })))
    expect(await tell(stream)).toMatchObject({ content: 'Hi', finish })
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'])(
    '%s is no answer',
    async (reason) => {
      const { tell } = await answered(responses(end(reason, call({}))))
      const told = await tell(stream)
      expect(told).toMatchObject({ calls: [], finish: null, error: { status: 503 } })
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
  ])('%i %j becomes %i', async (status, error, expected, code, param) => {
    const { client } = await answered(json({ error: { code: status, ...error } }, status))
    const thrown = await client.chat.completions
      .create({ model: 'gemini', ...question, stream, max_tokens: 99 } as never)
      .catch((refusal: unknown) => refusal)
    expect(thrown).toMatchObject({ status: expected, param, ...(code !== null && { code }) })
    expect(JSON.stringify(thrown)).not.toMatch(/secret/)
  })

  test('a question that is too long says so', async () => {
    const message = 'The input token count (9) exceeds the maximum number of tokens allowed (8).'
    const { tell } = await answered(json({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }, 400))
    expect((await tell(stream)).error).toEqual({ status: 400, code: 'context_length_exceeded' })
  })

  test('an error in a list, as it comes in place of a stream, is read', async () => {
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

  test('a model name of the client’s own that the vendor does not know is a 404', async () => {
    const { client } = await answered(json({ error: { code: 404, status: 'NOT_FOUND' } }, 404))
    const told = await resultOfClient(client, { model: 'all/nope', ...question }, stream)
    expect(told.error).toEqual({ status: 404, code: 'model_not_found' })
  })

  test('a schema that was filled in through a function is the content of the answer', async () => {
    const { tell } = await answered(responses(end('STOP', { functionCall: { name: 'thing', args: { a: 1 } } })))
    const format = { type: 'json_schema', json_schema: { name: 'thing', schema: { type: 'object' } } }
    const told = await tell(stream, { response_format: format, tools: [lookup] })
    expect(told).toMatchObject({ content: '{"a":1}', calls: [], finish: 'stop' })
  })

  test('a picture in the answer is a part of the message', async () => {
    const inlineData = { mimeType: 'image/png', data: 'AAEC' }
    const { tell } = await answered(responses(part({ text: 'Look:' }, { inlineData }), end('STOP', { inlineData })))
    const told = await tell(stream)
    const url = 'data:image/png;base64,AAEC'
    const image = { type: 'image_url', image_url: { url } }
    expect(told).toMatchObject({ content: 'Look:', extra: { images: [image, image] } })
  })

  test('several candidates are several choices', async () => {
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

test('an error behind the first words ends the stream with an error', async () => {
  const { tell } = await answered(responses(part({ text: 'Hi' }), { error: { code: 500, status: 'INTERNAL' } }))
  const told = await tell(true)
  expect(told).toMatchObject({ content: 'Hi', finish: null, error: { code: 'service_unavailable' } })
})

test('an error in front of the first word is a status, though the vendor said 200', async () => {
  const { tell } = await answered(responses({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }))
  expect((await tell(true)).error).toEqual({ status: 429, code: 'rate_limit_exceeded' })
})

test('arguments that come in pieces are put together by their places', async () => {
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
  const { tell } = await answered(
    responses(
      part({ functionCall: open }),
      ...pieces.map((piece) => part({ functionCall: { partialArgs: [piece], willContinue: true } })),
      end('STOP', { functionCall: {} }),
    ),
  )
  const told = await tell(true)
  expect(told.calls.map(({ arguments: text }) => text)).toEqual([
    '{"name":"a\\"b","list":[{"n":1.5,"on":true},null],"empty":[],"__proto__":{"x":1}}',
  ])
  expect(Object.prototype).not.toHaveProperty('x')
})

test('the vendor’s models are listed', async () => {
  const { client, vendor } = await answered(json({ models: [{ name: 'models/gemini-x' }] }))
  const listed = (await client.models.list()).data.find(({ id }) => id === 'all/gemini-x')
  expect(listed).toMatchObject({ object: 'model', owned_by: 'google' })
  expect(vendor.requests[0]?.headers).toMatchObject({ 'x-goog-api-key': 'secret' })
})
