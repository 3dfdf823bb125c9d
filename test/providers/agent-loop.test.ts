/** An agent loop with tools over models of different vendors: only the model name changes. */
import { isDeepStrictEqual } from 'node:util'
import { createAnthropic } from '@ai-sdk/anthropic'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, type Dialect, type DialectRequest, type Script } from 'modelhatch/testing'
import type { OpenAI } from 'openai'
import { describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { interactionsDialect } from '../../src/testing/dialects/interactions.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { vendorFor } from '../hosted.ts'
import type { Sent } from './vendor-requests.ts'
import { served } from './served.ts'

type Message = OpenAI.ChatCompletionMessageParam
type Answer = OpenAI.ChatCompletionMessage

const picture = 'iVBORw0KGgo='

/** The model's responses, turn by turn. */
const scripts: readonly Script[] = [
  {
    reasoning: 'Two places, two calls.',
    text: 'Let me look at both.',
    calls: [
      { id: 'call_1', name: 'weather', input: { city: 'Zürich' } },
      { id: 'call_2', name: 'weather', input: { city: 'Oslo' } },
    ],
  },
  { calls: [{ id: 'call_3', name: 'now', input: {} }] },
  { text: 'Zürich is sunny, Oslo is not. It is noon.' },
]

const tools = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
  { type: 'function' as const, function: { name: 'now', parameters: { type: 'object', properties: {} } } },
]

function run(name: string, input: string): string {
  if (name === 'now') return 'noon'
  const { city } = JSON.parse(input) as { city: string }
  return JSON.stringify({ city, sky: city === 'Oslo' ? 'grey' : 'blue' })
}

const opening: Message[] = [
  { role: 'system', content: 'Answer in one line.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is the weather like in these two places?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
    ],
  },
]

/** Runs the loop and returns all messages. The model's messages are sent back unchanged. */
async function converse(client: OpenAI, model: string, stream: boolean): Promise<Message[]> {
  const messages = [...opening]
  for (;;) {
    const request = { model, messages, tools, max_tokens: 2_000 }
    const answer = stream
      ? await client.chat.completions.stream(request).finalMessage()
      : (await client.chat.completions.create(request)).choices[0]?.message
    if (answer === undefined) throw new Error('no answer')
    messages.push(answer)
    const calls = answer.tool_calls ?? []
    if (calls.length === 0) return messages
    for (const call of calls) {
      if (call.type !== 'function') throw new Error('an unknown kind of call')
      messages.push({ role: 'tool', tool_call_id: call.id, content: run(call.function.name, call.function.arguments) })
    }
  }
}

/** The part of a message that must be the same for all vendors, without their opaque data. */
function plain(message: Message): object {
  const { role, content } = message
  const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : []
  const called = calls.map((call) => (call.type === 'function' ? [call.id, call.function] : []))
  return { role, content, called: called.map(([id, called]) => ({ id, called: JSON.stringify(called) })) }
}

const thought = { type: 'thinking', thinking: 'Two places, two calls.', signature: 'signed' }

/** Whether a vendor got the opaque data of its first turn back. */
const returnedData: Readonly<Record<string, (body: Sent) => boolean>> = {
  openai: () => true,
  anthropic: ({ messages }) => isDeepStrictEqual(messages[1].content[0], thought),
  gemini: ({ contents }) => contents[1].parts.find((part: Sent) => part.functionCall).thoughtSignature === 'c2lnbmVk',
  interactions: ({ input }) => input.find((step: Sent) => step.type === 'thought').signature === 'c2lnbmVk',
  'ai-sdk': ({ messages }) => isDeepStrictEqual(messages[1].content[0], thought),
}

const vendors: readonly (readonly [name: string, Dialect, (baseURL: string) => Provider])[] = [
  ['openai', openaiDialect, (baseURL) => openai({ baseURL })],
  ['anthropic', anthropicDialect, (baseURL) => anthropic({ baseURL })],
  ['gemini', geminiDialect, (baseURL) => gemini({ baseURL })],
  ['interactions', interactionsDialect, (baseURL) => gemini({ baseURL })],
  [
    'ai-sdk',
    anthropicDialect,
    (baseURL) => fromAiSdk(createAnthropic({ baseURL, apiKey: 'k' })(anthropicDialect.model)),
  ],
]

describe.each([false, true])('three turns with parallel calls and an image; streamed: %s', (stream) => {
  test('give the client the same messages and each vendor the same conversation', async () => {
    const spoken = await Promise.all(
      vendors.map(async ([name, dialect, make]) => {
        const voice = scriptedDialect(
          dialect,
          ({ turns }) => scripts[turns.filter(({ role }) => role === 'assistant').length] ?? {},
        )
        const vendor = await vendorFor(voice.reply)
        return { name, voice, vendor, entry: { provider: make(vendor.baseURL), providerModel: dialect.model } }
      }),
    )
    const { client } = await served(Object.fromEntries(spoken.map(({ name, entry }) => [name, entry])))

    const conversations: object[][] = []
    const received: { readonly turns: DialectRequest['turns'] }[][] = []
    for (const { name, voice, vendor } of spoken) {
      conversations.push((await converse(client, name, stream)).map(plain))
      // Without `stream`, which the provider may choose.
      received.push(voice.requests.map(({ instructions, turns, tools: offered }) => ({ instructions, turns, offered })))
      for (const { json } of vendor.requests.slice(1)) expect([name, returnedData[name]?.(json)]).toEqual([name, true])
    }

    const [first, ...others] = conversations
    expect(first).toHaveLength(opening.length + 6)
    expect(first?.at(-1)).toMatchObject({ role: 'assistant', content: scripts[2]?.text })
    for (const other of others) expect(other).toEqual(first)

    const [firstReceived, ...receivedByOthers] = received
    expect(firstReceived?.[2]?.turns).toMatchObject([
      { role: 'user', images: [picture] },
      { role: 'assistant', text: 'Let me look at both.', calls: [{ name: 'weather' }, { name: 'weather' }] },
      { role: 'user', results: [{ name: 'weather' }, { name: 'weather' }] },
      { role: 'assistant', calls: [{ name: 'now', input: {} }] },
      { role: 'user', results: [{ name: 'now', text: 'noon' }] },
    ])
    for (const each of receivedByOthers) expect(each).toEqual(firstReceived)
  })
})

test('a conversation can continue with another vendor, whatever fields the first one added', async () => {
  const spoken = await Promise.all(
    vendors.map(async ([name, dialect, make]) => {
      const voice = scriptedDialect(dialect, () => ({
        reasoning: 'Hm.',
        calls: [{ id: `${name}:0`, name: 'now', input: {} }],
      }))
      const vendor = await vendorFor(voice.reply)
      return { name, voice, vendor, entry: { provider: make(vendor.baseURL), providerModel: dialect.model } }
    }),
  )
  const { client } = await served(Object.fromEntries(spoken.map(({ name, entry }) => [name, entry])))
  const messages: Message[] = [{ role: 'user', content: 'Hello' }]
  for (const { name } of [...spoken, ...spoken]) {
    const { choices } = await client.chat.completions.create({ model: name, messages, tools })
    const [answer] = choices
    messages.push(answer?.message as Answer, {
      role: 'tool',
      tool_call_id: answer?.message.tool_calls?.[0]?.id ?? '',
      content: 'noon',
    })
  }
  const turns = spoken.map(({ voice }) => voice.requests.at(-1)?.turns.slice(0, 7))
  for (const each of turns) expect(each).toEqual(turns[0])
})
