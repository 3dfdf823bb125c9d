/** Streams that break off, and go on at the next deployment. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { memoryLedger, type GatewayOptions } from '../../../../src/index.ts'
import { anthropic, openai } from '../../../../src/providers/index.ts'
import type { VendorReply } from '../../../../src/testing/vendor.ts'
import { askChat, hostedWith, vendorFor } from '../../../hosted.ts'

const text = 'The quick brown fox jumps over the lazy dog, and then it sleeps.'
const words = text.split(/(?<= )/)
const usage = { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 }

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string; readonly [more: string]: unknown }[]
  readonly [more: string]: unknown
}

function chunk(delta: object, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...more }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

const end = (reason: string, counted: object = usage) =>
  `${chunk({}, { finish_reason: reason })}data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: counted })}\n\ndata: [DONE]\n\n`

/** Sends these events, and then resets the connection. */
function breakingOff(...events: readonly string[]): VendorReply {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(events.join(''), () => setImmediate(() => response.destroy()))
  }
}

/** A model that knows the text, and goes on as it is asked to. */
function goingOn(asked: Asked[] = [], tail = end('stop')): VendorReply {
  return (request, response) => {
    const body = JSON.parse(request.body.toString()) as Asked
    asked.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of answerTo(body).split(/(?<= )/)) response.write(chunk({ content: piece }))
    response.end(tail)
  }
}

function answerTo({ messages }: Asked): string {
  const last = messages.at(-1)
  if (last?.role === 'assistant') return text.slice(last.content.length)
  const [, anchor] = /without any remark: ([^]*)$/.exec(last?.content ?? '') ?? []
  return anchor === undefined ? text : text.slice(text.indexOf(anchor))
}

async function pair(first: VendorReply, second: VendorReply, options: Partial<GatewayOptions> = {}) {
  const vendors = [await vendorFor(first), await vendorFor(second)]
  const [here, there] = vendors.map(({ baseURL }) => openai({ baseURL, name: baseURL })) as [never, never]
  const hosted = await hostedWith({
    models: { m: { route: [{ provider: here }, { provider: there, order: 2 }], continue: true } },
    retry: { maxAttempts: 1 },
    ...options,
  })
  return { ...hosted, vendors }
}

const cuts = words.map((_, index) => index + 1)

describe('cut after each word, each client gets the whole text once:', () => {
  const cut = (at: number) => breakingOff(...words.slice(0, at).map((content) => chunk({ content })))

  test.each(cuts)('chat, after %i', async (at) => {
    const { url, receipt } = await pair(cut(at), goingOn())
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
    const stream = client.chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      stream_options: { include_usage: true },
    })
    expect(await stream.finalContent()).toBe(text)
    const { usage: counted, continued, outcome, attempts } = await receipt()
    expect({ outcome, attempts }).toEqual({ outcome: 'completed', attempts: 2 })
    expect(continued).toHaveLength(1)
    expect((await stream.totalUsage()).completion_tokens).toBe(counted.completion_tokens)
    expect(counted.prompt_tokens).toBeLessThanOrEqual(30)
  })

  test.each(cuts)('messages, after %i', async (at) => {
    const { url } = await pair(cut(at), goingOn())
    const client = new Anthropic({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 })
    const message = client.messages.stream({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
    const { content, stop_reason: reason } = await message.finalMessage()
    expect(content).toMatchObject([{ type: 'text', text }])
    expect(reason).toBe('end_turn')
  })

  test.each(cuts)('responses, after %i', async (at) => {
    const { url } = await pair(cut(at), goingOn())
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
    const response = await client.responses.stream({ model: 'm', input: 'Hi' }).finalResponse()
    expect(response.output_text).toBe(text)
    expect(response.output).toHaveLength(1)
  })

  test.each(cuts)('Gemini, after %i', async (at) => {
    const { url } = await pair(cut(at), goingOn())
    const client = new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl: url } })
    let said = ''
    for await (const piece of await client.models.generateContentStream({ model: 'm', contents: 'Hi' }))
      said += piece.text ?? ''
    expect(said).toBe(text)
  })
})

const said = words.slice(0, 4).map((content) => chunk({ content }))

test('the next vendor is asked in words to repeat the last ones, which the client does not get again', async () => {
  const asked: Asked[] = []
  const { url } = await pair(breakingOff(...said), goingOn(asked))
  const events = await (await askChat(url, { stream: true, max_tokens: 50 })).text()
  expect(asked[0]?.messages.slice(0, 2)).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'The quick brown fox ' },
  ])
  expect(asked[0]?.messages[2]?.content).toMatch(/remark: The quick brown fox $/)
  expect(asked[0]?.['max_tokens']).toBe(45)
  expect(events).toContain('\n\n: the answer goes on at another deployment\n\n')
  expect(events.match(/"role":"assistant"/g)).toHaveLength(1)
})

test('a vendor that takes the beginning of the answer gets it', async () => {
  const asked: Asked[] = []
  const [first, second] = [await vendorFor(breakingOff(...said)), await vendorFor(goingOn(asked))]
  const route = [
    { provider: openai({ baseURL: first.baseURL }) },
    { provider: openai({ preset: 'mistral', baseURL: second.baseURL, apiKey: 'k' }), order: 2 },
  ]
  const { url } = await hostedWith({ models: { m: { route, continue: true } }, retry: { maxAttempts: 1 } })
  expect(contentOf(await (await askChat(url, { stream: true })).text())).toBe(text)
  expect(asked[0]?.messages.at(-1)).toEqual({ role: 'assistant', content: 'The quick brown fox ', prefix: true })
})

test('a stream of Claude goes on at a vendor of chats, without its reasoning', async () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'x',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        usage: { input_tokens: 12, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'The quick ' } },
  ]
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const asked: Asked[] = []
  const [first, second] = [await vendorFor(breakingOff(...frames)), await vendorFor(goingOn(asked))]
  const route = [
    { provider: anthropic({ baseURL: first.baseURL, apiKey: 'k' }), providerModel: 'claude-sonnet-4-5' },
    { provider: openai({ baseURL: second.baseURL }), order: 2 },
  ]
  const { url, receipt } = await hostedWith({ models: { m: { route, continue: true } }, retry: { maxAttempts: 1 } })
  const client = new Anthropic({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 })
  const message = client.messages.stream({
    model: 'm',
    max_tokens: 4_000,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect((await message.finalMessage()).content).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, { text }])
  expect(JSON.stringify(asked[0]?.messages)).not.toContain('Hm.')
  // The prompt as the first vendor counted it, and what both have written.
  expect((await receipt()).usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 8 + 4 })
})

function contentOf(events: string): string {
  const chunks = events.split('\n\n').filter((line) => line.startsWith('data: {'))
  return chunks
    .map((line) => (JSON.parse(line.slice(6)) as OpenAI.ChatCompletionChunk).choices[0]?.delta.content ?? '')
    .join('')
}

describe('calls of tools', () => {
  const call = (index: number, part: object) => chunk({ tool_calls: [{ index, ...part }] })
  const begun = (index: number, name: string) =>
    call(index, { id: `call_${name}`, type: 'function', function: { name, arguments: '' } })
  const input = (index: number, piece: string) => call(index, { function: { arguments: piece } })
  const whole = (index: number, name: string) => [begun(index, name), input(index, '{"a"'), input(index, ':1}')]
  const tools = ['one', 'two'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }))
  const next: VendorReply = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end([...whole(0, 'one'), ...whole(1, 'two'), end('tool_calls')].join(''))
  }
  const all = [...whole(0, 'one'), ...whole(1, 'two')]

  test.each(all.map((_, index) => index + 1))('cut after event %i, every input is whole', async (at) => {
    const { url } = await pair(breakingOff(...all.slice(0, at)), next)
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
    const stream = client.chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: tools as never,
    })
    const { message, finish_reason: reason } = (await stream.finalChatCompletion())
      .choices[0] as OpenAI.ChatCompletion.Choice
    const calls = (message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[]
    expect(reason).toBe('tool_calls')
    expect(calls.map(({ function: { name } }) => name)).toEqual(['one', 'two'].slice(0, Math.max(1, calls.length)))
    for (const { function: called } of calls) expect(called.arguments).toBe('{"a":1}')
  })
})

describe('it does not go on', () => {
  const failed = async (first: VendorReply, body: object = {}, options: Partial<GatewayOptions> = {}) => {
    const { url, vendors, receipt } = await pair(first, goingOn(), options)
    const events = await (await askChat(url, { stream: true, ...body })).text()
    expect(events).toContain('"error"')
    expect(await receipt()).toMatchObject({ outcome: 'failed' })
    return vendors[1]?.requests.length
  }

  test('in the middle of a JSON document', async () => {
    expect(await failed(breakingOff(chunk({ content: '{"a":' })), { response_format: { type: 'json_object' } })).toBe(0)
  })

  test('with several choices', async () => {
    expect(await failed(breakingOff(chunk({ content: 'The ' })), { n: 2 })).toBe(0)
  })

  test('with several choices of which only one has ended', async () => {
    const ended = [chunk({ content: 'The end.' }), chunk({}, { finish_reason: 'stop' })]
    const other = chunk({ content: 'The ' }, { index: 1 })
    expect(await failed(breakingOff(...ended, other), { n: 2 })).toBe(0)
    expect(await failed(breakingOff(...ended), { n: 2 })).toBe(0)
  })

  test('if the vendor ends the stream for the sake of the request', async () => {
    const refusal = { error: { code: 'content_filter', type: 'invalid_request_error', message: 'no' } }
    expect(await failed(breakingOff(...said, `data: ${JSON.stringify(refusal)}\n\n`))).toBe(0)
  })

  test('after a refusal has begun', async () => {
    expect(await failed(breakingOff(chunk({ refusal: 'I will' })))).toBe(0)
  })

  test('without the option', async () => {
    const vendors = [await vendorFor(breakingOff(...said)), await vendorFor(goingOn())]
    const route = vendors.map(({ baseURL }, index) => ({ provider: openai({ baseURL }), order: index + 1 }))
    const { url } = await hostedWith({ models: { m: { route } }, retry: { maxAttempts: 1 } })
    expect(await (await askChat(url, { stream: true })).text()).toContain('"error"')
    expect(vendors[1]?.requests).toHaveLength(0)
  })

  test('if every deployment breaks off: each was asked once, and the last one twice', async () => {
    const { url, vendors, receipt } = await pair(breakingOff(...said), breakingOff(...said))
    expect(await (await askChat(url, { stream: true })).text()).toContain('"error"')
    expect(vendors.map(({ requests }) => requests.length)).toEqual([1, 2])
    expect((await receipt()).continued).toHaveLength(2)
  })
})

test('a model with one deployment goes on at the same', async () => {
  let asked = 0
  const vendor = await vendorFor((request, response) =>
    (asked++ === 0 ? breakingOff(...said) : goingOn())(request, response),
  )
  const { url } = await hostedWith({
    models: { m: { provider: openai({ baseURL: vendor.baseURL }), continue: true } },
    retry: { maxAttempts: 1 },
  })
  expect(contentOf(await (await askChat(url, { stream: true })).text())).toBe(text)
})

test('it is one charge, for the prompt and for what both have written', async () => {
  const [first, second] = [await vendorFor(breakingOff(...said)), await vendorFor(goingOn())]
  const route = [first, second].map(({ baseURL }, index) => ({ provider: openai({ baseURL }), order: index + 1 }))
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000n, reference: 'r' })
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'a' } },
    models: { m: { route, continue: true, price: { input: '1', output: '1' } } },
    billing: { currency: 'USD' },
    storage: { ledger },
    retry: { maxAttempts: 1 },
  })
  await (await askChat(url, { stream: true })).text()
  const { usage: counted, charge } = await receipt()
  expect(Number(charge?.cost)).toBeCloseTo((counted.prompt_tokens + counted.completion_tokens) / 1e6, 9)
  await expect.poll(async () => (await ledger.account('a'))?.held).toBe(0n)
})
