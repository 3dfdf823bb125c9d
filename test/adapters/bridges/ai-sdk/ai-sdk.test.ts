/** The AI SDK's own mock models behind a gateway: the options they get and the responses clients get. */
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { simulateReadableStream } from 'ai'
import {
  MockEmbeddingModelV4,
  MockImageModelV4,
  MockLanguageModelV4,
  MockProviderV4,
  MockTranscriptionModelV4,
} from 'ai/test'
import { fromAiSdk, type AiSdkOptions } from 'modelhatch/ai-sdk'
import { anthropicDialect } from 'modelhatch/testing'
import { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { geminiDialect } from '../../../../src/testing/dialects/gemini.ts'
import { scriptedDialect } from '../../../../src/testing/scripted-dialect.ts'
import { vendorFor } from '../../../hosted.ts'
import type { Sent } from '../../../providers/vendor-requests.ts'
import { served } from '../../../providers/served.ts'
import { resultOfClient, type ChatResult } from '../../../providers/chat-results.ts'

const usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
}
const stop = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage } as const

function saying(...chunks: LanguageModelV4StreamPart[]): MockLanguageModelV4 {
  const doStream: LanguageModelV4['doStream'] = async () => ({ stream: simulateReadableStream({ chunks }) })
  return new MockLanguageModelV4({ doStream, supportedUrls: { 'image/*': [/^https:\/\/pictures\.test\//] } })
}

async function resultFor(
  model: MockLanguageModelV4,
  request: object = {},
  options: AiSdkOptions = {},
): Promise<ChatResult> {
  const { client } = await served({ model: fromAiSdk(model, options) })
  return resultOfClient(client, { model: 'model', messages: [{ role: 'user', content: 'Hi' }], ...request }, true)
}

describe('a chat', () => {
  test('settings, tools and messages reach the model as SDK options', async () => {
    const model = saying(stop)
    const parameters = { type: 'object', properties: { q: { type: 'string' } } }
    await resultFor(
      model,
      {
        temperature: 0.5,
        top_p: 0.9,
        max_tokens: 7,
        stop: ['x'],
        seed: 3,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        reasoning_effort: 'low',
        tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters, strict: true } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        response_format: { type: 'json_schema', json_schema: { name: 'thing', schema: parameters } },
        messages: [
          { role: 'system', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } },
              { type: 'image_url', image_url: { url: 'https://pictures.test/cat.png' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAEC' } },
            ],
          },
          {
            role: 'assistant',
            content: 'So',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"q":"x"}' } },
              { id: 'b', type: 'function', function: { name: 'f', arguments: '' } },
            ],
          },
          { role: 'tool', tool_call_id: 'a', content: 'done' },
          { role: 'tool', tool_call_id: 'b', content: 'too' },
        ],
      },
      { providerOptions: { mock: { speed: 'high' } } },
    )
    const { abortSignal, ...options } = model.doStreamCalls[0] as Sent
    expect(abortSignal).toBeInstanceOf(AbortSignal)
    expect(options).toEqual({
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 7,
      stopSequences: ['x'],
      seed: 3,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      reasoning: 'low',
      tools: [{ type: 'function', name: 'f', description: 'F', inputSchema: parameters, strict: true }],
      toolChoice: { type: 'tool', toolName: 'f' },
      responseFormat: { type: 'json', name: 'thing', schema: parameters },
      providerOptions: { mock: { speed: 'high' } },
      prompt: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
            {
              type: 'file',
              mediaType: 'image/*',
              data: { type: 'url', url: new URL('https://pictures.test/cat.png') },
            },
            { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data: 'AAEC' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'So' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { q: 'x' } },
            { type: 'tool-call', toolCallId: 'b', toolName: 'f', input: {} },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'text', value: 'done' } },
            { type: 'tool-result', toolCallId: 'b', toolName: 'f', output: { type: 'text', value: 'too' } },
          ],
        },
      ],
    })
  })

  test('every kind of stream part reaches the client in OpenAI’s format', async () => {
    const result = await resultFor(
      saying(
        { type: 'stream-start', warnings: [] },
        { type: 'response-metadata', id: 'r1', modelId: 'mock', timestamp: new Date(1_000) },
        { type: 'reasoning-start', id: 'r', providerMetadata: { mock: { kind: 'k' } } },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata: { mock: { signature: 's' } } },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Yes' },
        { type: 'text-end', id: 't' },
        { type: 'tool-input-start', id: 'own', toolName: 'search', providerExecuted: true },
        { type: 'tool-call', toolCallId: 'own', toolName: 'search', input: '{}', providerExecuted: true },
        { type: 'tool-input-start', id: 'a', toolName: 'f' },
        { type: 'tool-input-delta', id: 'a', delta: '{"q":' },
        { type: 'tool-input-delta', id: 'a', delta: '1}' },
        { type: 'tool-input-end', id: 'a' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"q":1}' },
        {
          type: 'tool-call',
          toolCallId: 'b',
          toolName: 'g',
          input: '{"z":2}',
          providerMetadata: { mock: { mark: 'm' } },
        },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([0, 1, 2]) } },
        { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'x' }, usage },
      ),
      { tools: [{ type: 'function', function: { name: 'f' } }] },
    )
    expect(result).toEqual({
      content: 'Yes',
      reasoning: 'Hm.',
      calls: [
        { id: 'a', name: 'f', arguments: '{"q":1}', extra: {} },
        { id: 'b', name: 'g', arguments: '{"z":2}', extra: {} },
      ],
      finish: 'tool_calls',
      logprobs: [],
      repeats: [],
      extra: {
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } }],
        // The state of the reasoning, and that of a call.
        reasoning_details: [0, 1].map((index) => ({
          type: 'reasoning.encrypted',
          data: expect.stringMatching(/^mh1\./),
          format: 'modelhatch-v1',
          index,
        })),
      },
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    })
  })

  test('a model of an older SDK version works', async () => {
    const asked: Sent[] = []
    const model = {
      specificationVersion: 'v2',
      provider: 'old',
      modelId: 'old',
      supportedUrls: {},
      doStream: async (options: Sent) => {
        asked.push(options)
        const finish = { type: 'finish', finishReason: 'length', usage: { inputTokens: 3, outputTokens: 4 } }
        return { stream: simulateReadableStream({ chunks: [{ type: 'text-delta', id: 't', delta: 'Old' }, finish] }) }
      },
    }
    const { client } = await served({ model: fromAiSdk(model) })
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } }]
    const result = await resultOfClient(client, { model: 'model', messages: [{ role: 'user', content }] }, false)
    expect(result).toMatchObject({
      content: 'Old',
      finish: 'length',
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    })
    expect(asked[0].prompt[0].content[0].data).toBe('AAEC')
  })

  test('parallel_tool_calls: false passes on only the first tool call', async () => {
    const call = (id: string) => ({ type: 'tool-call', toolCallId: id, toolName: 'f', input: '{}' }) as const
    const model = saying(call('a'), call('b'), { ...stop, finishReason: { unified: 'tool-calls', raw: 'x' } })
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const result = await resultFor(model, { tools, parallel_tool_calls: false })
    expect(result.calls.map(({ id }) => id)).toEqual(['a'])
  })
})

describe('a message', () => {
  test('has sources, signed reasoning, images and tools that the vendor ran', async () => {
    const model = saying(
      { type: 'stream-start', warnings: [] },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { mock: { signature: 's' } } },
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://early.test/', title: 'Early' },
      { type: 'tool-call', toolCallId: 'own', toolName: 'web_search', input: '{"q":"x"}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'own', toolName: 'web_search', result: [{ url: 'https://late.test/' }] },
      { type: 'text-start', id: 't1' },
      { type: 'text-delta', id: 't1', delta: 'Yes' },
      { type: 'text-end', id: 't1' },
      { type: 'source', sourceType: 'url', id: 's2', url: 'https://late.test/' },
      { type: 'text-start', id: 't2' },
      { type: 'text-delta', id: 't2', delta: ', indeed.' },
      { type: 'text-end', id: 't2' },
      stop,
    )
    const { client } = await served({ model: fromAiSdk(model) })
    const { baseURL } = client
    const claude = new Anthropic({ baseURL: baseURL.replace(/\/v1\/?$/, ''), apiKey: client.apiKey, maxRetries: 0 })
    const first = { role: 'user' as const, content: 'Hi' }
    const request = { model: 'model', max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } as const }
    const message = await claude.messages.stream({ ...request, messages: [first] }).finalMessage()
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/^mh1\./) },
      { type: 'server_tool_use', name: 'web_search', input: { q: 'x' } },
      { type: 'web_search_tool_result', content: [{ url: 'https://late.test/' }] },
      { type: 'text', text: 'Yes', citations: [{ url: 'https://early.test/' }, { url: 'https://late.test/' }] },
      { type: 'text', text: ', indeed.' },
    ])
    const next = [first, { role: 'assistant' as const, content: message.content }, first]
    await claude.messages.create({ ...request, messages: next })
    const { prompt } = model.doStreamCalls[1] as Sent
    expect(prompt[1].content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 's' } } },
      { type: 'text', text: 'Yes' },
      { type: 'text', text: ', indeed.' },
    ])
  })

  test('is answered without reasoning by a model that has none', async () => {
    const model = {
      specificationVersion: 'v2',
      provider: 'old',
      modelId: 'old',
      supportedUrls: {},
      doStream: async () => {
        const finish = { type: 'finish', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 4 } }
        return { stream: simulateReadableStream({ chunks: [{ type: 'text-delta', id: 't', delta: 'Old' }, finish] }) }
      },
    }
    const { client } = await served({ model: fromAiSdk(model) })
    const claude = new Anthropic({
      baseURL: client.baseURL.replace(/\/v1\/?$/, ''),
      apiKey: client.apiKey,
      maxRetries: 0,
    })
    const { content } = await claude.messages.create({
      model: 'model',
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(content).toMatchObject([{ type: 'text', text: 'Old' }])
  })
})

describe('an unsupported field', () => {
  const warned = () =>
    saying({ type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'topP', details: 'secret' }] }, stop)

  test('that the model warns of is rejected by name if the client sent it and it is not in dropParams', async () => {
    expect((await resultFor(warned(), { top_p: 0.5 })).error).toEqual({ status: 400, code: 'unsupported_parameter' })
    expect(await resultFor(warned())).toMatchObject({ finish: 'stop' })
    expect(await resultFor(warned(), { top_p: 0.5 }, { dropParams: ['top_p'] })).toMatchObject({ finish: 'stop' })
  })

  test.each(['n', 'logprobs', 'logit_bias'])('%s is rejected before the model is called', async (field) => {
    const model = saying(stop)
    const result = await resultFor(model, { [field]: { n: 2, logprobs: true, logit_bias: { 1: 1 } }[field] })
    expect(result.error).toEqual({ status: 400, code: 'unsupported_parameter' })
    expect(model.doStreamCalls).toEqual([])
  })

  test('an image URL that the vendor does not fetch is rejected, not fetched here', async () => {
    const model = saying(stop)
    const content = [{ type: 'image_url', image_url: { url: 'https://elsewhere.test/cat.png' } }]
    const result = await resultFor(model, { messages: [{ role: 'user', content }] })
    expect(result.error).toEqual({ status: 400, code: 'unsupported_value' })
    expect(model.doStreamCalls).toEqual([])
  })
})

describe('a failure', () => {
  const failing = (error: unknown) =>
    new MockLanguageModelV4({
      doStream: async () => {
        throw error
      },
    })
  const answered = (statusCode: number | undefined, body: object = {}) =>
    new APICallError({
      message: 'secret',
      url: 'https://secret.test',
      requestBodyValues: {},
      ...(statusCode !== undefined && { statusCode }),
      responseBody: JSON.stringify({ error: body }),
    })

  test.each<[unknown, number, string]>([
    [answered(400, { type: 'invalid_request_error', message: 'max_tokens: secret' }), 400, 'invalid_request_error'],
    [
      answered(400, { type: 'invalid_request_error', message: 'prompt is too long: 9' }),
      400,
      'context_length_exceeded',
    ],
    [
      answered(400, { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }),
      503,
      'service_unavailable',
    ],
    [answered(401), 503, 'service_unavailable'],
    [answered(429, { code: 'insufficient_quota' }), 503, 'service_unavailable'],
    [answered(429), 429, 'rate_limit_exceeded'],
    [answered(undefined), 503, 'service_unavailable'],
    [answered(200), 503, 'service_unavailable'],
    [new TypeError('fetch failed: secret'), 503, 'service_unavailable'],
    ['secret', 503, 'service_unavailable'],
    [undefined, 503, 'service_unavailable'],
  ])('%s becomes %i %s', async (failed, status, code) => {
    const { client } = await served({ model: fromAiSdk(failing(failed)) })
    const asked = client.chat.completions.create({ model: 'model', messages: [{ role: 'user', content: 'Hi' }] })
    const [{ reason: thrown }] = (await Promise.allSettled([asked])) as [PromiseRejectedResult]
    expect(thrown).toMatchObject({ status, code })
    expect(JSON.stringify(thrown)).not.toContain('secret')
  })

  test('in the middle of a stream ends it with an error', async () => {
    const result = await resultFor(
      saying({ type: 'text-delta', id: 't', delta: 'Hi' }, { type: 'error', error: answered(500) }),
    )
    expect(result).toMatchObject({ content: 'Hi', finish: null, error: { code: 'service_unavailable' } })
  })

  test('a truncated stream ends with an error', async () => {
    const result = await resultFor(saying({ type: 'text-delta', id: 't', delta: 'Hi' }))
    expect(result).toMatchObject({ content: 'Hi', finish: null, error: { code: 'service_unavailable' } })
  })
})

describe('provider metadata returns in the next request', () => {
  const calls = [{ id: 'call_1', name: 'now', input: {} }]

  async function secondRequest(
    make: (baseURL: string) => ReturnType<typeof fromAiSdk>,
    dialect: typeof anthropicDialect,
  ) {
    const { reply } = scriptedDialect(dialect, () => ({ reasoning: 'Hm.', calls }))
    const vendor = await vendorFor(reply)
    const { client } = await served({ model: { provider: make(vendor.baseURL), providerModel: dialect.model } })
    const ask = { model: 'model', tools: [{ type: 'function' as const, function: { name: 'now' } }] }
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const { choices } = await client.chat.completions.create({ ...ask, messages })
    const answer = choices[0]?.message
    if (answer === undefined) throw new Error('no answer')
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'noon' }
    await client.chat.completions.create({ ...ask, messages: [...messages, answer, result] })
    return vendor.requests[1]?.json as Sent
  }

  test('to Claude: signed thinking', async () => {
    const make = (baseURL: string) => fromAiSdk(createAnthropic({ baseURL, apiKey: 'k' })(anthropicDialect.model))
    const { messages } = await secondRequest(make, anthropicDialect)
    expect(messages[1].content[0]).toEqual({ type: 'thinking', thinking: 'Hm.', signature: 'signed' })
  })

  test('to Gemini: the thought signature of a call', async () => {
    const make = (baseURL: string) =>
      fromAiSdk(createGoogleGenerativeAI({ baseURL: baseURL.replace('/v1', '/v1beta'), apiKey: 'k' }))
    const { contents } = await secondRequest(make, geminiDialect)
    expect(contents[1].parts.at(-1)).toMatchObject({ functionCall: { name: 'now' }, thoughtSignature: 'c2lnbmVk' })
  })
})

test('a provider of the SDK serves its models by their own names, and an unknown one is a 404', async () => {
  const provider = new MockProviderV4({
    languageModels: { talker: saying({ type: 'text-delta', id: 't', delta: 'Hi' }, stop) },
    embeddingModels: { counter: new MockEmbeddingModelV4({ doEmbed: { embeddings: [[1]], warnings: [] } }) },
  })
  const { client } = await served({ 'sdk/*': fromAiSdk(provider, { name: 'sdk' }) })
  const ask = (model: string) => resultOfClient(client, { model, messages: [{ role: 'user', content: 'Hi' }] }, false)
  expect(await ask('sdk/talker')).toMatchObject({ content: 'Hi' })
  expect((await ask('sdk/unknown')).error).toEqual({ status: 404, code: 'model_not_found' })
  expect((await client.embeddings.create({ model: 'sdk/counter', input: 'x' })).data[0]?.embedding).toEqual([1])
})

test('anything but a model or a provider is rejected immediately', () => {
  expect(() => fromAiSdk({ provider: 'x', modelId: 'y', specificationVersion: 'v4' } as never)).toThrow(
    /expected a model or a provider/,
  )
})

test('embeddings are requested in the batch size of the model', async () => {
  const model = new MockEmbeddingModelV4({
    maxEmbeddingsPerCall: 2,
    doEmbed: async ({ values }) => ({
      embeddings: values.map((value) => [Number(value)]),
      usage: { tokens: values.length },
      warnings: [],
    }),
  })
  const { client } = await served({ model: fromAiSdk(model) })
  const { data, usage: counted } = await client.embeddings.create({
    model: 'model',
    input: ['1', '2', '3'],
    dimensions: 1,
  })
  expect(data.map(({ embedding }) => embedding)).toEqual([[1], [2], [3]])
  expect(counted).toEqual({ prompt_tokens: 3, total_tokens: 3 })
  expect(model.doEmbedCalls.map(({ values, dimensions }) => [values, dimensions])).toEqual([
    [['1', '2'], 1],
    [['3'], 1],
  ])
  const rejected = client.embeddings.create({ model: 'model', input: [1] })
  await expect(rejected).rejects.toMatchObject({ status: 400, param: 'input' })
})

test('images are generated in as many calls as necessary, and edits get their files', async () => {
  const asked: Sent[] = []
  const model = new MockImageModelV4({
    maxImagesPerCall: 2,
    doGenerate: async (options) => {
      asked.push(options)
      return {
        images: Array.from({ length: options.n }, () => new Uint8Array([0, 1, 2])),
        warnings: options.size === '9x9' ? [{ type: 'unsupported', feature: 'size' }] : [],
        response: { timestamp: new Date(0), modelId: 'mock', headers: undefined },
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      }
    },
  })
  const { client } = await served({ model: fromAiSdk(model) })
  const answer = await client.images.generate({ model: 'model', prompt: 'A cat', n: 3, size: '512x512' })
  expect(answer).toMatchObject({ data: [{ b64_json: 'AAEC' }, { b64_json: 'AAEC' }, { b64_json: 'AAEC' }] })
  expect(answer.usage).toMatchObject({ input_tokens: 2, output_tokens: 4, total_tokens: 6 })
  expect(asked.map(({ prompt, n, size }) => [prompt, n, size])).toEqual([
    ['A cat', 2, '512x512'],
    ['A cat', 1, '512x512'],
  ])
  const file = await toFile(Buffer.from([7]), 'a.png', { type: 'image/png' })
  await client.images.edit({ model: 'model', prompt: 'Bluer', image: file, mask: file })
  const shown = { type: 'file', mediaType: 'image/png', data: Buffer.from([7]) }
  expect([asked.at(-1)?.files, asked.at(-1)?.mask]).toEqual([[shown], shown])
  const wrong = client.images.generate({ model: 'model', prompt: 'A cat', size: '9x9' })
  await expect(wrong).rejects.toMatchObject({ status: 400, param: 'size' })
})

test('a transcript is available in any format', async () => {
  const asked: Sent[] = []
  const model = new MockTranscriptionModelV4({
    doGenerate: async (options) => {
      asked.push(options)
      return {
        text: 'Hello.',
        segments: [{ text: 'Hello.', startSecond: 0, endSecond: 1.5 }],
        language: 'en',
        durationInSeconds: 1.5,
        warnings: [],
        response: { timestamp: new Date(0), modelId: 'mock' },
      }
    },
  })
  const { client } = await served({ model: fromAiSdk(model) })
  const file = await toFile(Buffer.from([1, 2, 3]), 'a.wav', { type: 'audio/wav' })
  expect((await client.audio.transcriptions.create({ model: 'model', file })).text).toBe('Hello.')
  expect(asked[0]).toMatchObject({ audio: Buffer.from([1, 2, 3]), mediaType: 'audio/wav' })
  const srt: unknown = await client.audio.transcriptions.create({ model: 'model', file, response_format: 'srt' })
  expect(srt).toContain('00:00:01,500')
  const diarized = client.audio.transcriptions.create({ model: 'model', file, response_format: 'diarized_json' })
  await expect(diarized).rejects.toMatchObject({ status: 400, param: 'response_format' })
  const rejected = client.audio.transcriptions.create({ model: 'model', file, language: 'en' })
  await expect(rejected).rejects.toMatchObject({ status: 400, param: 'language' })
})
