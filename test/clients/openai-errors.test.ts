/** The official client against the quick start: every failure becomes the right error class of the client. */
import OpenAI, {
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import type { ChatCompletionChunk, ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { VendorReply } from 'modelhatch/testing'
import { serve, type Served } from './served.ts'

let served: Served
let client: OpenAI

beforeAll(async () => {
  served = await serve()
  client = served.client
})
afterAll(() => served?.stop())
afterEach(async () => {
  served.vendor.reply = served.usual
  expect(await served.verdict()).toEqual([])
})

const hello: ChatCompletionCreateParamsNonStreaming = {
  model: 'openai/gpt-9',
  messages: [{ role: 'user', content: 'Hello' }],
}

/** The error of a call, which must be of the given class. */
async function failure(call: Promise<unknown>, kind: abstract new (...input: never[]) => object) {
  const error: unknown = await call.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(kind)
  return error as InstanceType<typeof APIError>
}

function refusal(status: number, error: object, headers: Record<string, string> = {}): VendorReply {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: 'secret words of the vendor', type: 'x', param: null, ...error } }))
  }
}

test('401 for an unknown key and without a key, with a request id', async () => {
  for (const apiKey of ['sk-wrong', ' ']) {
    const call = client.withOptions({ apiKey }).models.list()
    const error = await failure(call, AuthenticationError)
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error', param: null })
    expect(error.requestID).toMatch(/^req_/)
  }
})

test('404 for an unknown model and for an unknown path', async () => {
  const chat = client.chat.completions.create({ ...hello, model: 'gpt-4' })
  expect(await failure(chat, NotFoundError)).toMatchObject({ status: 404, code: 'model_not_found' })
  expect(await failure(client.models.retrieve('a/b'), NotFoundError)).toMatchObject({
    code: 'model_not_found',
    message: '404 The model "a/b" does not exist or you do not have access to it.',
  })
  expect(await failure(client.files.list(), NotFoundError)).toMatchObject({ code: 'unknown_url' })
})

test.each<[object, string]>([
  [{ temperature: 3 }, 'temperature'],
  [{ messages: [] }, 'messages'],
  [{ messages: undefined }, 'messages'],
  [{ messages: [{ role: 'wizard', content: '' }] }, 'messages[0].role'],
  [{ model: 7 }, 'model'],
  [{ n: 0 }, 'n'],
  [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  [{ stream_options: { include_usage: true } }, 'stream_options'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
])('400 for %j, with the parameter %s', async (change, param) => {
  const call = client.chat.completions.create({ ...hello, ...change })
  const error = await failure(call, BadRequestError)
  expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param })
  expect(error.requestID).toMatch(/^req_/)
})

test('405, 413 and 415', async () => {
  expect(await failure(client.delete('/models'), APIError)).toMatchObject({ status: 405 })
  const large = client.chat.completions.create({ ...hello, user: 'x'.repeat(21 * 1024 * 1024) })
  expect(await failure(large, APIError)).toMatchObject({ status: 413, code: 'request_too_large' })
  const text = client.chat.completions.create(hello, { headers: { 'content-type': 'text/plain' } })
  expect(await failure(text, APIError)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
})

test('429 of a vendor, with its retry-after and without its message', async () => {
  served.vendor.reply = refusal(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '7' })
  const error = await failure(client.chat.completions.create(hello), RateLimitError)
  expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  expect(error.headers?.get('retry-after')).toBe('7')
  expect(error.headers?.get('retry-after-ms')).toBe('7000')
  expect(error.message).not.toContain('secret')
})

test('400 of a vendor, with the parameter it names', async () => {
  served.vendor.reply = refusal(400, { code: 'unsupported_parameter', param: 'max_tokens' })
  const error = await failure(client.chat.completions.create({ ...hello, max_tokens: 5 }), BadRequestError)
  expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'max_tokens' })
  expect(error.message).not.toContain('secret')
})

test('404 if the vendor does not know the model that the client chose', async () => {
  served.vendor.reply = refusal(404, { code: 'model_not_found' })
  const error = await failure(client.chat.completions.create(hello), NotFoundError)
  expect(error.code).toBe('model_not_found')
})

test.each([
  ['rejects the key of the operator', refusal(401, { code: 'invalid_api_key' })],
  [
    'reports an exhausted quota of the operator',
    refusal(429, { type: 'insufficient_quota', code: 'insufficient_quota' }),
  ],
  ['is down', refusal(500, {})],
  ['sends HTML', ((_, response) => void response.end('<html>')) satisfies VendorReply],
  ['hangs up', ((_, response) => void response.destroy()) satisfies VendorReply],
])('503 when the vendor %s', async (_, reply) => {
  served.vendor.reply = reply
  for (const stream of [false, true]) {
    const error = await failure(client.chat.completions.create({ ...hello, stream }), InternalServerError)
    expect(error).toMatchObject({ status: 503, code: 'service_unavailable', type: 'server_error' })
    expect(error.message).not.toContain('secret')
  }
})

test.each(['an error event', 'a cut connection', 'an end without [DONE]'])(
  '%s in a stream throws after the content before it',
  async (end) => {
    served.vendor.reply = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const choice = { index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }
      const chunk = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'gpt-9', choices: [choice] }
      await new Promise<void>((written) => response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => written()))
      if (end === 'an error event') response.end('data: {"error":{"message":"secret","type":"server_error"}}\n\n')
      else if (end === 'a cut connection') response.destroy()
      else response.end()
    }
    const seen: ChatCompletionChunk[] = []
    const read = async () => {
      for await (const chunk of await client.chat.completions.create({ ...hello, stream: true })) seen.push(chunk)
    }
    const error = await failure(read(), APIError)
    expect(seen[0]?.choices[0]?.delta.content).toBe('Hel')
    expect(error).toMatchObject({ code: 'service_unavailable' })
    expect(error.message).not.toContain('secret')
  },
)

test('the retries of the client follow the headers of the gateway and succeed', async () => {
  let refused = 0
  served.vendor.reply = (request, response) => {
    if (++refused > 2) return served.usual(request, response)
    return refusal(503, {}, { 'retry-after-ms': '20' })(request, response)
  }
  const completion = await client.withOptions({ maxRetries: 2 }).chat.completions.create(hello)
  expect(completion.choices[0]?.message.content).toContain('Hello')
  expect(refused).toBe(3)
})

test('the client does not retry a request that may have been charged', async () => {
  let asked = 0
  served.vendor.reply = (request, response) => {
    asked++
    return refusal(500, {})(request, response)
  }
  const picture = client
    .withOptions({ maxRetries: 2 })
    .images.generate({ model: 'openai/gpt-image-9', prompt: 'a cat' })
  const error = await failure(picture, InternalServerError)
  expect(error.headers?.get('x-should-retry')).toBe('false')
  expect(asked).toBe(1)
})

test('when a client aborts or times out, the request to the vendor is aborted', async () => {
  served.vendor.reply = () => undefined
  const before = served.vendor.requests.length
  // On a busy machine the time may be over before the vendor is asked.
  const timed = client.chat.completions.create(hello, { timeout: 50 })
  await failure(timed, APIConnectionTimeoutError)
  const asked = served.vendor.requests.length
  const leaving = new AbortController()
  const left = failure(client.chat.completions.create(hello, { signal: leaving.signal }), APIUserAbortError)
  await expect.poll(() => served.vendor.requests.length).toBeGreaterThan(asked)
  leaving.abort()
  await left
  for (const { signal } of served.vendor.requests.slice(before)) {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
})
