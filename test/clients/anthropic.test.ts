/**
 * Anthropic's official client against every framework: models of a vendor with its own API, and models of vendors that only
 * chat. A beginner's agent: it asks, runs the tools that the model calls, and asks again.
 */
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { createGateway } from 'modelhatch'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, type Dialect, type DialectRequest, type Script } from 'modelhatch/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { scriptedVendor, type ScriptedVendor, type VendorReply } from '../../src/testing/vendor.ts'
import { plainHosts, type RunningHost } from '../adapters/hosts/hosts.ts'

const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }

/** Asks for the weather, and says it once it knows. */
function weather({ turns }: DialectRequest): Script {
  const [result] = turns.at(-1)?.results ?? []
  if (result !== undefined) return { text: `It is ${result.text}.`, usage }
  const call = { id: 'call_1', name: 'weather', input: { city: 'Zürich', days: [1, 2] } }
  return { reasoning: 'I must look.', text: 'Let me see.', calls: [call], usage }
}

const vendors: ScriptedVendor[] = []

async function vendorOf(reply: VendorReply): Promise<string> {
  const vendor = await scriptedVendor(reply)
  vendors.push(vendor)
  return vendor.baseURL
}

const scripted = (dialect: Dialect) => vendorOf(scriptedDialect(dialect, weather).reply)

const tool: Anthropic.Tool = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const ask = { max_tokens: 2_000, messages: [{ role: 'user' as const, content: 'How is the weather?' }], tools: [tool] }
const models = ['claude-native', 'gpt', 'gemini']

async function gatewayFor() {
  const [claude, gpt, google, long] = await Promise.all([
    scripted(anthropicDialect),
    scripted(openaiDialect),
    scripted(geminiDialect),
    vendorOf((_, response) => {
      const error = { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' }
      response.writeHead(400, { 'content-type': 'application/json', 'request-id': 'req_vendor' })
      response.end(JSON.stringify({ type: 'error', error }))
    }),
  ])
  return createGateway({
    keys: { 'sk-test': {}, 'sk-slow': { rate: { requests: '1/h' } } },
    models: {
      'claude-native': {
        provider: anthropic({ baseURL: claude }),
        providerModel: anthropicDialect.model,
        displayName: 'Claude',
        contextWindow: 200_000,
        maxOutputTokens: 64_000,
      },
      gpt: { provider: openai({ baseURL: gpt, responses: false }), providerModel: openaiDialect.model },
      gemini: { provider: gemini({ baseURL: google.replace('/v1', '') }), providerModel: geminiDialect.model },
      long: anthropic({ baseURL: long }),
      down: anthropic({ baseURL: 'http://127.0.0.1:1' }),
    },
    retry: { maxAttempts: 1 },
  })
}

describe.each(plainHosts.filter(({ http2 }) => !http2))('on $name', (host) => {
  let gateway: Awaited<ReturnType<typeof gatewayFor>>
  let running: RunningHost
  let client: Anthropic

  beforeAll(async () => {
    gateway = await gatewayFor()
    running = await host.start(gateway)
    client = new Anthropic({
      apiKey: 'sk-test',
      baseURL: `http://127.0.0.1:${running.port}${host.path}`,
      maxRetries: 0,
    })
  })
  afterAll(async () => {
    await gateway?.close({ graceMs: 0 })
    await running?.close()
    await Promise.all(vendors.splice(0).map((vendor) => vendor.close()))
  })

  test.each(models.flatMap((model) => [false, true].map((stream) => ({ model, stream }))))(
    'an agent of $model runs a tool and answers, streamed: $stream',
    async ({ model, stream }) => {
      const answered = (messages: Anthropic.MessageParam[]) => {
        const body = { ...ask, model, messages, thinking: { type: 'enabled' as const, budget_tokens: 1_024 } }
        return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body)
      }
      const first = await answered(ask.messages)
      expect(first).toMatchObject({ model, role: 'assistant', stop_reason: 'tool_use' })
      expect(first.usage).toMatchObject({ input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 30 })
      // What Gemini wants back with its call is in a thinking block before it.
      const of = (type: string) => first.content.find((block) => block.type === type)
      expect(of('thinking')).toMatchObject({ thinking: 'I must look.' })
      expect(of('text')).toMatchObject({ text: 'Let me see.' })
      const call = of('tool_use')
      expect(call).toMatchObject({ name: 'weather', input: { city: 'Zürich', days: [1, 2] } })
      const { id } = call as Anthropic.ToolUseBlock
      const results: Anthropic.MessageParam = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: 'sunny' }],
      }
      const last = await answered([...ask.messages, { role: 'assistant', content: first.content }, results])
      expect(last.stop_reason).toBe('end_turn')
      // Gemini signs its answer too.
      const spoken = last.content.filter(({ type }) => type !== 'thinking')
      expect(spoken).toMatchObject([{ type: 'text', text: 'It is sunny.' }])
    },
  )

  test.each(models)('the events of %s come in order, and the first one has the size of the prompt', async (model) => {
    const types: string[] = []
    let text = ''
    for await (const event of await client.messages.create({ ...ask, model, stream: true })) {
      types.push(event.type)
      if (event.type === 'message_start') expect(event.message.usage.input_tokens).toBeGreaterThan(0)
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
    }
    expect(text).toBe('Let me see.')
    expect([types[0], types.at(-2), types.at(-1)]).toEqual(['message_start', 'message_delta', 'message_stop'])
  })

  test('tokens are counted', async () => {
    const { input_tokens: tokens } = await client.messages.countTokens({ model: 'gpt', messages: ask.messages })
    expect(tokens).toBeGreaterThan(5)
  })

  test('models are listed page by page, with what the client knows of them', async () => {
    const listed: string[] = []
    for await (const model of client.models.list({ limit: 2 })) listed.push(model.id)
    expect(listed).toEqual(['claude-native', 'gpt', 'gemini', 'long', 'down'])
    expect(await client.models.retrieve('claude-native')).toMatchObject({
      type: 'model',
      display_name: 'Claude',
      max_input_tokens: 200_000,
      max_tokens: 64_000,
    })
  })

  test('every failure is the right error of the client', async () => {
    const failure = async (call: Promise<unknown>, kind: abstract new (...input: never[]) => object, type: string) => {
      const error = await call.then(
        () => 'no error',
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(kind)
      const { requestID, error: body } = error as APIError
      expect(requestID).toMatch(/^req_[0-9a-f]{32}$/)
      expect(body).toMatchObject({ type: 'error', error: { type }, request_id: requestID })
      return error as InstanceType<typeof APIError>
    }
    const create = (body: object, from = client) => from.messages.create({ ...ask, model: 'gpt', ...body } as never)
    await failure(create({}, client.withOptions({ apiKey: 'sk-wrong' })), AuthenticationError, 'authentication_error')
    await failure(create({ model: 'unknown' }), NotFoundError, 'not_found_error')
    await failure(create({ messages: [] }), BadRequestError, 'invalid_request_error')
    await failure(create({ max_tokens: 'many' }), BadRequestError, 'invalid_request_error')
    await failure(create({ model: 'down' }), InternalServerError, 'overloaded_error')
    await failure(client.messages.batches.list()[Symbol.asyncIterator]().next(), NotFoundError, 'not_found_error')
    await failure(client.get('/v1/messages'), APIError, 'invalid_request_error')
    await failure(client.models.retrieve('unknown'), NotFoundError, 'not_found_error')
    const long = await failure(create({ model: 'long' }), BadRequestError, 'invalid_request_error')
    expect((long.error as { error: { message: string } }).error.message).toMatch(/^prompt is too long/)
    const slow = client.withOptions({ apiKey: 'sk-slow' })
    await create({}, slow)
    const limited = await failure(create({}, slow), RateLimitError, 'rate_limit_error')
    expect(limited.headers?.get('x-should-retry')).toBe('false')
  })

  test('a body beyond the limit is refused in the same format', async () => {
    const big = { ...ask, model: 'gpt', messages: [{ role: 'user' as const, content: 'x'.repeat(21 * 1024 * 1024) }] }
    const error: unknown = await client.messages.create(big).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 413, error: { error: { type: 'request_too_large' } } })
  })
})
