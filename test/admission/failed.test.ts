/** What an account pays for requests that fail after the vendor has reported its usage. */
import { describe, expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import { memoryLedger, type BillingOptions } from '../../src/index.ts'
import { gemini, openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

/** What every vendor below reports for one call. */
const [input, output] = [40, 60]
const chatUsage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output }

/** A gateway whose model `m` costs one micro-unit a token at either of two vendors. */
async function scene(reply: VendorReply, options: Partial<BillingOptions> & { responses?: boolean } = {}) {
  const { responses = false, ...billing } = options
  const vendor = await vendorFor(reply)
  const { baseURL } = vendor
  const ledger = memoryLedger()
  await ledger.open({ id: 'acme', unlimited: true })
  const makers = {
    chats: (name: string) => openai({ name, baseURL, responses }),
    google: (name: string) => gemini({ name, baseURL, apiKey: 'secret' }),
  }
  const models = Object.entries(makers).map(([name, make]) => {
    const route = ['first', 'second'].map((each) => ({ provider: make(each), providerModel: 'm', order: 0 }))
    return [name, { route, price: { input: '1', output: '1', image: '5' } }] as const
  })
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: Object.fromEntries(models),
    storage: { ledger },
    billing: { currency: 'EUR', ...billing },
    retry: { backoffMs: 1 },
  })
  /** Sends a request, and resolves with what it cost in micro-units, and the calls of the vendor. */
  const paid = async (path: string, body: object) => {
    const response = await fetch(`${hosted.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const receipt = await hosted.receipt()
    const { settlements, holds, faults } = await ledger.audit()
    expect({ holds, faults }).toEqual({ holds: 0n, faults: [] })
    const { status, headers } = response
    const { outcome, charge } = receipt
    const retries = headers.get('x-should-retry')
    return { cost: settlements, calls: vendor.requests.length, outcome, basis: charge?.basis, status, retries, text }
  }
  return { paid, vendor }
}

const charged = { cost: BigInt(input + output), calls: 1, outcome: 'failed', basis: 'reported' }

function events(response: ServerResponse, frames: readonly object[], end = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(frames.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('') + end)
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

type Made = readonly { readonly delta: object; readonly message: object }[]

const head = { id: 'x', object: 'chat.completion', created: 1, model: 'm' }

/** A chat in the form that was asked for. `finish`: the finish reason. */
type Json = Record<string, unknown>
const streams = (sent: unknown) => (sent as Json)['stream'] === true

const chat =
  (made: Made, finish: string, counted: object | null = chatUsage): VendorReply =>
  (request, response) => {
    if (streams(request.json)) {
      const chunks = made.map(({ delta }) => ({ ...head, choices: [{ index: 0, delta }] }))
      const last = { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] }
      return events(
        response,
        [...chunks, last, ...(counted ? [{ ...head, choices: [], usage: counted }] : [])],
        'data: [DONE]\n\n',
      )
    }
    const message = Object.assign({ role: 'assistant', content: null }, ...made.map((each) => each.message))
    json(response, { ...head, choices: [{ index: 0, message, finish_reason: finish }], usage: counted })
  }

const calls = (...args: readonly string[]): Made => {
  const list = args.map((text, index) => ({
    id: `c${index}`,
    type: 'function',
    function: { name: 'f', arguments: text },
  }))
  return list.map((call, index) => ({ delta: { tool_calls: [{ index, ...call }] }, message: { tool_calls: list } }))
}
const said = (content: string): Made[number] => ({ delta: { content }, message: { content } })

const ask = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
const tools = [{ name: 'f', input_schema: { type: 'object' } }]

describe.each([true, false])('streamed: %s', (stream) => {
  /** A whole message can have an input that is not JSON; in a stream, clients have read it as JSON before its end is known. */
  const read = stream ? charged : { ...charged, outcome: 'completed', status: 200 }

  test.each(['[1]', '{"a":', '"text"'])(
    'a message whose call has the input %s is charged as reported, and asked for once',
    async (input) => {
      const { paid } = await scene(chat(calls(input), 'tool_calls'))
      expect(await paid('messages', { model: 'chats', ...ask, tools, stream })).toMatchObject(read)
    },
  )

  test('a message with such a call before others is read to its end', async () => {
    const { paid } = await scene(chat([...calls('[1]', '{}'), said('Done.')], 'tool_calls'))
    const answer = await paid('messages', { model: 'chats', ...ask, tools, stream })
    expect(answer).toMatchObject(read)
  })

  test('a message with such a call of a vendor that reports nothing is charged by estimate', async () => {
    const { paid } = await scene(chat([said('x'.repeat(400)), ...calls('[1]')], 'tool_calls', null))
    const { cost, calls: count, basis } = await paid('messages', { model: 'chats', ...ask, tools, stream })
    expect({ count, basis }).toEqual({ count: 1, basis: 'estimated' })
    expect(cost).toBeGreaterThan(100n)
  })

  test.each([
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MALFORMED_RESPONSE',
    'MISSING_THOUGHT_SIGNATURE',
  ])('an answer of Gemini that ends with %s is charged as reported, and asked for once', async (finishReason) => {
    for (const parts of [[], [{ text: 'Hello' }]]) {
      const { paid } = await scene(({ url }, response) => {
        const last = { candidates: [{ content: { parts: [] }, finishReason }], usageMetadata }
        if (url.includes('alt=sse')) return events(response, [{ candidates: [{ content: { parts } }] }, last])
        json(response, { ...last, candidates: [{ content: { parts }, finishReason }] })
      })
      expect(await paid('chat/completions', { model: 'google', ...ask, stream })).toMatchObject(charged)
    }
  })

  test.each([
    ['an error', { error: { code: 'server_error', message: 'x' } }],
    ['no error', {}],
  ])('a response that failed with usage and %s is charged as reported, and asked for once', async (_, more) => {
    const failed = { id: 'r', object: 'response', status: 'failed', output: [], model: 'm', usage, ...more }
    const reply: VendorReply = (request, response) =>
      streams(request.json)
        ? events(response, [
            { type: 'response.created', response: { ...failed, status: 'in_progress', usage: null, error: null } },
            { type: 'response.failed', response: failed },
          ])
        : json(response, failed)
    const [native, translated] = [await scene(reply, { responses: true }), await scene(reply, { responses: true })]
    expect(await native.paid('responses', { model: 'chats', input: 'Hi', stream })).toMatchObject(charged)
    expect(await translated.paid('messages', { model: 'chats', ...ask, stream })).toMatchObject(charged)
  })

  test('a chat that ends with an error and usage is charged as reported, and asked for once', async () => {
    const { paid } = await scene((request, response) => {
      const choice = { index: 0, finish_reason: 'error' }
      const body = { ...head, usage: chatUsage }
      if (streams(request.json)) events(response, [{ ...body, choices: [{ ...choice, delta: {} }] }])
      else json(response, { ...body, choices: [{ ...choice, message: { role: 'assistant', content: '' } }] })
    })
    expect(await paid('chat/completions', { model: 'chats', ...ask, stream })).toMatchObject(charged)
  })

  test('an answer without content is charged as reported, and asked for once', async () => {
    const { paid } = await scene((request, response) => {
      const body = { ...head, choices: [], usage: chatUsage }
      if (streams(request.json)) events(response, [body], 'data: [DONE]\n\n')
      else json(response, body)
    })
    expect(await paid('chat/completions', { model: 'chats', ...ask, stream })).toMatchObject(charged)
  })

  test('of several prompts, those that were completed before one failed are charged', async () => {
    const { paid } = await scene(({ url, json: sent }, response) => {
      const fine = { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }], usageMetadata }
      if (!JSON.stringify(sent).includes('broken')) {
        return url.includes('alt=sse') ? events(response, [fine]) : json(response, fine)
      }
      // After the other one.
      setTimeout(() => response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}'), 100)
    })
    const { cost } = await paid('completions', { model: 'google', prompt: ['fine', 'broken'], max_tokens: 9, stream })
    expect(cost).toBe(BigInt(input + output))
  })

  test('a stream that breaks off without usage is charged only with chargeFailed', async () => {
    for (const chargeFailed of [false, true]) {
      const { paid } = await scene(
        (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          const chunk = { ...head, choices: [{ index: 0, delta: { content: 'x'.repeat(400) } }] }
          response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => response.destroy())
        },
        { chargeFailed },
      )
      const { cost, basis } = await paid('chat/completions', { model: 'chats', ...ask, stream: true })
      if (chargeFailed) expect(cost).toBeGreaterThan(100n)
      else expect({ cost, basis }).toEqual({ cost: 0n, basis: 'none' })
    }
  })
})

test('batches of embeddings that were made before one failed are charged', async () => {
  const { paid } = await scene((request, response) => {
    const { requests } = request.json as { requests: { content: { parts: [{ text: string }] } }[] }
    if (requests.some(({ content }) => content.parts[0].text === 'broken'))
      return void setTimeout(() => response.writeHead(400, { 'content-type': 'application/json' }).end('{}'), 100)
    json(response, { embeddings: requests.map(() => ({ values: [1] })), usageMetadata })
  })
  const texts = [...Array.from({ length: 100 }, () => 'fine'), 'broken']
  const { cost } = await paid('embeddings', { model: 'google', input: texts })
  expect(cost).toBeGreaterThan(0n)
})

test('a compaction whose model writes no summary is charged as reported, and asked for once', async () => {
  const { paid } = await scene(chat([said(' ')], 'stop'))
  expect(await paid('responses/compact', { model: 'chats', input: 'Hi' })).toMatchObject(charged)
})

test.each([
  ['refuses to draw', 'IMAGE_SAFETY', 400],
  ['does not draw', 'STOP', 503],
])(
  'an image that the model %s is charged the tokens that are reported, and no price of an image',
  async (_, reason, status) => {
    const { paid } = await scene((__, response) =>
      json(response, { candidates: [{ content: { parts: [] }, finishReason: reason }], usageMetadata }),
    )
    const answer = await paid('images/generations', { model: 'google', prompt: 'x' })
    expect(answer).toMatchObject({ ...charged, status })
  },
)

const images = { model: 'chats', prompt: 'x', n: 2 }

test('images that the vendor refuses to draw cost nothing', async () => {
  const { paid } = await scene((_, response) => {
    const error = { message: 'x', code: 'moderation_blocked', type: 'image_generation_user_error' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
  expect(await paid('images/generations', images)).toMatchObject({ cost: 0n, calls: 1, basis: 'none', status: 400 })
})

test('images that were drawn, but are too large to be read, cost their price', async () => {
  const { paid } = await scene((_, response) => {
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(Buffer.alloc(70_000_000, ' '))
  })
  const { cost, ...rest } = await paid('images/generations', images)
  expect(rest).toMatchObject({ calls: 1, status: 503, basis: 'estimated' })
  // And tokens, at most as many as are held.
  expect(cost).toBeGreaterThanOrEqual(10_000_000n)
  expect(cost).toBeLessThan(10_100_000n)
})
