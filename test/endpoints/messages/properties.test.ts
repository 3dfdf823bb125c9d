/** Rules that hold for every conversation and every order of chunks. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StopScanner } from '../../../src/formats/stages/stop-scanner.ts'
import { GatewayError } from '../../../src/errors.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { chat } from '../../../src/formats/chat/chat.ts'
import type { ChatTraits } from '../../../src/formats/chat/traits.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { responses } from '../../../src/formats/responses/responses.ts'
import { sealState } from '../../../src/formats/model-state.ts'
import type { ChatChunk, ChatMessage } from '../../../src/wire/chat.ts'
import type { InputItem } from '../../../src/wire/responses.ts'
import type { MessageBlock, MessageParam } from '../../../src/wire/messages.ts'
import { cpuMs, leastMs } from '../../cpu-time.ts'
import { requireOrder } from './event-order.ts'
import { relayChunks } from './relayed.ts'

const ids = ['a', 'b', 'c', 'd']
let words = 0
const text = fc.constant(0).map(() => ({ type: 'text', text: `word${words++};` }))
const call = fc.constantFrom(...ids).map((id) => ({ type: 'tool_use', id, name: 'tool', input: {} }))
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: fc.constantFrom(...ids),
  content: fc.oneof(
    fc.constant(0).map(() => `word${words++};`),
    fc.array(text, { maxLength: 2 }),
    fc.constant([{ type: 'image', source: { type: 'url', url: 'https://x.test' } }]),
    fc.constant(undefined),
  ),
  is_error: fc.boolean(),
})
const thinking = fc.constantFrom(
  { type: 'thinking', thinking: 'Hm', signature: sealState('vendor', { message: { reasoning_content: '' } }) },
  { type: 'thinking', thinking: 'Hm', signature: sealState('other', { message: { reasoning_content: '' } }) },
  { type: 'thinking', thinking: 'Hm', signature: 'of Claude' },
  { type: 'redacted_thinking', data: 'of Claude' },
)
const foreign = fc.constantFrom(
  { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  { type: 'fallback' },
)
const message = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: fc.array(fc.oneof(text, result), { maxLength: 4 }) }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc
      .array(fc.oneof(text, call, thinking, foreign), { maxLength: 5 })
      .map((blocks) =>
        blocks.filter(
          (block, at) => !('id' in block) || blocks.findIndex((b) => 'id' in b && b.id === block.id) === at,
        ),
      ),
  }),
  fc.record({ role: fc.constant('system' as const), content: fc.array(text, { minLength: 1, maxLength: 2 }) }),
)
const conversation = fc.array(message, { minLength: 1, maxLength: 12 }) as fc.Arbitrary<MessageParam[]>
const traits = fc.record({
  systemAnywhere: fc.boolean(),
  richResults: fc.boolean(),
  cacheControl: fc.boolean(),
  userAfterResults: fc.boolean(),
})

describe('a conversation', () => {
  test('becomes a chat in which each call has its result, and no text is lost', () => {
    fc.assert(
      fc.property(conversation, traits, (list, chatTraits) => {
        const made = chatOf(list, chatTraits)
        if (made === undefined) return
        requireChat(made)
        requireWords(list, JSON.stringify(made))
        if (!chatTraits.systemAnywhere) {
          expect(made.slice(1).every(({ role }) => role !== 'system')).toBe(true)
        }
      }),
    )
  })

  test('becomes items in which each call has its output, and no text is lost', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const made = responseOf(messages)
        if (made === undefined) return
        const { instructions = '', input } = made
        requireWords(messages, instructions + JSON.stringify(input))
        const open = new Set<string>()
        for (const [index, item] of input.entries()) {
          if (item.type === 'function_call') open.add(item.call_id ?? '')
          else if (item.type === 'function_call_output') expect(open.delete(item.call_id ?? '')).toBe(true)
          else if (item.type === 'reasoning') expect(input[index + 1]).toBeDefined()
          else if (item.role !== 'assistant') expect(open.size).toBe(0)
        }
        expect(open.size).toBe(0)
      }),
    )
  })
})

/** The messages of a chat with the vendor; undefined for a conversation without content, which is refused. */
function chatOf(list: readonly MessageParam[], chatTraits: ChatTraits): readonly ChatMessage[] | undefined {
  const conversation = conversationOf(list)
  if (conversation === undefined) return undefined
  const target = { model: 'm', maker: 'vendor', traits: chatTraits, omit: () => undefined }
  return chat.writeRequest(conversation, target)['messages'] as readonly ChatMessage[]
}

/** The same for a response of the vendor. */
function responseOf(list: readonly MessageParam[]): Pick<WrittenResponse, 'instructions' | 'input'> | undefined {
  const conversation = conversationOf(list)
  if (conversation === undefined) return undefined
  const target = { model: 'm', maker: 'vendor', traits: { stateless: true }, omit: () => {} }
  return responses.writeRequest(conversation, target) as unknown as WrittenResponse
}

interface WrittenResponse {
  readonly instructions?: string
  readonly input: readonly InputItem[]
}

function conversationOf(list: readonly MessageParam[]): Conversation | undefined {
  try {
    return messages.readRequest({ messages: list, max_tokens: 9 })
  } catch (error) {
    expect(GatewayError.is(error)).toBe(true)
    return undefined
  }
}

/** What OpenAI and the strictest of its compatible vendors require. */
function requireChat(chat: readonly ChatMessage[]): void {
  const open = new Set<string>()
  for (const { role, content, tool_calls: calls, tool_call_id: id } of chat) {
    if (role === 'tool') expect(open.delete(id ?? '')).toBe(true)
    else expect(open.size).toBe(0)
    for (const each of calls ?? []) open.add(each.id)
    if (role === 'assistant') expect(Boolean(content) || calls?.length).toBeTruthy()
    else if (role !== 'tool') expect(content).not.toBe('')
  }
  expect(open.size).toBe(0)
}

function requireWords(messages: readonly MessageParam[], made: string): void {
  for (const word of JSON.stringify(messages).match(/word\d+;/g) ?? []) expect(made).toContain(word)
}

describe('chunks', () => {
  const name = 'tool'
  const piece = fc.record({
    index: fc.integer({ min: 0, max: 3 }),
    text: fc.constantFrom('', '{', '"x":', '1', '}', '{}', '[', ' '),
    extra: fc.option(fc.constant({ extra_content: { google: { thought_signature: 's' } } }), { nil: {} }),
  })
  const delta = fc.oneof(
    fc.constantFrom('', ' ', '\n', 'word', '“é”', '\ud83d\ude00').map((content) => ({ content })),
    fc.constantFrom('', 'hm', '\n').map((reasoning) => ({ reasoning_content: reasoning })),
    fc.constant({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
    fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => ({
      tool_calls: pieces.map(({ index, text: args, extra }) => ({
        index,
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: args },
        ...extra,
      })),
    })),
  )
  const finish = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', null)

  test('in any order become blocks in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(delta, { maxLength: 12 }), finish, fc.boolean(), async (deltas, reason, asks) => {
        const chunks: ChatChunk[] = deltas.map((each) => ({ choices: [{ index: 0, delta: each }] }))
        chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
        const answer = requireOrder(await relayChunks(chunks, asks ? { thinking: { type: 'adaptive' } } : {}))
        if (answer.error !== undefined) return
        const said = deltas.map((each) => ('content' in each ? each.content : '')).join('')
        const written = answer.content.map((block) => (block['type'] === 'text' ? String(block['text']) : '')).join('')
        expect(written.replaceAll(/\s/g, '')).toBe(said.replaceAll(/\s/g, ''))
      }),
    )
  })
})

test('stop sequences end a text at the same place, however it is split', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\ud83d\ude00'), maxLength: 30 })
  const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(letters, stops, fc.array(fc.nat({ max: 30 })), (whole, list, cuts) => {
      const scanner = new StopScanner(list)
      const bounds = [0, ...cuts.filter((cut) => cut <= whole.length).sort((x, y) => x - y), whole.length]
      let sent = ''
      for (const [index, to] of bounds.slice(1).entries()) sent += scanner.push(whole.slice(bounds[index], to))
      if (scanner.found === undefined) sent += scanner.flush()
      const ends = list.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0)
      // A longer sequence that begins earlier may be complete only after a shorter one was found.
      if (ends.length === 0) expect([sent, scanner.found]).toEqual([whole, undefined])
      else {
        expect(scanner.found).toBeDefined()
        expect(whole.startsWith(sent + String(scanner.found))).toBe(true)
      }
    }),
  )
})

describe('a huge conversation is read in linear time:', () => {
  const count = 10_000
  const limitMs = 400
  const many = <Block>(make: (index: number) => Block) => Array.from({ length: count }, (_, index) => make(index))
  const calls = many((index) => ({ type: 'tool_use', id: `c${index}`, name: 'tool', input: {} }))
  const results = many((index) => ({ type: 'tool_result', tool_use_id: `c${index}`, content: 'x' }))
  const shapes: Readonly<Record<string, MessageParam[]>> = {
    'calls and results in one turn': [
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ],
    'results without calls': [{ role: 'user', content: results }],
    'calls without results': [{ role: 'assistant', content: calls }],
    'turns of one call': many((index) => [
      { role: 'assistant' as const, content: [calls[index] as MessageBlock] },
      { role: 'user' as const, content: [results[index] as MessageBlock] },
    ]).flat(),
    'messages of the user': many(() => ({ role: 'user' as const, content: 'x' })),
    'messages of the assistant': many(() => ({ role: 'assistant' as const, content: 'x' })),
    instructions: many((index) => ({ role: index % 2 === 0 ? ('system' as const) : ('user' as const), content: 'x' })),
    thinking: [
      {
        role: 'assistant',
        content: [
          ...many(() => ({
            type: 'thinking',
            thinking: 'x',
            signature: sealState('vendor', { message: { reasoning_content: '' } }),
          })),
          ...calls.slice(0, 1),
        ],
      },
    ],
  }

  test.each(Object.keys(shapes))('%s', async (shape) => {
    const list = shapes[shape] ?? []
    const spent = await leastMs(limitMs, () => {
      const before = cpuMs()
      responseOf(list)
      chatOf(list, {})
      chatOf(list, { systemAnywhere: true })
      return cpuMs() - before
    })
    expect(spent).toBeLessThan(limitMs)
  })
})
