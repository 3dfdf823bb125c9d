/** Providers that answer conversations: one generator of parts for the clients of every wire format. */
import Anthropic from '@anthropic-ai/sdk'
import { GatewayError } from 'modelhatch'
import {
  defineProvider,
  finish,
  image,
  reasoning,
  text,
  toolCall,
  turnText,
  type Conversation,
  type Provider,
} from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith } from '../../hosted.ts'
import { clientOf, errorOf, post } from '../ask.ts'

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

async function world(generate: NonNullable<Provider['generate']>) {
  const asked: Conversation[] = []
  const provider = defineProvider({
    name: 'parrot',
    generate(call) {
      asked.push(call.request)
      return generate(call)
    },
  })
  const failures: unknown[] = []
  const { url, receipt } = await hostedWith({
    models: { m: provider },
    hooks: { failure: ({ error }) => void failures.push(error) },
  })
  const claude = new Anthropic({ baseURL: url, apiKey: 'sk-test', maxRetries: 0 })
  return { url, receipt, asked, failures, openai: clientOf(url), claude }
}

const echo: NonNullable<Provider['generate']> = async function* ({ request }) {
  yield reasoning('Hm.')
  for (const word of turnText(request.turns.at(-1)).split(/(?<= )/)) yield text(word)
  yield finish('stop', usage)
}

const said = [{ role: 'user' as const, content: 'one two three' }]

/** What each client gets, streamed or not. */
const clients: Readonly<
  Record<string, (to: Awaited<ReturnType<typeof world>>, stream: boolean, more?: object) => Promise<string | null>>
> = {
  async chat({ openai }, stream, more) {
    const request = { model: 'm', messages: said, ...more }
    const whole = stream
      ? await openai.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create(request)
    expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 })
    return whole.choices[0]?.message.content ?? null
  },
  async responses({ openai }, stream, more) {
    const request = { model: 'm', input: 'one two three', store: false, ...more }
    const whole = stream
      ? await openai.responses.stream(request).finalResponse()
      : await openai.responses.create(request)
    expect(whole.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 })
    return whole.output_text
  },
  async messages({ claude }, stream, more) {
    const request = { model: 'm', max_tokens: 100, messages: said, ...more }
    const whole = stream ? await claude.messages.stream(request).finalMessage() : await claude.messages.create(request)
    expect(whole.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 })
    return whole.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  async completions({ openai }, stream) {
    const request = { model: 'm', prompt: 'one two three' }
    if (!stream) return (await openai.completions.create(request)).choices[0]?.text ?? null
    let all = ''
    for await (const chunk of await openai.completions.create({ ...request, stream }))
      all += chunk.choices[0]?.text ?? ''
    return all
  },
}

describe.each(Object.entries(clients))('a client of %s', (format, askBy) => {
  test.each([false, true])('gets the text of the generator, streamed: %s', async (stream) => {
    const to = await world(echo)
    expect(await askBy(to, stream)).toBe('one two three')
    expect(await to.receipt()).toMatchObject({ outcome: 'completed', usage, provider: 'parrot' })
    const [conversation] = to.asked
    expect(conversation?.turns).toMatchObject([{ role: 'user', blocks: [{ kind: 'text', text: 'one two three' }] }])
  })

  test.each([false, true])('gets a whole answer that is not generated part by part, streamed: %s', async (stream) => {
    const to = await world(() => ({ choices: [{ blocks: [{ kind: 'text', text: 'whole' }] }], usage }))
    expect(await askBy(to, stream)).toBe('whole')
  })

  test('is told nothing of a provider that breaks the contract, but the host is', async () => {
    const to = await world(async function* () {
      yield toolCall({ arguments: '{}' })
    })
    await expect(askBy(to, false)).rejects.toMatchObject({ status: 500 })
    expect(String(to.failures[0])).toContain(
      'the provider "parrot" broke the contract of generate: it yielded the input',
    )
    expect(format).toBeTruthy()
  })

  test.each([
    ['a text', 'Hello', /returned "Hello". Yield parts/],
    ['nothing', undefined, /returned undefined. Yield parts/],
    [
      'an answer that ends in the words of a chat',
      { choices: [{ blocks: [], end: { reason: 'tool_calls' } }] },
      /the end "tool_calls"/,
    ],
  ])('is told nothing of a provider that returns %s, but the host is', async (_, answer, message) => {
    const to = await world(() => answer as never)
    for (const stream of [false, true]) await expect(askBy(to, stream)).rejects.toBeTruthy()
    expect(to.failures.map(String)).toEqual([expect.stringMatching(message), expect.stringMatching(message)])
    expect(format).toBeTruthy()
  })
})

test('a client of Google’s API gets the text and the calls', async () => {
  const { url } = await world(async function* () {
    yield text('Let me see.')
    yield toolCall({ name: 'weather', arguments: '{"city":"Oslo"}' })
    yield finish('calls', usage)
  })
  const response = await fetch(`${url}/v1beta/models/m:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
  })
  expect(await response.json()).toMatchObject({
    candidates: [
      { content: { parts: [{ text: 'Let me see.' }, { functionCall: { name: 'weather', args: { city: 'Oslo' } } }] } },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
  })
})

const stopping = { chat: { stop: [' three'] }, messages: { stop_sequences: [' three'] } }

test.each(Object.entries(stopping))('stop sequences of %s are enforced by the gateway', async (format, more) => {
  for (const stream of [false, true]) expect(await clients[format]?.(await world(echo), stream, more)).toBe('one two')
})

test('choices are numbered parts, each with its own stop sequence', async () => {
  const { openai, asked } = await world(async function* ({ request }) {
    const choices = Array.from({ length: request.settings.choices ?? 1 }, (_, index) => index)
    for (const index of choices) yield text(`choice ${index} `, index)
    for (const index of choices) yield text('and more', index)
    for (const index of choices) yield finish('stop', usage, index)
  })
  const { choices } = await openai.chat.completions.create({ model: 'm', messages: said, n: 2, stop: ' and' })
  expect(asked[0]?.settings.choices).toBe(2)
  expect(choices.map(({ message }) => message.content)).toEqual(['choice 0', 'choice 1'])
})

test('calls of tools reach the clients of all formats, and their results the provider', async () => {
  const { openai, claude, asked } = await world(async function* () {
    yield text('Let me see.')
    yield toolCall({ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' })
    yield toolCall({ name: 'now' })
    yield finish('calls', usage)
  })
  const parameters = { type: 'object' as const, properties: {} }
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
  const chat = await openai.chat.completions.stream({ model: 'm', messages: said, tools }).finalChatCompletion()
  const calls = chat.choices[0]?.message.tool_calls ?? []
  expect(calls.map((call) => call.type === 'function' && [call.function.name, call.function.arguments])).toEqual([
    ['weather', '{"city":"Oslo"}'],
    ['now', '{}'],
  ])
  expect(chat.choices[0]?.finish_reason).toBe('tool_calls')
  const response = await openai.responses.create({
    model: 'm',
    input: 'Hi',
    store: false,
    tools: [{ type: 'function', name: 'weather', parameters, strict: false }],
  })
  expect(response.output).toMatchObject([
    { type: 'message' },
    { type: 'function_call', call_id: 'call_1', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', name: 'now', arguments: '{}' },
  ])
  const message = await claude.messages
    .stream({ model: 'm', max_tokens: 9, messages: said, tools: [{ name: 'weather', input_schema: parameters }] })
    .finalMessage()
  expect(message.content).toMatchObject([
    { type: 'text' },
    { type: 'tool_use', name: 'weather', input: { city: 'Oslo' } },
    { type: 'tool_use', name: 'now', input: {} },
  ])
  await claude.messages.create({
    model: 'm',
    max_tokens: 9,
    tools: [{ name: 'weather', input_schema: parameters }],
    messages: [
      ...said,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'rain' }] },
    ],
  })
  expect(asked.at(-1)?.turns.slice(-2)).toMatchObject([
    { role: 'assistant', blocks: [{ kind: 'call', name: 'weather', input: '{"city":"Oslo"}' }] },
    { role: 'user', blocks: [{ kind: 'result', blocks: [{ kind: 'text', text: 'rain' }] }] },
  ])
})

test('an image reaches a client of chats', async () => {
  const { url } = await world(async function* () {
    yield image({ mediaType: 'image/png', base64: 'AAAA' })
    yield finish('stop', usage)
  })
  const { json } = await post(url, '/chat/completions', { model: 'm', messages: said })
  expect(json).toMatchObject({
    choices: [{ message: { images: [{ image_url: { url: 'data:image/png;base64,AAAA' } }] } }],
  })
})

test('an error of the generator names the field of the client', async () => {
  const { url } = await world(async function* () {
    yield* []
    throw new GatewayError('unsupported_parameter', { param: 'settings.max', message: 'No "settings.max" here.' })
  })
  const chat = await post(url, '/chat/completions', { model: 'm', messages: said, max_tokens: 5 })
  expect(errorOf(chat)).toMatchObject({ param: 'max_tokens', message: 'No "max_tokens" here.' })
})

test('tokens are estimated where the provider reports none', async () => {
  const { url, receipt } = await world(async function* () {
    yield text('Hello')
  })
  await post(url, '/chat/completions', { model: 'm', messages: said })
  expect(await receipt()).toMatchObject({ usageSource: 'estimated' })
  const counted = await post(url, '/messages/count_tokens', { model: 'm', messages: said })
  expect(counted.json).toMatchObject({ input_tokens: expect.any(Number) })
})

test('what agents send to every model and this one refuses is left out, or said in words', async () => {
  const { claude, asked } = await world(async function* ({ request: { output, settings } }) {
    if (settings.temperature !== undefined) {
      throw new GatewayError('unsupported_parameter', { param: 'settings.temperature' })
    }
    if (output?.kind === 'schema') throw new GatewayError('unsupported_parameter', { param: 'output' })
    yield text('{}')
    yield finish('stop', usage)
  })
  const format = { type: 'json_schema', schema: { type: 'object', title: 'Thing' } } as const
  const request = { model: 'm', max_tokens: 9, messages: said, temperature: 0.5, output_config: { format } }
  for (const tries of [3, 5]) {
    await claude.messages.create(request)
    // The temperature is remembered; a schema may have been refused for what it says.
    expect(asked).toHaveLength(tries)
  }
  expect(asked.at(-1)).toMatchObject({ output: { kind: 'json' }, settings: { max: 9 } })
  expect(turnText(asked.at(-1)?.turns.at(-1))).toContain('"title":"Thing"')
})
