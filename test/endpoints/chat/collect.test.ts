/** A provider that streams to a client that does not. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completionOf } from '../../../src/endpoints/chat/completion.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/wire/chat.ts'
import { anyGrapheme } from '../../characters.ts'
import { chunk, whole } from './through.ts'

/** The completion as deltas of the given length. */
function piecesOf({ choices, usage, ...head }: ChatCompletion, length: number): ChatChunk[] {
  const pieces = choices.flatMap(({ index, message, finish_reason, logprobs }) => {
    const { content, tool_calls: calls = [], ...fields } = message
    const deltas = [
      { ...fields, content: content === null ? null : '' },
      ...cut(content ?? '', length).map((piece) => ({ content: piece })),
      ...calls.flatMap(({ function: called, ...call }, at) => [
        { tool_calls: [{ ...call, index: at, function: { name: called?.name ?? '', arguments: '' } }] },
        ...cut(called?.arguments as string, length).map((piece) => ({
          tool_calls: [{ index: at, function: { arguments: piece } }],
        })),
      ]),
    ]
    const end = { index, delta: {}, logprobs, finish_reason }
    return [...deltas.map((delta) => ({ ...head, choices: [{ index, delta }] })), { ...head, choices: [end] }]
  })
  return usage === undefined ? pieces : [...pieces, { ...head, choices: [], usage }]
}

function cut(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length))
}

const text = fc.string({ unit: anyGrapheme, minLength: 1 })
const call = fc.record({
  id: fc.uuid(),
  type: fc.constant('function'),
  function: fc.record({
    name: fc.stringMatching(/^[a-z_]{1,12}$/),
    arguments: fc.object().map((each) => JSON.stringify(each)),
  }),
})
const calls = fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id })
const message = fc.oneof(
  text.map((content) => ({ role: 'assistant', content, refusal: null })),
  fc.record({ content: fc.option(text, { nil: null }), tool_calls: calls }).map(({ content, tool_calls: called }) => ({
    role: 'assistant',
    content,
    refusal: null,
    tool_calls: called,
  })),
  fc
    .record({ content: text, reasoning_content: text })
    .map((fields) => ({ role: 'assistant', refusal: null, ...fields })),
  text.map((refusal) => ({ role: 'assistant', content: null, refusal })),
)
const choice = fc.record({
  message,
  logprobs: fc.constant(null),
  finish_reason: fc.constantFrom('stop', 'length', 'content_filter'),
})
const completion = fc
  .record({
    choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    usage: fc.option(fc.tuple(fc.nat(), fc.nat()), { nil: undefined }),
    fingerprint: fc.option(text),
  })
  .map(({ choices, usage, fingerprint }) => ({
    id: 'x',
    object: 'chat.completion',
    created: 7,
    model: 'm',
    choices: choices.map((each, index) => ({ index, ...each })),
    system_fingerprint: fingerprint,
    ...(usage && {
      usage: { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] },
    }),
  }))
  .map((each) => each as unknown as ChatCompletion)

describe('collecting a streamed completion gives the same completion', () => {
  test.each([['in one delta', 1_000] as const, ['in short deltas', 3] as const])('sent %s', async (_, length) => {
    await fc.assert(
      fc.asyncProperty(completion, async (answer) => {
        expect(completionOf(answer, { id: 'made', created: 8, model: 'm' }, false)).toBe(answer)
        expect(await whole(piecesOf(answer, length))).toMatchObject(answer)
      }),
      { numRuns: 30 },
    )
  })
})

test('continued fields are joined, repeated ones are not', async () => {
  const { choices } = await whole([
    chunk({ audio: { id: 'a1', data: 'QUJD', transcript: 'He' } }),
    chunk({ audio: { id: 'a1', data: 'REVG', transcript: 'llo' } }),
    chunk({ function_call: { name: 'look', arguments: '{"x"' } }),
    chunk({ function_call: { arguments: ':1}' } }, 'function_call'),
  ])
  expect(choices[0]?.message['audio']).toMatchObject({ id: 'a1', data: 'QUJDREVG', transcript: 'Hello' })
  expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'look', arguments: '{"x":1}' } }])
})

test('interleaved choices are sorted by index', async () => {
  const { choices } = await whole([
    { choices: [{ index: 1, delta: { content: 'b' } }] },
    { choices: [{ index: 0, delta: { content: 'a' } }] },
    { choices: [{ index: 1, delta: { content: 'c' }, finish_reason: 'stop' }] },
  ])
  expect(choices.map(({ index, message: { content } }) => [index, content])).toEqual([
    [0, 'a'],
    [1, 'bc'],
  ])
})

test('fields of the whole response in chunks are kept, except for their padding', async () => {
  const answer = await whole([chunk({ content: 'a' }, 'stop', { system_fingerprint: 'fp', obfuscation: 'xyz' })])
  expect(answer).toMatchObject({ system_fingerprint: 'fp' })
  expect(answer).not.toHaveProperty('obfuscation')
})
