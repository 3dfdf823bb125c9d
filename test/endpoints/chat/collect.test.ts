import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/endpoints/chat/collect.ts'
import { completionOf } from '../../../src/endpoints/chat/completion.ts'
import { chunksOfCompletion } from '../../../src/endpoints/chat/completion-chunks.ts'
import { ChatStreamState } from '../../../src/endpoints/chat/stream-state.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/wire/chat.ts'
import { chunk, whole } from './through.ts'

const head = { id: 'made', created: 8, model: 'm' }

function collected(pieces: AsyncIterable<ChatChunk>): Promise<ChatCompletion> {
  return collect(pieces, new ChatStreamState(head, false), { usage: undefined, textBytes: 0 })
}

/** The completion as deltas of the given length. */
async function* slowly(completion: ChatCompletion, length: number): AsyncGenerator<ChatChunk, void, void> {
  for await (const each of chunksOfCompletion(completion)) {
    const { choices = [], ...rest } = each
    if (choices.length === 0) yield each
    for (const { delta = {}, finish_reason: reason, logprobs, ...others } of choices) {
      const { content, tool_calls: calls, ...fields } = delta
      yield { ...rest, choices: [{ ...others, delta: { ...fields, content: content === null ? null : '' } }] }
      for (const piece of cut(content ?? '', length))
        yield { ...rest, choices: [{ ...others, delta: { content: piece } }] }
      for (const { function: called, ...call } of calls ?? []) {
        const opening = { ...call, function: { name: called?.name ?? '', arguments: '' } }
        yield { ...rest, choices: [{ ...others, delta: { tool_calls: [opening] } }] }
        for (const piece of cut(called?.arguments as string, length)) {
          const more = { index: call.index as number, function: { arguments: piece } }
          yield { ...rest, choices: [{ ...others, delta: { tool_calls: [more] } }] }
        }
      }
      yield { ...rest, choices: [{ ...others, delta: {}, logprobs, finish_reason: reason ?? null }] }
    }
  }
}

function cut(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length))
}

const text = fc.string({ unit: 'grapheme', minLength: 1 })
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
const token = fc.record({
  token: text,
  logprob: fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }).map((each) => each - 0.5),
  bytes: fc.constant(null),
  top_logprobs: fc.constant([]),
})
const choice = fc.record({
  message,
  logprobs: fc.option(
    fc.array(token, { minLength: 1, maxLength: 3 }).map((content) => ({ content, refusal: [] })),
    { nil: null },
  ),
  finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
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
  test('sent in one delta', async () => {
    await fc.assert(
      fc.asyncProperty(completion, async (answer) => {
        expect(completionOf(answer, head, false)).toBe(answer)
        expect(await collected(chunksOfCompletion(answer))).toEqual(answer)
      }),
      { numRuns: 100 },
    )
  })

  test('sent in deltas of any length', async () => {
    await fc.assert(
      fc.asyncProperty(completion, fc.integer({ min: 1, max: 20 }), async (answer, length) => {
        expect(await collected(slowly(answer, length))).toEqual(answer)
      }),
      { numRuns: 100 },
    )
  })
})

test('continued fields are joined, repeated ones are not', async () => {
  const { choices } = await whole([
    chunk({ audio: { id: 'a1', data: 'QUJD', transcript: 'He' } }),
    chunk({ audio: { id: 'a1', data: 'REVG', transcript: 'llo', expires_at: 5 } }),
    chunk({ function_call: { name: 'look', arguments: '{"x"' } }),
    chunk({ function_call: { arguments: ':1}' }, annotations: [{ type: 'url_citation' }] }),
    chunk({ annotations: [{ type: 'file' }] }, 'function_call'),
  ])
  expect(choices[0]).toMatchObject({
    finish_reason: 'function_call',
    message: {
      audio: { id: 'a1', data: 'QUJDREVG', transcript: 'Hello', expires_at: 5 },
      function_call: { name: 'look', arguments: '{"x":1}' },
      annotations: [{ type: 'url_citation' }, { type: 'file' }],
    },
  })
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
