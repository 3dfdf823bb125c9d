/** The official clients put streams together in ways of their own, and carry what a conversation needs all the same. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { clientOf } from '../endpoints/ask.ts'
import { allMakers, gatewayOver, lineOf, type MakerName } from './journey.ts'
import type { Sent } from './maker.ts'

const route: readonly MakerName[] = ['claude', 'gemini', 'gpt', 'deepseek', 'kimi', 'claude', 'gemini', 'gpt', 'claude']
const parameters = { type: 'object', properties: {} } as const
const goOn = { role: 'user', content: 'Go on.' }

/** The next part of the conversation: the model's turn, and the results of its calls or a question. */
type Talk = (model: string, history: Sent[]) => Promise<Sent[]>

const talks: Readonly<Record<string, (url: string, stream: boolean) => Talk>> = {
  chats: (url, stream) => async (model, messages) => {
    const client = clientOf(url)
    const request = { model, messages, tools: [{ type: 'function', function: { name: 'now', parameters } }] } as never
    const message: Sent = stream
      ? await client.chat.completions.stream(request).finalMessage()
      : (await client.chat.completions.create(request)).choices[0]?.message
    const calls: Sent[] = message.tool_calls ?? []
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'noon' }))
    return [message, ...(results.length > 0 ? results : [goOn])]
  },
  responses: (url, stream) => async (model, input) => {
    const client = clientOf(url)
    const tools = [{ type: 'function', name: 'now', parameters, strict: false }]
    const request = { model, input, tools, store: false, include: ['reasoning.encrypted_content'] } as never
    const { output } = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    const calls = output.filter(({ type }) => type === 'function_call') as Sent[]
    const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'noon' }))
    return [...output, ...(results.length > 0 ? results : [goOn])]
  },
  messages: (url, stream) => async (model, messages) => {
    const client = new Anthropic({ baseURL: url, apiKey: 'sk-test', maxRetries: 0 })
    const request = { model, max_tokens: 4_000, messages, tools: [{ name: 'now', input_schema: parameters }] }
    const { content } = stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    const calls = content.filter(({ type }) => type === 'tool_use') as Sent[]
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'noon' }))
    return [{ role: 'assistant', content }, results.length > 0 ? { role: 'user', content: results } : goOn]
  },
}

describe.each(Object.keys(talks))('%s', (kind) => {
  test.each([false, true])('streamed: %s', async (stream) => {
    const makers = await allMakers()
    const { url } = await gatewayOver(makers)
    const talk = (talks[kind] as (typeof talks)[string])(url, stream)
    let history: Sent[] = [{ role: 'user', content: 'Hi' }]
    for (const [turn, name] of route.entries()) {
      makers[name].says = lineOf(turn + 1)
      history = [...history, ...(await talk(name, history))]
    }
    expect(Object.values(makers).flatMap(({ refusals }) => refusals)).toEqual([])
    const { bodies, issued, issuedBefore, returned } = makers.claude
    expect(issued.length).toBeGreaterThan(3)
    expect(returned(bodies.at(-1))).toEqual(issued.slice(0, issuedBefore.at(-1)))
    expect(makers.gemini.returned(makers.gemini.bodies.at(-1)).length).toBeGreaterThan(0)
  })
})

test("Claude Code gets the signature of Gemini's streamed text before the text ends, and sends it back", async () => {
  const makers = await allMakers()
  const { url } = await gatewayOver(makers)
  const defaultHeaders = { 'user-agent': 'claude-cli/2.1.330 (external, cli)' }
  const client = new Anthropic({ baseURL: url, apiKey: 'sk-test', maxRetries: 0, defaultHeaders })
  const tools = [{ name: 'now', input_schema: parameters }]
  const question = { role: 'user' as const, content: 'Hi' }
  const request = { model: 'gemini', max_tokens: 4_000, tools }
  makers.gemini.says = { turn: 1, calls: 0 }
  const stream = client.messages.stream({ ...request, messages: [question] })
  /** The blocks in the order of their ends, as Claude Code takes them. */
  const ended: number[] = []
  stream.on('streamEvent', (event) => void (event.type === 'content_block_stop' && ended.push(event.index)))
  const { content } = await stream.finalMessage()
  expect(content.map(({ type }) => type)).toEqual(['thinking', 'thinking', 'text'])
  expect(ended).toEqual([0, 1, 2])
  const answer = { role: 'assistant' as const, content }
  await client.messages.stream({ ...request, messages: [question, answer, question] }).finalMessage()
  expect(makers.gemini.issued).not.toEqual([])
  expect(makers.gemini.returned(makers.gemini.bodies[1])).toEqual(makers.gemini.issued.slice(0, 1))
})
