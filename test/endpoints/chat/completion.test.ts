import { describe, expect, test } from 'vitest'
import { completionOf } from '../../../src/endpoints/chat/completion.ts'
import { readUsage } from '../../../src/wire/counts.ts'
import type { ChatCompletion } from '../../../src/wire/chat.ts'
import { hear, whole } from './through.ts'

const message = { role: 'assistant', content: 'Hello', refusal: null }
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const complete = {
  id: 'x',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  system_fingerprint: 'fp_1',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  usage,
}
const head = { id: 'made', created: 8, model: 'public' }

/** The choice that the client receives for one of the vendor. */
const choice = async (raw: object) => (await whole({ ...complete, choices: [raw] })).choices[0]

test('returns a complete response as the same object, so that its bytes can be passed on', () => {
  expect(completionOf(complete as ChatCompletion, head, false)).toBe(complete)
})

test('replaces the model name of a renamed model, and nothing else', () => {
  expect(completionOf(complete as ChatCompletion, head, true)).toEqual({ ...complete, model: 'public' })
})

test('fills in missing fields', async () => {
  const { id, ...rest } = await whole({ id: '', choices: [{ message: { content: 'Hello' } }] })
  expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  expect(rest).toEqual({
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    system_fingerprint: null,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: expect.objectContaining({ completion_tokens: 2 }) as object,
  })
})

test('keeps unknown fields', async () => {
  const extra = { citations: ['https://example.org'], choices: [{ ...complete.choices[0], native: 1 }] }
  expect(await whole({ ...complete, ...extra })).toMatchObject(extra)
})

describe('normalises the message', () => {
  test('converts a list of parts to text and reasoning', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ]
    expect((await choice({ message: { role: 'assistant', content } }))?.message).toEqual({
      ...message,
      reasoning_content: 'hm',
    })
  })

  test('sets empty content to null', async () => {
    expect((await choice({ message: { role: 'assistant', reasoning: 'hm' } }))?.message).toEqual({
      ...message,
      content: null,
      reasoning: 'hm',
    })
  })

  test('omits an empty list of tool calls, and placeholders for calls, audio and refusals', async () => {
    const held = {
      tool_calls: [],
      function_call: { name: '', arguments: '' },
      audio: { id: '', data: '', expires_at: 0, transcript: '' },
      refusal: '',
    }
    expect((await choice({ message: { ...message, ...held } }))?.message).toEqual(message)
  })

  test('omits the index of tool calls', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const normalised = await choice({ message: { ...message, content: null, tool_calls: [{ index: 0, ...call }] } })
    expect(normalised).toMatchObject({ finish_reason: 'tool_calls' })
    expect(normalised?.message.tool_calls).toEqual([call])
  })
})

describe('reports a malformed response as a failure of the vendor', () => {
  test.each([
    ['no choices', { id: 'x' }],
    ['an empty array of choices', { choices: [] }],
    ['choices that are not an array', { choices: 'none' }],
    ['a choice that is null', { choices: [null] }],
  ])('%s', async (_, said) => {
    expect(await hear(said)).toMatchObject({ status: 503, receipt: { outcome: 'failed', usage: { total_tokens: 0 } } })
  })

  test('a finish reason "error"', async () => {
    expect(await hear({ choices: [{ message, finish_reason: 'error' }] })).toMatchObject({ status: 503 })
  })
})

describe('ensures that prompt and completion tokens sum to the total', () => {
  test('returns consistent counts unchanged', () => {
    expect(readUsage(usage)).toBe(usage)
  })

  test.each([
    [
      'hidden reasoning missing in the completion tokens',
      { prompt_tokens: 12, completion_tokens: 1, total_tokens: 241 },
      [12, 229, 241],
    ],
    ['a total that is too low', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 12 }, [10, 5, 15]],
    ['no total', { prompt_tokens: 10, completion_tokens: 5 }, [10, 5, 15]],
    ['only prompt tokens', { prompt_tokens: 10, total_tokens: 10 }, [10, 0, 10]],
    ['an invalid total', { prompt_tokens: 10, completion_tokens: 5, total_tokens: Number.NaN }, [10, 5, 15]],
    ['digits', { prompt_tokens: '10', completion_tokens: '5', total_tokens: '15' }, [10, 5, 15]],
  ])('%s', (_, raw, [prompt, completion, total]) => {
    expect(readUsage(raw)).toEqual({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total })
  })

  test.each([
    ['prompt_tokens_details.cached_tokens', { prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 } }],
    ['cached_tokens', { cached_tokens: 2 }],
    ['num_cached_tokens', { num_cached_tokens: 2 }],
    ['prompt_cache_hit_tokens', { prompt_cache_hit_tokens: 2, prompt_cache_miss_tokens: 1 }],
  ])('reads cached tokens from %s', (_, extra) => {
    expect(readUsage({ ...usage, ...extra })).toMatchObject({ ...usage, prompt_tokens_details: { cached_tokens: 2 } })
  })

  test.each([
    [undefined],
    [null],
    [{}],
    ['5'],
    [{ prompt_tokens: '5' }],
    [{ prompt_tokens: 10, completion_tokens: -5, total_tokens: 10 }],
  ])('finds no counts in %j', (raw) => {
    expect(readUsage(raw)).toBeUndefined()
  })

  test('estimates the usage from the text if the vendor reports none', async () => {
    const long = { ...complete, usage: undefined, choices: [{ message: { ...message, content: 'word '.repeat(40) } }] }
    const { text, receipt } = await hear(long)
    expect(receipt).toMatchObject({ usageSource: 'estimated', usage: { completion_tokens: 50 } })
    expect(JSON.parse(text)).toMatchObject({ usage: receipt.usage })
  })
})
