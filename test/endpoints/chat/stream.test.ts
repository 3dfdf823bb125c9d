import { describe, expect, test } from 'vitest'
import { chunk, deltas, hear, streamed } from './through.ts'

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const finished = chunk({}, 'stop')

describe('a stream is normalised', () => {
  test('id, created and model are the same in every chunk, and generated if the vendor sends none', async () => {
    const chunks = await streamed([chunk({ content: 'a' }), chunk({ content: 'b' }), finished])
    expect(
      new Set(chunks.map(({ id, created, model, object }) => JSON.stringify([id, created, model, object]))),
    ).toEqual(new Set([JSON.stringify([chunks[0]?.id, 1_700_000_000, 'm', 'chat.completion.chunk'])]))
    expect(chunks[0]?.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })

  test('the first id of the vendor is used for the whole stream', async () => {
    const vendors = [
      chunk({ content: 'a' }, null, { id: 'x', created: 7, model: 'm' }),
      chunk({ content: 'b' }, 'stop', { id: 'y', created: 8, model: 'm' }),
    ]
    expect((await streamed(vendors)).map(({ id, created }) => [id, created])).toEqual([
      ['x', 7],
      ['x', 7],
      ['x', 7],
    ])
  })

  test('a first chunk without id and choices is ignored', async () => {
    const filtered = { id: '', created: 0, model: '', choices: [], prompt_filter_results: [] }
    const chunks = await streamed([filtered, chunk({ content: 'a' }, 'stop', { id: 'x' })])
    expect(chunks.map(({ id }) => id)).toEqual(['x', 'x'])
  })

  test('only the first delta has the role', async () => {
    const vendors = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ role: 'assistant', content: 'a' }),
      chunk({ role: 'assistant', content: 'b' }),
      finished,
    ]
    expect(await deltas(vendors)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'a' },
      { content: 'b' },
      'stop',
    ])
  })

  test('content and finish reason in one chunk are sent in two', async () => {
    expect(await deltas([chunk({ content: 'a' }, 'length')])).toEqual([{ role: 'assistant', content: 'a' }, 'length'])
  })

  test('null and empty strings are omitted', async () => {
    const vendors = [chunk({ content: 'a' }), chunk({ content: null, refusal: null, reasoning: '' }), finished]
    expect(await deltas(vendors)).toEqual([{ role: 'assistant', content: 'a' }, 'stop'])
  })

  test('reasoning is not sent as content', async () => {
    const vendors = [chunk({ reasoning_content: 'hm', content: null }), chunk({ content: 'a' }), finished]
    expect(await deltas(vendors)).toEqual([
      { role: 'assistant', content: null, reasoning_content: 'hm' },
      { content: 'a' },
      'stop',
    ])
  })

  test('a list of parts becomes text and reasoning', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
    const vendors = [chunk({ content: [thinking] }), chunk({ content: [{ type: 'text', text: 'a' }] }), finished]
    expect(await deltas(vendors)).toEqual([
      { role: 'assistant', content: null, reasoning_content: 'hm' },
      { content: 'a' },
      'stop',
    ])
  })

  test('a refusal is passed on unchanged', async () => {
    expect(await deltas([chunk({ refusal: 'No' }), chunk({ refusal: '.' }), finished])).toEqual([
      { role: 'assistant', content: null, refusal: 'No' },
      { refusal: '.' },
      'stop',
    ])
  })

  test('a <think> tag in the content stays content', async () => {
    expect(await deltas([chunk({ content: '<think>hm' }), finished])).toEqual([
      { role: 'assistant', content: '<think>hm' },
      'stop',
    ])
  })

  test('log probabilities are sent with their delta, otherwise null', async () => {
    const logprobs = { content: [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }] }
    const vendors = [{ choices: [{ index: 0, delta: { content: 'a' }, logprobs }] }, finished]
    const chunks = await streamed(vendors)
    expect(chunks.map(({ choices }) => choices[0]?.['logprobs'])).toEqual([logprobs, null])
  })

  test('unknown fields of chunk, choice and delta are kept', async () => {
    const vendors = [
      { provider: 'x', choices: [{ index: 0, delta: { content: 'a', channel: 'final' }, native: 1 }] },
      { provider: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop', native: 2 }] },
    ]
    expect(await streamed(vendors)).toMatchObject([
      { provider: 'x', choices: [{ delta: { content: 'a', channel: 'final' }, native: 1 }] },
      { provider: 'x', choices: [{ delta: {}, finish_reason: 'stop', native: 2 }] },
    ])
  })
})

describe('each choice ends exactly once', () => {
  test('nothing is sent after the first finish reason', async () => {
    const vendors = [chunk({ content: 'a' }, 'length'), chunk({ content: 'b' }), chunk({}, 'stop')]
    expect(await deltas(vendors)).toEqual([{ role: 'assistant', content: 'a' }, 'length'])
  })

  test.each([
    ['tool_calls', { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }],
    ['stop', { content: 'a' }],
  ])('a stream that ends without a finish reason gets %s', async (reason, delta) => {
    expect((await deltas([chunk(delta)])).at(-1)).toBe(reason)
    expect((await deltas([chunk(delta), chunk({}, '')])).at(-1)).toBe(reason)
  })

  test.each([
    ['max_tokens', 'length'],
    ['tool_use', 'tool_calls'],
    ['safety', 'content_filter'],
    ['eos', 'stop'],
    ['function_call', 'function_call'],
  ])('the finish reason %s becomes %s', async (given, expected) => {
    expect((await deltas([chunk({ content: 'a' }, given)])).at(-1)).toBe(expected)
  })

  test('several choices are normalised independently', async () => {
    const vendors = [
      {
        choices: [
          { index: 1, delta: { content: 'b' } },
          { index: 0, delta: { content: 'a' } },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [{ index: 1, delta: { content: 'c' } }] },
      { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
    ]
    expect(await deltas(vendors, 0)).toEqual([{ role: 'assistant', content: 'a' }, 'stop'])
    expect(await deltas(vendors, 1)).toEqual([{ role: 'assistant', content: 'b' }, { content: 'c' }, 'length'])
  })
})

describe('usage is sent to a client that requests it', () => {
  const asked = { stream_options: { include_usage: true } }

  test('in a last chunk without choices, and null in all others', async () => {
    const chunks = await streamed([chunk({ content: 'a' }), chunk({}, 'stop', { usage })], asked)
    expect(chunks.map(({ choices, usage: sent }) => [choices.length, sent])).toEqual([
      [1, null],
      [1, null],
      [0, usage],
    ])
  })

  test('and not to others', async () => {
    const chunks = await streamed([chunk({ content: 'a' }, null, { usage }), chunk({}, 'stop'), { choices: [], usage }])
    expect(chunks.every((each) => !('usage' in each) && each.choices.length === 1)).toBe(true)
  })

  test('the last of several counts is used, also after the finish reason', async () => {
    const growing = [1, 2, 3].map((tokens) => ({
      prompt_tokens: 3,
      completion_tokens: tokens,
      total_tokens: 3 + tokens,
    }))
    const vendors = [
      chunk({ content: 'a' }, null, { usage: growing[0] }),
      chunk({ content: 'b' }, 'stop', { usage: growing[1] }),
      chunk({ content: '' }, null, { usage: growing[2] }),
    ]
    expect((await streamed(vendors, asked)).at(-1)?.usage).toEqual(growing[2])
    expect((await hear(vendors, { stream: true })).receipt).toMatchObject({
      usage: growing[2],
      usageSource: 'reported',
    })
  })

  test('an estimate is sent if the vendor reports none, and the receipt marks it', async () => {
    const long = 'word '.repeat(40)
    const { text, receipt } = await hear([chunk({ content: long }), finished], { stream: true, ...asked })
    expect(receipt).toMatchObject({ usageSource: 'estimated', usage: { completion_tokens: 50 } })
    expect(text).toContain(JSON.stringify(receipt.usage))
  })
})

describe('a failure', () => {
  test('before the first content becomes an HTTP status', async () => {
    expect(await hear([chunk({ role: 'assistant', content: '' }), 'boom'], { stream: true })).toMatchObject({
      status: 500,
      receipt: { outcome: 'failed', code: 'server_error', usage: { total_tokens: 0 } },
    })
  })

  test('after the first content ends the stream with an error and without [DONE]', async () => {
    const { status, text, receipt } = await hear([chunk({ content: 'a' }), 'boom'], { stream: true })
    expect(status).toBe(200)
    expect(text).toMatch(
      /\n\ndata: \{"error":\{"message":"[^"]*","type":"server_error","param":null,"code":"server_error"\}\}\n\n$/,
    )
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('finish_reason":"')
    expect(receipt).toMatchObject({ outcome: 'failed', code: 'server_error', usage: { completion_tokens: 1 } })
  })

  test('reported as finish reason "error" is not a normal end', async () => {
    const { text } = await hear([chunk({ content: 'a' }), chunk({}, 'error')], { stream: true })
    expect(text).toContain('"code":"service_unavailable"')
    expect(text).not.toContain('[DONE]')
  })

  test('is reported for a stream without content', async () => {
    expect(await hear([], { stream: true })).toMatchObject({ status: 503 })
    expect(await hear([{ choices: [], usage }], { stream: true })).toMatchObject({ status: 503 })
    expect(await hear([], {})).toMatchObject({ status: 503 })
  })
})

test('text of a model cannot end a frame early', async () => {
  const hostile = 'a\r\n\r\ndata: [DONE]\n\n\u2028\u0000\u{1f600}'
  expect(await deltas([chunk({ content: hostile }), finished])).toEqual([
    { role: 'assistant', content: hostile },
    'stop',
  ])
})

test('every chunk has the fingerprint of the vendor, and none is null', async () => {
  const said = [
    { choices: [{ delta: { content: 'a' } }] },
    { choices: [{ delta: { content: 'b' }, finish_reason: 'stop' }] },
  ]
  const fingerprints = async (more: object) =>
    (await streamed(said.map((each) => ({ ...each, ...more })))).map((each) => each['system_fingerprint'])
  expect(new Set(await fingerprints({}))).toEqual(new Set([undefined]))
  expect(new Set(await fingerprints({ system_fingerprint: null }))).toEqual(new Set([undefined]))
  expect(new Set(await fingerprints({ system_fingerprint: 'fp_1' }))).toEqual(new Set(['fp_1']))
})
