/** Messages at a vendor that has Anthropic's API: what it gets, and what the client gets of it. */
import { anthropic, openai } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { GatewayOptions, ModelOptions } from '../../../src/index.ts'
import { seal } from '../../../src/formats/envelope.ts'
import type { MessageRequest } from '../../../src/wire/messages.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared } from '../../shared.ts'
import { bytesOf, recordingsOf, replay } from '../../providers/recordings.ts'

const usage = { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 }
const answer = {
  model: 'claude-x',
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { ...usage, cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 } },
}
const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const frames = [
  event({ type: 'message_start', message: { ...answer, content: [], stop_reason: null } } as never),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } } as never),
  event({ type: 'content_block_stop', index: 0 } as never),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9 },
  } as never),
  event({ type: 'message_stop' }),
]

const whole: VendorReply = (_, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
const streaming: VendorReply = (_, response) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''))
const refusing =
  (status: number, error: object): VendorReply =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ type: 'error', error }))

const question = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }

async function gatewayOver(
  reply: VendorReply,
  model: Partial<ModelOptions> = {},
  options: Partial<GatewayOptions> = {},
) {
  const vendor = await vendorFor(reply)
  const provider = anthropic({ baseURL: vendor.baseURL, apiKey: 'sk-ant-secret' })
  const hosted = await hostedWith({
    models: { m: { provider, providerModel: 'claude-x', ...model }, 'claude-x': provider },
    retry: { maxAttempts: 1 },
    ...options,
  })
  const ask = async (body: Partial<MessageRequest> | string = {}, headers: Record<string, string> = {}) => {
    const response = await fetch(`${hosted.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        'x-api-key': 'sk-test',
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify({ ...question, ...body }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const sent = () => vendor.requests.at(-1)?.json as MessageRequest
  return { ...hosted, vendor, ask, sent }
}

describe('the request', () => {
  test('reaches the vendor byte for byte with another model, with the beta features of the client and the key of the host', async () => {
    const { ask, vendor } = await gatewayOver(whole)
    const body = `{ "max_tokens":64,  "model" : "m","messages":[{"role":"user","content":"h\\u0069"}], "unknown": {"b":1.0} }`
    await ask(body, { 'anthropic-beta': 'effort-2025-11-24,pdfs-2024-09-25', 'anthropic-version': '2023-01-01' })
    const [request] = vendor.requests
    expect(request?.body.toString()).toBe(
      `{"max_tokens":64,"model":"claude-x","messages":[{"role":"user","content":"h\\u0069"}],"unknown": {"b":1.0}}`,
    )
    expect(request?.url).toBe('/v1/messages')
    expect(request?.headers).toMatchObject({
      'anthropic-beta': 'effort-2025-11-24,pdfs-2024-09-25',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'sk-ant-secret',
    })
    expect(JSON.stringify(request?.headers)).not.toContain('sk-test')
    const plain = JSON.stringify({ ...question, model: 'claude-x' })
    await ask(plain)
    expect(vendor.requests[1]?.body.toString()).toBe(plain)
  })

  test('has the version and the beta features of the host, beside the features of the client', async () => {
    const vendor = await vendorFor(whole)
    const headers = { 'Anthropic-Beta': 'host-1', 'Anthropic-Version': '2023-06-02' }
    const provider = anthropic({ baseURL: vendor.baseURL, headers })
    const { url } = await hostedWith({ models: { m: provider } })
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(question),
      })
    await ask({})
    expect(vendor.requests[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-02', 'anthropic-beta': 'host-1' })
    await ask({ 'anthropic-beta': 'effort-2025-11-24', 'anthropic-version': '2023-06-01' })
    expect(vendor.requests[1]?.headers).toMatchObject({
      'anthropic-version': '2023-06-02',
      'anthropic-beta': 'host-1,effort-2025-11-24',
    })
  })

  test('asks for no more than the model has, and thinks less than that', async () => {
    const { ask, sent } = await gatewayOver(whole, { maxOutputTokens: 8_000 })
    await ask({ max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 31_999 } })
    expect(sent()).toMatchObject({ max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 7_999 } })
    await ask({ max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_500 } })
    expect(sent()).toMatchObject({ max_tokens: 2_000, thinking: { budget_tokens: 1_500 } })
  })

  test('goes to a server in OpenAI’s format that has this API too', async () => {
    const vendor = await vendorFor(whole)
    const provider = openai({
      baseURL: vendor.baseURL,
      apiKey: 'sk-x',
      messages: true,
      modelNames: { inner: 'claude-x' },
    })
    const { url } = await hostedWith({ models: { m: { provider, providerModel: 'inner' } } })
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(question),
    })
    expect(await response.json()).toEqual({ ...answer, model: 'm' })
    expect(vendor.requests[0]).toMatchObject({ url: '/v1/messages', json: { ...question, model: 'claude-x' } })
    expect(vendor.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer sk-x',
      'anthropic-version': '2023-06-01',
    })
  })
})

describe('what other vendors have signed', () => {
  const foreign = { type: 'thinking', thinking: 'hm', signature: seal('gemini', 'abc') }
  const own = { type: 'thinking', thinking: 'so', signature: 'bare+signature/of=claude' }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }

  test('is taken out; everything else stays in place', async () => {
    const { ask, sent } = await gatewayOver(whole)
    const hidden = { type: 'redacted_thinking', data: seal('openai-abc', 'x') }
    const kept = { type: 'redacted_thinking', data: seal('anthropic', 'opaque') }
    await ask({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [foreign, own, hidden, kept, call] },
        { role: 'user', content: [result] },
        { role: 'assistant', content: [foreign] },
        { role: 'user', content: `the text "mh1.gemini.abc" stays` },
      ],
    })
    expect(sent().messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [own, { type: 'redacted_thinking', data: 'opaque' }, call] },
      { role: 'user', content: [result] },
      { role: 'user', content: `the text "mh1.gemini.abc" stays` },
    ])
  })

  test('leaves a model that goes on with calls of tools without thinking, which would have to begin with it', async () => {
    const { ask, sent } = await gatewayOver(whole)
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }]
    const messages: MessageRequest['messages'] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [foreign, call] },
      { role: 'user', content: [result] },
    ]
    const rest = { max_tokens: 4_000, context_management: { edits } }
    await ask({ messages, ...rest, thinking: { type: 'enabled', budget_tokens: 2_000 } })
    expect(sent()).toMatchObject({ thinking: { type: 'disabled' }, context_management: { edits: [edits[1]] } })
    await ask({ messages, ...rest, thinking: { type: 'adaptive' } })
    expect(sent()).toMatchObject({ thinking: { type: 'adaptive' }, context_management: { edits } })
    const further = [
      ...messages,
      { role: 'assistant' as const, content: 'done' },
      { role: 'user' as const, content: 'b' },
    ]
    await ask({ messages: further, ...rest, thinking: { type: 'enabled', budget_tokens: 2_000 } })
    expect(sent()).toMatchObject({ thinking: { type: 'enabled' } })
  })
})

describe('what raises the host’s bill', () => {
  const costly = {
    service_tier: 'priority',
    speed: 'fast',
    fallbacks: ['claude-max'],
    anthropic_beta: ['context-1m-2025-08-07'],
    tools: [
      { name: 'f', input_schema: { type: 'object' } },
      { type: 'custom', name: 'g', input_schema: { type: 'object' } },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ],
  }
  const betas = 'claude-code-20250219,context-1m-2025-08-07,fast-mode-2026-02-01,effort-2025-11-24'

  test('is left out, and header and receipt say so', async () => {
    const { ask, sent, vendor, receipt } = await gatewayOver(whole)
    const { status, headers } = await ask(costly, { 'anthropic-beta': betas })
    expect(status).toBe(200)
    expect(Object.keys(sent()).sort()).toEqual(['max_tokens', 'messages', 'model', 'tools'])
    expect(sent().tools?.map(({ name }) => name)).toEqual(['f', 'g', 'bash'])
    expect(vendor.requests[0]?.headers['anthropic-beta']).toBe('claude-code-20250219,effort-2025-11-24')
    const omitted = [
      'service_tier',
      'speed',
      'fallbacks',
      'anthropic_beta',
      'web_search_20250305',
      'code_execution_20250825',
      'context-1m-2025-08-07',
      'fast-mode-2026-02-01',
    ]
    expect(headers.get('x-modelhatch-omitted')).toBe(omitted.join(', '))
    expect(await receipt()).toMatchObject({ omitted })
  })

  test('passes where the model allows it, and a stream says what is left out too', async () => {
    const allow = ['speed', 'web_search', 'code_execution_20250825', 'context-1m']
    const { ask, sent, vendor } = await gatewayOver(streaming, { allow })
    const { headers } = await ask({ ...costly, stream: true }, { 'anthropic-beta': betas })
    expect(sent()).toMatchObject({ speed: 'fast' })
    expect(sent().tools).toEqual(costly.tools)
    expect(vendor.requests[0]?.headers['anthropic-beta']).toBe(betas)
    expect(headers.get('x-modelhatch-omitted')).toBe('service_tier, fallbacks, anthropic_beta')
  })

  test('and so are beta features that are unknown or reach the host’s account, unless the model allows them', async () => {
    const features = 'files-api-2025-04-14,managed-agents-2026-04-01,unheard-of-2027-01-01,effort-2025-11-24'
    const closed = await gatewayOver(whole)
    const { headers } = await closed.ask({}, { 'anthropic-beta': features })
    expect(closed.vendor.requests[0]?.headers['anthropic-beta']).toBe('effort-2025-11-24')
    expect(headers.get('x-modelhatch-omitted')).toBe(features.split(',').slice(0, 3).join(', '))
    const open = await gatewayOver(whole, { allow: ['files', 'managed-agents', 'unheard-of'] })
    await open.ask({}, { 'anthropic-beta': features })
    expect(open.vendor.requests[0]?.headers['anthropic-beta']).toBe(features)
  })

  test('is named within bounds, because clients choose the types of tools', async () => {
    const { ask, receipt } = await gatewayOver(whole)
    const tools = Array.from({ length: 3_000 }, (_, index) => ({
      type: `web_search_${index}${'x'.repeat(100)}`,
      name: 'w',
    }))
    const { status, headers } = await ask({ tools: [...tools, { name: 'f', input_schema: { type: 'object' } }] })
    expect(status).toBe(200)
    expect(headers.get('x-modelhatch-omitted')?.length).toBeLessThan(2_000)
    expect((await receipt()).omitted).toHaveLength(20)
  })

  test('takes the choice of it along, because vendors reject one without its tool', async () => {
    const { ask, sent, receipt } = await gatewayOver(whole)
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }
    const own = { name: 'f', input_schema: { type: 'object' } }
    const cases = [
      [[search], { type: 'none' }, undefined],
      [[own, search], { type: 'tool', name: 'web_search' }, undefined],
      [[own, search], { type: 'any' }, { type: 'any' }],
      [[own, search], { type: 'tool', name: 'f' }, { type: 'tool', name: 'f' }],
      [[own, search], { type: 'none' }, { type: 'none' }],
      // Wrong already as it came: the vendor says so.
      [[own, search], { type: 'tool', name: 'g' }, { type: 'tool', name: 'g' }],
      [[own], { type: 'tool', name: 'web_search' }, { type: 'tool', name: 'web_search' }],
    ] as const
    for (const [tools, tool_choice, expected] of cases) {
      expect((await ask({ tools: [...tools], tool_choice })).status).toBe(200)
      expect(sent()['tool_choice']).toEqual(expected)
    }
    await ask({ tools: [search], tool_choice: { type: 'none' } })
    expect(sent()).not.toHaveProperty('tools')
    expect(await receipt()).toMatchObject({ omitted: ['web_search_20250305', 'tool_choice'] })
  })

  test('is refused if it is the only tool, as in the search of Claude Code, because a model makes up what it would find', async () => {
    const { ask, vendor } = await gatewayOver(whole)
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }]
    for (const choice of [{}, { tool_choice: { type: 'tool', name: 'web_search' } }]) {
      const { status, text } = await ask({ tools, ...choice })
      expect(status).toBe(400)
      expect(text).toContain('does not allow the type \\"web_search_20250305\\"')
    }
    expect(vendor.requests).toEqual([])
  })

  test('a window beyond the usual one passes where the host states it', async () => {
    const { ask, vendor } = await gatewayOver(whole, { contextWindow: 1_000_000 })
    const { headers } = await ask({}, { 'anthropic-beta': 'context-1m-2025-08-07' })
    expect(vendor.requests[0]?.headers['anthropic-beta']).toBe('context-1m-2025-08-07')
    expect(headers.get('x-modelhatch-omitted')).toBeNull()
  })

  test('is refused where the request would mean something else without it', async () => {
    const { ask, vendor } = await gatewayOver(whole)
    for (const [name, value] of Object.entries({
      mcp_servers: [{ url: 'https://x' }],
      inference_geo: 'us',
      thread: 'thread_1',
      container: 'c',
    })) {
      const { status, text } = await ask({ [name]: value })
      expect(status).toBe(400)
      expect(JSON.parse(text)).toMatchObject({
        error: { type: 'invalid_request_error', message: expect.stringContaining(name) },
      })
    }
    expect(vendor.requests).toEqual([])
  })
})

describe('the response', () => {
  test('is the vendor’s, byte for byte but for the model’s name, and the receipt has its usage', async () => {
    const { ask, receipt } = await gatewayOver(whole)
    expect((await ask({ model: 'claude-x' })).text).toBe(JSON.stringify(answer))
    const { text, headers } = await ask()
    expect(text).toBe(JSON.stringify({ ...answer, model: 'm' }))
    expect(headers.get('request-id')).toMatch(/^req_/)
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
    await receipt()
    expect(await receipt()).toMatchObject({
      endpoint: 'messages',
      outcome: 'completed',
      usageSource: 'reported',
      usage: {
        prompt_tokens: 132,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20, cache_write_1h_tokens: 15 },
      },
    })
  })

  test('as a stream too', async () => {
    const { ask, receipt } = await gatewayOver(streaming)
    const { text, headers } = await ask({ stream: true })
    expect(text).toBe(frames.join('').replace('"model":"claude-x"', '"model":"m"'))
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await receipt()).toMatchObject({
      outcome: 'completed',
      stream: true,
      usage: { prompt_tokens: 132, completion_tokens: 9 },
    })
  })

  const streams = recordingsOf('anthropic').filter(({ stream, expect: { error } }) => stream && !error)

  test.skipIf(!hasShared).each(streams.filter(({ file }) => !file.startsWith('duplicate')))(
    'of a recording passes byte for byte, however it was cut: $file',
    async (recording) => {
      const { ask } = await gatewayOver(replay(recording, [1, 300, 301]))
      const bytes = bytesOf(recording).toString()
      expect((await ask({ model: 'claude-x', stream: true })).text).toBe(bytes)
      expect((await ask({ stream: true })).text).toBe(bytes.replace(/"model":"[^"]+"/, '"model":"m"'))
    },
  )

  test.skipIf(!hasShared).each(recordingsOf('anthropic').filter(({ stream, status }) => !stream && status === 200))(
    'of a whole recording passes byte for byte: $file',
    async (recording) => {
      const { ask } = await gatewayOver(replay(recording))
      expect((await ask({ model: 'claude-x' })).text).toBe(bytesOf(recording).toString())
    },
  )

  test('is collected for a client that does not stream, from a vendor that always does', async () => {
    const { ask, receipt } = await gatewayOver(streaming)
    const { text } = await ask()
    expect(JSON.parse(text)).toMatchObject({ ...answer, model: 'm', usage: { ...answer.usage, output_tokens: 9 } })
    expect(await receipt()).toMatchObject({ usage: { prompt_tokens: 132, completion_tokens: 9 } })
  })

  test('is split into events for a client that streams, from a vendor that does not', async () => {
    const { ask } = await gatewayOver(whole)
    const { text } = await ask({ stream: true })
    const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(text).toContain('"model":"m"')
  })

  test('that breaks off ends in an error event, and the caller pays nothing', async () => {
    const cut: VendorReply = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.slice(0, 5).join(''))
    const { ask, receipt } = await gatewayOver(cut)
    const { text } = await ask({ stream: true })
    const last = text.trimEnd().split('\n\n').at(-1) ?? ''
    expect(last).toMatch(/^event: error\ndata: /)
    expect(JSON.parse(last.slice(last.indexOf('{')))).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    })
    expect(await receipt()).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
  })
})

describe('errors of the vendor', () => {
  test('a 400 passes with its words, without what identifies the host', async () => {
    const words =
      'messages.1.content.0: Invalid `signature` in `thinking` block of claude-x (request req_011CabcDEF, see https://docs.anthropic.com/x, file_011abcdef)'
    const { ask } = await gatewayOver(refusing(400, { type: 'invalid_request_error', message: words }))
    const { status, text, headers } = await ask()
    expect(status).toBe(400)
    const message =
      'messages.1.content.0: Invalid `signature` in `thinking` block of m (request [removed], see [removed], [removed])'
    expect(JSON.parse(text)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: headers.get('request-id'),
    })
  })

  test('one about the host’s account has the gateway’s words, and another deployment may serve', async () => {
    const words = 'The organization Acme Inc (org-1234) may not use this beta.'
    const { ask } = await gatewayOver(refusing(400, { type: 'invalid_request_error', message: words }))
    const { status, text } = await ask()
    expect([status, text.includes('Acme')]).toEqual([400, false])
    const poor = await gatewayOver(
      refusing(400, { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' }),
    )
    expect(await poor.ask()).toMatchObject({ status: 503, text: expect.stringContaining('overloaded_error') })
  })

  test('a prompt beyond the window keeps the words that agents know', async () => {
    const words = 'prompt is too long: 210000 tokens > 200000 maximum'
    const { ask, receipt } = await gatewayOver(refusing(400, { type: 'invalid_request_error', message: words }))
    expect(JSON.parse((await ask()).text)).toMatchObject({ error: { message: words } })
    expect(await receipt()).toMatchObject({ code: 'context_length_exceeded' })
  })

  test.each([
    [401, 'authentication_error', 503, 'overloaded_error'],
    [429, 'rate_limit_error', 429, 'rate_limit_error'],
    [529, 'overloaded_error', 503, 'overloaded_error'],
    [413, 'request_too_large', 413, 'request_too_large'],
    [500, 'api_error', 503, 'overloaded_error'],
  ])('%i %s reaches the client as %i %s, without its words', async (status, type, got, named) => {
    const { ask } = await gatewayOver(refusing(status, { type, message: 'secret words of sk-ant-api03' }))
    const answer = await ask()
    expect(answer.status).toBe(got)
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'error', error: { type: named } })
    expect(answer.text).not.toContain('secret')
  })

  test('one inside a stream has the same form', async () => {
    const broken: VendorReply = (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(
          frames.slice(0, 3).join('') +
            event({ type: 'error', error: { type: 'overloaded_error', message: 'secret' } } as never),
        )
    const { ask } = await gatewayOver(broken)
    const { text } = await ask({ stream: true })
    expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"overloaded_error"')
    expect(text).not.toContain('secret')
  })
})
