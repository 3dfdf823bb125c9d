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

/** The choice a client gets for a choice of the vendor. */
const choice = async (raw: object) => (await whole({ ...complete, choices: [raw] })).choices[0]

test('an answer that has everything is given back as the same object, so that its bytes can be passed on', () => {
  expect(completionOf(complete as ChatCompletion, head, false)).toBe(complete)
})

test('a renamed answer carries the public name and is otherwise the same', () => {
  expect(completionOf(complete as ChatCompletion, head, true)).toEqual({ ...complete, model: 'public' })
})

test('what an answer lacks is filled in', async () => {
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

test('fields nobody knows are kept', async () => {
  const extra = { citations: ['https://example.org'], choices: [{ ...complete.choices[0], native: 1 }] }
  expect(await whole({ ...complete, ...extra })).toMatchObject(extra)
})

describe('the message has one form:', () => {
  test('a list of parts becomes text and reasoning', async () => {
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

  test('content without text is null where there is nothing else to say', async () => {
    expect((await choice({ message: { role: 'assistant', reasoning: 'hm' } }))?.message).toEqual({
      ...message,
      content: null,
      reasoning: 'hm',
    })
  })

  test('an empty list of calls, and places held for calls, audio and refusals, are left out', async () => {
    const held = {
      tool_calls: [],
      function_call: { name: '', arguments: '' },
      audio: { id: '', data: '', expires_at: 0, transcript: '' },
      refusal: '',
    }
    expect((await choice({ message: { ...message, ...held } }))?.message).toEqual(message)
  })

  test('a number that a vendor gives its calls is left out', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const told = await choice({ message: { ...message, content: null, tool_calls: [{ index: 0, ...call }] } })
    expect(told).toMatchObject({ finish_reason: 'tool_calls' })
    expect(told?.message.tool_calls).toEqual([call])
  })
})

describe('an answer that is none is a broken vendor, not a crash:', () => {
  test.each([
    ['no choices', { id: 'x' }],
    ['an empty list of choices', { choices: [] }],
    ['choices that are no list', { choices: 'none' }],
    ['a choice that is null', { choices: [null] }],
  ])('%s', async (_, said) => {
    expect(await hear(said)).toMatchObject({ status: 503, receipt: { outcome: 'failed', usage: { total_tokens: 0 } } })
  })

  test('a finish reason "error"', async () => {
    expect(await hear({ choices: [{ message, finish_reason: 'error' }] })).toMatchObject({ status: 503 })
  })
})

describe('usage obeys prompt + completion = total:', () => {
  test('counts that obey are given back as they are', () => {
    expect(readUsage(usage)).toBe(usage)
  })

  test.each([
    [
      'hidden thinking left out of completion',
      { prompt_tokens: 12, completion_tokens: 1, total_tokens: 241 },
      [12, 229, 241],
    ],
    ['a total that is too small', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 12 }, [10, 5, 15]],
    ['no total', { prompt_tokens: 10, completion_tokens: 5 }, [10, 5, 15]],
    ['a prompt alone', { prompt_tokens: 10, total_tokens: 10 }, [10, 0, 10]],
    ['counts that are none', { prompt_tokens: 10, completion_tokens: -5, total_tokens: Number.NaN }, [10, 0, 10]],
  ])('%s', (_, raw, [prompt, completion, total]) => {
    expect(readUsage(raw)).toEqual({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total })
  })

  test.each([
    ['prompt_tokens_details.cached_tokens', { prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 } }],
    ['cached_tokens', { cached_tokens: 2 }],
    ['num_cached_tokens', { num_cached_tokens: 2 }],
    ['prompt_cache_hit_tokens', { prompt_cache_hit_tokens: 2, prompt_cache_miss_tokens: 1 }],
  ])('cached tokens are found in %s', (_, extra) => {
    expect(readUsage({ ...usage, ...extra })).toMatchObject({ ...usage, prompt_tokens_details: { cached_tokens: 2 } })
  })

  test.each([[undefined], [null], [{}], ['5'], [{ prompt_tokens: '5' }]])('%j holds no counts', (raw) => {
    expect(readUsage(raw)).toBeUndefined()
  })

  test('an answer without counts is estimated by its text', async () => {
    const long = { ...complete, usage: undefined, choices: [{ message: { ...message, content: 'word '.repeat(40) } }] }
    const { text, receipt } = await hear(long)
    expect(receipt).toMatchObject({ usageSource: 'estimated', usage: { completion_tokens: 50 } })
    expect(JSON.parse(text)).toMatchObject({ usage: receipt.usage })
  })
})
