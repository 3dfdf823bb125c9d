/**
 * Google's official client against every framework and the models of every kind of vendor. A beginner's agent: it asks, runs
 * the functions that the model calls, and asks again.
 */
import {
  ApiError,
  FunctionCallingConfigMode,
  GoogleGenAI,
  type Content,
  type GenerateContentResponse,
  type Part,
} from '@google/genai'
import { createGateway } from 'modelhatch'
import { anthropic, demo, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, type Dialect, type DialectRequest, type Script } from 'modelhatch/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { scriptedVendor, type ScriptedVendor } from '../../src/testing/vendor.ts'
import { plainHosts, type RunningHost } from '../adapters/hosts/hosts.ts'

const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }

/** Asks for the weather, and says it once it knows. */
function weather({ turns, tools }: DialectRequest): Script {
  const [result] = turns.at(-1)?.results ?? []
  if (result !== undefined) return { text: `It is ${result.text}.`, usage }
  const images = turns.at(-1)?.images ?? []
  if (images.length > 0) return { text: `I see ${images.join()}.`, usage }
  if (tools.length === 0) return { text: '{"sky":"blue"}', usage }
  // A schema that the vendor cannot enforce is the input of a function.
  if (!tools.includes('weather'))
    return { calls: [{ id: 'call_2', name: tools[0] ?? '', input: { sky: 'blue' } }], usage }
  const call = { id: 'call_1', name: 'weather', input: { city: 'Zürich', days: [1, 2] } }
  return { reasoning: 'I must look.', text: 'Let me see.', calls: [call], usage }
}

const vendors: ScriptedVendor[] = []

async function scripted(dialect: Dialect): Promise<string> {
  const vendor = await scriptedVendor(scriptedDialect(dialect, weather).reply)
  vendors.push(vendor)
  return vendor.baseURL
}

const weatherTool = {
  functionDeclarations: [
    {
      name: 'weather',
      description: 'The weather of a city',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
}
const question: Content = { role: 'user', parts: [{ text: 'How is the weather?' }] }
const models = ['claude', 'gpt', 'gemini', 'routed']

async function gatewayFor() {
  const [claude, gpt, google] = await Promise.all([
    scripted(anthropicDialect),
    scripted(openaiDialect),
    scripted(geminiDialect),
  ])
  const providers = {
    claude: { provider: anthropic({ baseURL: claude }), providerModel: anthropicDialect.model },
    gpt: { provider: openai({ baseURL: gpt, responses: false }), providerModel: openaiDialect.model },
    gemini: { provider: gemini({ baseURL: google.replace('/v1', '') }), providerModel: geminiDialect.model },
  }
  return createGateway({
    keys: { 'sk-test': {}, 'sk-slow': { rate: { requests: '1/h' } } },
    models: {
      claude: { ...providers.claude, maxOutputTokens: 64_000, contextWindow: 200_000, displayName: 'Claude' },
      gpt: providers.gpt,
      gemini: providers.gemini,
      routed: { route: ['gpt'] },
      vectors: demo({ paceMs: 0 }),
      down: anthropic({ baseURL: 'http://127.0.0.1:1' }),
    },
    retry: { maxAttempts: 1 },
  })
}

describe.each(plainHosts.filter(({ http2 }) => !http2))('on $name', (host) => {
  let gateway: Awaited<ReturnType<typeof gatewayFor>>
  let running: RunningHost
  let client: GoogleGenAI
  const clientFor = (apiKey: string) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `http://127.0.0.1:${running.port}${host.path}` } })

  beforeAll(async () => {
    gateway = await gatewayFor()
    running = await host.start(gateway)
    client = clientFor('sk-test')
  })

  afterAll(async () => {
    await running.close()
    await gateway.close({ graceMs: 0 })
    await Promise.all(vendors.splice(0).map((vendor) => vendor.close()))
  })

  /** All parts of an answer, with its end and its usage. */
  async function answered(model: string, contents: Content[], stream: boolean) {
    const config = { tools: [weatherTool], thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } }
    const chunks: GenerateContentResponse[] = []
    if (!stream) chunks.push(await client.models.generateContent({ model, contents, config }))
    else
      for await (const chunk of await client.models.generateContentStream({ model, contents, config }))
        chunks.push(chunk)
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    const last = chunks.at(-1)
    return { parts, last, finish: last?.candidates?.[0]?.finishReason }
  }

  const textOf = (parts: readonly Part[], thought = false) =>
    parts.flatMap((part) => ((part.thought ?? false) === thought ? (part.text ?? '') : [])).join('')

  test.each(models.flatMap((model) => [false, true].map((stream) => ({ model, stream }))))(
    'an agent of $model calls a function and answers, streamed: $stream',
    async ({ model, stream }) => {
      const first = await answered(model, [question], stream)
      expect(first.finish).toBe('STOP')
      expect(first.last).toMatchObject({ modelVersion: model })
      expect(first.last?.usageMetadata).toMatchObject({
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        totalTokenCount: 130,
      })
      expect(textOf(first.parts, true)).toBe('I must look.')
      expect(textOf(first.parts)).toBe('Let me see.')
      const [call] = first.parts.flatMap(({ functionCall }) => functionCall ?? [])
      expect(call).toMatchObject({ name: 'weather', args: { city: 'Zürich', days: [1, 2] } })
      const result = { functionResponse: { id: call?.id ?? '', name: 'weather', response: { output: 'sunny' } } }
      const contents = [question, { role: 'model', parts: first.parts }, { role: 'user', parts: [result] }]
      const last = await answered(model, contents, stream)
      expect(textOf(last.parts)).toBe('It is sunny.')
    },
  )

  test.each(models)('a chat of %s that streams keeps its history', async (model) => {
    const chat = client.chats.create({ model, config: { tools: [weatherTool] } })
    const calls: Part[] = []
    for await (const chunk of await chat.sendMessageStream({ message: 'How is the weather?' })) {
      for (const call of chunk.functionCalls ?? [])
        calls.push({ functionResponse: { id: call.id ?? '', name: call.name ?? '', response: { output: 'rainy' } } })
    }
    const answer = await chat.sendMessage({ message: calls })
    expect(answer.text).toBe('It is rainy.')
    expect(chat.getHistory(true).at(-1)?.role).toBe('model')
  })

  test.each(models)('%s sees images, and answers by a schema', async (model) => {
    const parts = [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: 'AAEC' } }]
    const seen = await client.models.generateContent({ model, contents: [{ role: 'user', parts }] })
    expect(seen.text).toContain('AAEC')
    const schema = {
      type: 'object',
      properties: { sky: { type: 'string' } },
      required: ['sky'],
      additionalProperties: false,
    }
    const config = { responseMimeType: 'application/json', responseJsonSchema: schema }
    const answer = await client.models.generateContent({ model, contents: 'The sky?', config })
    expect(JSON.parse(answer.text ?? '')).toEqual({ sky: 'blue' })
  })

  test.each(models)('a conversation with the thoughts of every other vendor goes on with %s', async (model) => {
    const contents = [question]
    for (const other of models) {
      const { parts } = await answered(other, [question], true)
      const [call] = parts.flatMap(({ functionCall }) => functionCall ?? [])
      const result = { functionResponse: { id: call?.id ?? '', name: 'weather', response: { output: other } } }
      contents.push({ role: 'model', parts }, { role: 'user', parts: [result] })
    }
    const { parts } = await answered(model, contents, false)
    expect(textOf(parts)).toBe('It is routed.')
  })

  test('a function can be forced', async () => {
    const toolConfig = {
      functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['weather'] },
    }
    const config = { tools: [weatherTool], toolConfig }
    const { functionCalls } = await client.models.generateContent({ model: 'gpt', contents: 'Hi', config })
    expect(functionCalls).toMatchObject([{ name: 'weather' }])
  })

  test('without alt=sse a stream is one JSON list', async () => {
    const url = `http://127.0.0.1:${running.port}${host.path}/v1beta/models/gpt:streamGenerateContent`
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [question], tools: [weatherTool] }),
    })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const list = (await response.json()) as GenerateContentResponse[]
    expect(list.length).toBeGreaterThan(1)
    expect(list.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
  })

  test('tokens are counted, and vectors computed', async () => {
    const { totalTokens } = await client.models.countTokens({ model: 'gpt', contents: 'How many tokens are these?' })
    expect(totalTokens).toBeGreaterThan(5)
    const config = { outputDimensionality: 4 }
    const { embeddings } = await client.models.embedContent({ model: 'vectors', contents: ['a', 'b'], config })
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([4, 4])
  })

  test('models are listed page by page', async () => {
    const names: (string | undefined)[] = []
    for await (const model of await client.models.list({ config: { pageSize: 2 } })) names.push(model.name)
    expect(names).toEqual([...models.slice(0, 4), 'vectors', 'down'].map((name) => `models/${name}`))
    expect(await client.models.get({ model: 'claude' })).toMatchObject({
      name: 'models/claude',
      displayName: 'Claude',
      inputTokenLimit: 200_000,
      outputTokenLimit: 64_000,
    })
  })

  test('every failure is the right error of the client', async () => {
    const failure = async (call: Promise<unknown>) => {
      const error = await call.then(
        () => 'no error',
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(ApiError)
      const { status, message } = error as ApiError
      return { ...(JSON.parse(message) as { error: { status: string; message: string } }).error, http: status }
    }
    const ask = (body: object, from = client) => from.models.generateContent({ model: 'gpt', contents: 'Hi', ...body })
    expect(await failure(ask({}, clientFor('sk-wrong')))).toMatchObject({ http: 401, status: 'UNAUTHENTICATED' })
    expect(await failure(ask({ model: 'unknown' }))).toMatchObject({ http: 404, status: 'NOT_FOUND' })
    expect(await failure(ask({ model: 'down' }))).toMatchObject({ http: 503, status: 'UNAVAILABLE' })
    expect(await failure(ask({ contents: [{ role: 'robot', parts: [{ text: 'x' }] }] }))).toMatchObject({
      http: 400,
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining('contents[0].role'),
    })
    const slow = clientFor('sk-slow')
    await ask({}, slow)
    expect(await failure(ask({}, slow))).toMatchObject({ http: 429, status: 'RESOURCE_EXHAUSTED' })
  })
})
