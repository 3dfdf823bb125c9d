/** Messages by vendors with other formats, over sockets: what they get in the first turn, and back in the second. */
import Anthropic from '@anthropic-ai/sdk'
import { demo, gemini, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes } from '../../shared.ts'
import { requireOrder } from './event-order.ts'
import { askMessage } from './scripted.ts'

const tools = [{ name: 'get_country', description: 'The country', input_schema: { type: 'object' as const } }]
const thinking = { type: 'adaptive' as const }

function eventStream(body: Buffer | string): VendorReply {
  return (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
}

/** Asks twice, the second time with the answer of the first one and the results of its calls. */
async function twice(provider: Provider, providerModel: string) {
  const { url } = await hostedWith({ models: { m: { provider, providerModel } }, retry: { maxAttempts: 1 } })
  const body = { stream: true, tools, thinking }
  const first = requireOrder(await (await askMessage(url, body)).text())
  const results = first.content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Norway' }))
  const messages = [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: first.content },
    { role: 'user', content: [...results, { type: 'text', text: 'Go on' }] },
  ]
  const second = requireOrder(await (await askMessage(url, { ...body, messages })).text())
  return { first, second }
}

describe('the second turn', () => {
  test.skipIf(!hasShared)("sends Gemini's signature back with its call", async () => {
    const events = sharedBytes('recordings/gemini/tool-stream-signature.sse')
    const vendor = await vendorFor(eventStream(events))
    const { first } = await twice(gemini({ apiKey: 'k', baseURL: vendor.baseURL }), 'gemini-3-pro-preview')
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const { contents } = (vendor.requests[1] as { json: unknown }).json as {
      contents: { role: string; parts: Record<string, unknown>[] }[]
    }
    const signature = /"thoughtSignature": ?"([^"]+)"/.exec(events.toString())?.[1]
    expect(contents[1]).toMatchObject({ role: 'model', parts: [{ thoughtSignature: signature, functionCall: {} }] })
    expect(contents[2]).toMatchObject({ role: 'user', parts: [{ functionResponse: {} }, { text: 'Go on' }] })
  })

  test.skipIf(!hasShared).each([
    ['deepseek', 'recordings/deepseek/tool-stream.sse'],
    ['mistral', 'recordings/mistral/tool-stream.sse'],
    ['xai', 'recordings/xai/tool-stream.sse'],
  ] as const)('of %s has its calls, results and reasoning where it expects them', async (preset, path) => {
    const vendor = await vendorFor(eventStream(sharedBytes(path)))
    const { first } = await twice(openai({ preset, apiKey: 'k', baseURL: vendor.baseURL }), 'model')
    const { messages } = (vendor.requests[1] as { json: unknown }).json as ChatRequest
    const calls = first.content.filter(({ type }) => type === 'tool_use')
    expect(messages[1]?.tool_calls?.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
    const reasoning = first.content.map((block) => (block['type'] === 'thinking' ? block['thinking'] : '')).join('')
    expect(messages[1]?.['reasoning_content']).toBe(preset === 'deepseek' ? reasoning : undefined)
    const roles = messages.map(({ role }) => role)
    const between = preset === 'mistral' ? ['assistant'] : []
    expect(roles).toEqual(['user', 'assistant', ...calls.map(() => 'tool'), ...between, 'user'])
  })
})

test('Gemini gets instructions, images and results in place', async () => {
  const answer = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }
  const vendor = await vendorFor((_, response) => void response.end(JSON.stringify(answer)))
  const provider = gemini({ apiKey: 'k', baseURL: vendor.baseURL })
  const { url } = await hostedWith({ models: { m: { provider, providerModel: 'gemini-3-flash-preview' } } })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const response = await askMessage(url, {
    system: 'Be kind.',
    tools,
    top_k: 3,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'See' }, image] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_country', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }] },
      { role: 'system', content: 'Be brief.' },
    ],
  })
  expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' })
  const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  expect(vendor.requests[0]?.json).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be kind.' }] },
    generationConfig: { topK: 3 },
    contents: [
      { role: 'user', parts: [{ text: 'See' }, { inlineData }] },
      { role: 'model', parts: [{ functionCall: { name: 'get_country' } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { parts: [{ inlineData }] } }, { text: '<system>\nBe brief.\n</system>' }],
      },
    ],
  })
})

describe("Anthropic's client and a model that only chats", () => {
  async function client(): Promise<Anthropic> {
    const { url } = await hostedWith({ models: { m: demo({ paceMs: 0 }) } })
    return new Anthropic({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 })
  }
  const question = {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Reply with exactly: pong' }],
  }

  test('stream a message', async () => {
    const stream = (await client()).messages.stream(question)
    const message = await stream.finalMessage()
    expect(message.content).toEqual([{ type: 'text', text: 'pong', citations: null }])
    expect(message.stop_reason).toBe('end_turn')
    expect(message.usage.input_tokens).toBeGreaterThan(0)
  })

  test('get a whole one', async () => {
    const message = await (await client()).messages.create(question)
    expect(message.content).toEqual([{ type: 'text', text: 'pong', citations: null }])
  })

  test('run a tool', async () => {
    const anthropic = await client()
    const weather = {
      name: 'get_weather',
      description: 'The weather in a city',
      input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
    }
    const ask = { ...question, messages: [{ role: 'user' as const, content: 'What is the weather in Paris?' }] }
    const first = await anthropic.messages.stream({ ...ask, tools: [weather] }).finalMessage()
    const call = first.content.find((block) => block.type === 'tool_use')
    expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Paris' } })
    const second = await anthropic.messages.create({
      ...ask,
      tools: [weather],
      messages: [
        ...ask.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'Rain, 12 degrees' }] },
      ],
    })
    expect(second.content).toMatchObject([{ type: 'text', text: expect.stringContaining('12') as string }])
  })
})

test('a large request reaches the vendor whole', async () => {
  const end = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(end))
  })
  const { url } = await hostedWith({ models: { m: openai({ apiKey: 'k', baseURL: vendor.baseURL }) } })
  const text = 'A long text “with” marks. '.repeat(40_000)
  const response = await askMessage(url, { messages: [{ role: 'user', content: text }], tools })
  expect(await response.json()).toMatchObject({ content: [{ text: 'Hi' }] })
  expect(vendor.requests[0]?.json).toMatchObject({ messages: [{ role: 'user', content: text }] })
})
