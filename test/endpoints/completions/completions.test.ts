/** `POST /v1/completions` with a vendor that has this endpoint. */
import { openai } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes } from '../../shared.ts'
import { clientOf, errorOf, framesOf, post } from '../ask.ts'

const events = { 'content-type': 'text/event-stream' }

async function gatewayOver(reply: VendorReply, options: Parameters<typeof openai>[0] = {}) {
  const vendor = await vendorFor(reply)
  const hosted = await hostedWith({
    models: { m: openai({ baseURL: vendor.baseURL, ...options }) },
    retry: { maxAttempts: 1 },
  })
  return { ...hosted, vendor, client: clientOf(hosted.url) }
}

const whole = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1_700_000_000,
  model: 'm',
  choices: [
    { text: ' one', index: 0, logprobs: null, finish_reason: 'stop' },
    { text: ' two', index: 1, logprobs: { tokens: [' two'], token_logprobs: [-0.5] }, finish_reason: 'length' },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}

describe('a non-streaming completion', () => {
  test('is passed on byte for byte in both directions if nothing has to change', async () => {
    const text = JSON.stringify(whole, undefined, 1)
    const { url, vendor } = await gatewayOver((_, response) => void response.end(text))
    const answer = await post(url, '/completions', { model: 'm', prompt: 'Count:', n: 2, top_k: 5 })
    expect(answer.text).toBe(text)
    expect(vendor.requests[0]?.url).toBe('/v1/completions')
    expect(vendor.requests[0]?.json).toEqual({ model: 'm', prompt: 'Count:', n: 2, top_k: 5 })
  })

  test('gets the fields that the vendor omits', async () => {
    const { client } = await gatewayOver((_, response) => void response.end('{"choices":[{"text":"x"}]}'))
    const answer = await client.completions.create({ model: 'm', prompt: 'Count:' })
    expect(answer).toMatchObject({ object: 'text_completion', model: 'm' })
    expect(answer.id).toMatch(/^cmpl-/)
    expect(answer.choices).toEqual([{ text: 'x', index: 0, logprobs: null, finish_reason: 'stop' }])
    expect(answer.usage?.total_tokens).toBeGreaterThan(0)
  })

  test('has the model name of the client, and the request has the name of the vendor', async () => {
    const { client, vendor } = await gatewayOver((_, response) => void response.end(JSON.stringify(whole)), {
      modelNames: { m: 'theirs' },
    })
    expect((await client.completions.create({ model: 'm', prompt: 'x' })).model).toBe('m')
    expect(vendor.requests[0]?.json).toMatchObject({ model: 'theirs' })
  })

  test('is charged by the usage of the vendor', async () => {
    const { client, receipt } = await gatewayOver((_, response) => void response.end(JSON.stringify(whole)))
    await client.completions.create({ model: 'm', prompt: 'x' })
    expect(await receipt()).toMatchObject({
      endpoint: 'completions',
      outcome: 'completed',
      usage: whole.usage,
      usageSource: 'reported',
    })
  })

  test.each([
    ['texts', ['a', 'b']],
    ['tokens', [1, 2, 3]],
    ['lists of tokens', [[1], [2, 3]]],
  ])('accepts a prompt of %s', async (_, prompt) => {
    const { url, vendor } = await gatewayOver((__, response) => void response.end(JSON.stringify(whole)))
    expect((await post(url, '/completions', { model: 'm', prompt })).status).toBe(200)
    expect(vendor.requests[0]?.json).toMatchObject({ prompt })
  })
})

const replay: VendorReply = (_, response) =>
  void response.writeHead(200, events).end(sharedBytes('recordings/openai/completion-stream.sse'))

describe.skipIf(!hasShared)("a stream, by OpenAI's recording", () => {
  const recorded = 'The holiday is called "Gratitude Day" and it is a day dedicated to'

  test('each chunk is a text_completion, and [DONE] follows the last one', async () => {
    const { url } = await gatewayOver(replay)
    const frames = framesOf(await post(url, '/completions', { model: 'm', prompt: 'x', stream: true }))
    expect(frames.pop()).toBe('[DONE]')
    const chunks = frames.map((frame) => JSON.parse(frame) as Record<string, string> & { choices: { text: string }[] })
    const heads = chunks.map(({ id, object, created, model }) => `${object} ${id} ${created} ${model}`)
    const vendors = 'cmpl-D8ZFN477TMm6AoQohx2jSTOJMh60M 1770934485 gpt-3.5-turbo-instruct:20230824-v2'
    expect(new Set(heads)).toEqual(new Set([`text_completion ${vendors}`]))
    expect(chunks.map(({ choices }) => choices[0]?.text).join('')).toBe(recorded)
    expect(chunks.at(-1)?.choices).toEqual([{ text: ' to', index: 0, logprobs: null, finish_reason: 'length' }])
  })

  test('usage is always requested from the vendor, and sent to the client only on request', async () => {
    const { client, vendor, receipt } = await gatewayOver(replay)
    const last = async (options: object) => {
      const chunks = []
      for await (const chunk of await client.completions.create({
        model: 'm',
        prompt: 'x',
        stream: true,
        ...options,
      })) {
        chunks.push(chunk)
      }
      return chunks.at(-1)
    }
    expect((await last({}))?.choices).toHaveLength(1)
    const usage = { prompt_tokens: 14, completion_tokens: 16, total_tokens: 30 }
    expect(await last({ stream_options: { include_usage: true } })).toMatchObject({ choices: [], usage })
    for (const { json } of vendor.requests) expect(json).toMatchObject({ stream_options: { include_usage: true } })
    expect((await receipt()).usage).toEqual(usage)
  })

  test('gives the same events when it is split at any byte', async () => {
    const bytes = sharedBytes('recordings/openai/completion-stream.sse')
    const stride = 97
    // Each byte is the place of a split in one of these responses.
    let first = 1
    const { url } = await gatewayOver(async (_, response) => {
      response.writeHead(200, events)
      for (let at = 0; at < bytes.length; at = at === 0 ? first : at + stride) {
        response.write(bytes.subarray(at, at === 0 ? first : at + stride))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    for (; first <= stride; first++) {
      const frames = framesOf(await post(url, '/completions', { model: 'm', prompt: 'x', stream: true }))
      const text = frames
        .slice(0, -1)
        .map((frame) => (JSON.parse(frame) as { choices: { text: string }[] }).choices[0]?.text)
      expect([first, frames.at(-1), text.join('')]).toEqual([first, '[DONE]', recorded])
    }
  })

  test('a truncated response ends with an error and without [DONE]', async () => {
    const bytes = sharedBytes('recordings/openai/completion-stream.sse')
    const { url, receipt } = await gatewayOver((_, response) => {
      response.writeHead(200, events).write(bytes.subarray(0, 700))
      setTimeout(() => response.destroy(), 5)
    })
    const frames = framesOf(await post(url, '/completions', { model: 'm', prompt: 'x', stream: true }))
    expect(JSON.parse(frames.at(-1) ?? '')).toMatchObject({ error: { code: 'service_unavailable' } })
    expect((await receipt()).outcome).toBe('failed')
  })
})

describe('an error of the vendor', () => {
  test('before the first text becomes an HTTP status', async () => {
    const { url } = await gatewayOver((_, response) => {
      response
        .writeHead(200, events)
        .end('data: {"error":{"message":"secret detail","code":"rate_limit_exceeded"}}\n\n')
    })
    const answer = await post(url, '/completions', { model: 'm', prompt: 'x', stream: true })
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'rate_limit_exceeded'])
    expect(answer.text).not.toContain('secret')
  })

  test('about an unknown model is not mistaken for a missing endpoint', async () => {
    const { url, vendor } = await gatewayOver((_, response) => {
      response.writeHead(404).end('{"error":{"code":"model_not_found","message":"no"}}')
    })
    expect((await post(url, '/completions', { model: 'm', prompt: 'x' })).status).toBe(503)
    expect(vendor.requests).toHaveLength(1)
  })
})

test.each([
  ['prompt', { prompt: [] }],
  ['prompt', { prompt: [1.5] }],
  ['logprobs', { prompt: 'x', logprobs: 6 }],
  ['temperature', { prompt: 'x', temperature: 2.1 }],
  ['n', { prompt: 'x', n: 0 }],
  ['best_of', { prompt: 'x', n: 3, best_of: 2 }],
  ['best_of', { prompt: 'x', best_of: 2, stream: true }],
  ['stream_options', { prompt: 'x', stream_options: { include_usage: true } }],
  ['model', { model: '', prompt: 'x' }],
])('an invalid "%s" is rejected with the name of the field: %j', async (param, body) => {
  const { url } = await hostedWith({ models: { m: openai({ baseURL: 'http://127.0.0.1:9/v1' }) } })
  const answer = await post(url, '/completions', { model: 'm', ...body })
  expect([answer.status, errorOf(answer).param]).toEqual([400, param])
})
