/** Vendors whose answers are built to hurt: as 503, before the work of reading them, and with the next deployment asked. */
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { expectBrokenOff, expectComplete, expectRefused, unavailable } from './answers.ts'
import { meet } from './meet.ts'
import { rawVendor, type Line, type Script } from './raw-vendor.ts'
import { events, well, whole } from './said.ts'
import { tooMuch } from './too-much.ts'

const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'm' }

const frame = (...choices: object[]) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`

const saying =
  (body: string): Script =>
  (line) =>
    line.answer('200', 'application/json', body)

const streaming =
  (...frames: string[]): Script =>
  (line) => {
    line.events()
    for (const each of frames) line.chunk(each)
    line.last()
  }

const message = (said: object) =>
  JSON.stringify({ ...head, choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: 'stop' }] })

const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    return { index, id: `call_${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }
  })

const excessive = tooMuch.map(({ name, type, body }): [string, Script] => {
  return [name, (line) => line.answer('200', type, body)]
})

const shapeless: [string, Script][] = [
  ['calls that are a text', saying(message({ content: null, tool_calls: 'x' }))],
  ['calls that are texts', saying(message({ content: null, tool_calls: ['x'] }))],
  ['a function that is a text', saying(message({ content: null, tool_calls: [{ id: '1', function: 'x' }] }))],
  ['a message that is a text', saying(JSON.stringify({ ...head, choices: [{ index: 0, message: 'x' }] }))],
  ['content that is an object', saying(message({ content: { a: 1 } }))],
  ['no choices in its first event', streaming('data: {"choices":null}\n\n')],
  ['no delta in its first event', streaming(frame({ index: 0, delta: null as never }))],
]

/** Of all calls in an answer, whole or in events. */
function idsIn(text: string): unknown[] {
  const ids: unknown[] = []
  const documents = text.startsWith('{') ? [text] : text.split('\n\n').filter((each) => each.startsWith('data: {'))
  for (const each of documents) {
    JSON.parse(each.replace('data: ', ''), (_, value: { type?: unknown; id?: unknown } | null) => {
      if (value?.type === 'function' && 'id' in value) ids.push(value.id)
      return value
    })
  }
  return ids
}

describe.each([
  { client: 'a client that waits', stream: false },
  { client: 'a client that streams', stream: true },
])('$client gets 503 of an answer with', ({ stream }) => {
  test.each([...excessive, ...shapeless])('%s', async (_, vendor) => {
    expectRefused(await meet({ vendor }, stream), unavailable, true)
  })
})

test.each(excessive)('the next deployment answers in place of %s', async (_, vendor) => {
  const good = await rawVendor(well)
  const met = await meet(
    {
      vendor,
      models: (provider) => ({ m: { route: ['bad', 'good'] }, bad: provider, good: openai({ baseURL: good.baseURL }) }),
    },
    false,
  )
  expectComplete(met, 'Hello!')
})

test('an answer that comes to too many calls in the middle of it is broken off', async () => {
  const said = frame({ index: 0, delta: { content: 'Hello' } })
  const more = calls(2_000).map((call) => frame({ index: 0, delta: { tool_calls: [call] } }))
  const met = await meet({ vendor: streaming(said, more.join('')) }, true)
  expectBrokenOff(met, 'Hello')
  expect(idsIn(met.text).length).toBeLessThanOrEqual(1_000)
})

const first = events.slice(0, 2).join('')
const end = events.slice(3).join('')

describe('a stream that speaks of a failure in a form of its own, and then ends regularly, is broken off:', () => {
  test.each([
    ['object: error', 'data: {"object":"error","message":"canary","code":50001}\n\n'],
    ['a text and an error code', 'data: {"text":"canary","error_code":50001}\n\n'],
    ['a code and a message', 'data: {"code":"1301","message":"canary"}\n\n'],
    ['base_resp', 'data: {"id":"1","choices":null,"base_resp":{"status_code":1013,"status_msg":"canary"}}\n\n'],
    ['detail', 'data: {"detail":"canary"}\n\n'],
    ['an error field', 'error: {"message":"canary"}\n\n'],
    ['an error field in front of the end', 'error: canary\n'],
    ['plain text', 'canary: upstream failed\n\n'],
    ['plain text of several lines', 'Internal Server Error\ncanary\n\n'],
    ['an event with a name for it', 'event: exception\ndata: {"canary":1}\n\n'],
  ])('%s', async (_, failure) => {
    const [line, ...rest] = end.split('\n')
    const vendor = streaming(first, failure.endsWith('\n\n') ? failure + end : `${failure}${line}\n${rest.join('\n')}`)
    expectBrokenOff(await meet({ vendor }, true), 'Hello')
    expectRefused(await meet({ vendor }, false), unavailable, true)
  })
})

describe('a stream is complete all the same with', () => {
  test.each([
    ['comments', ': waiting\n\n'],
    ['a ping', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['a ping without a name', 'data: {"type":"ping"}\n\n'],
    ['an empty object', 'data: {}\n\n'],
    ['a chunk without choices', `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk' })}\n\n`],
    ['a good base_resp', frame({ index: 0, delta: {} }).replace('{', '{"base_resp":{"status_code":0},')],
    ['metadata under a name', 'event: metadata\ndata: {"took":3}\n\n'],
    ['a field that is no part of the standard, beside data', `x-trace: 1\n${frame({ index: 0, delta: {} })}`],
  ])('%s', async (_, more) => {
    const vendor = streaming(first, more, events[2] as string, more, end)
    expectComplete(await meet({ vendor }, true), 'Hello!')
    expectComplete(await meet({ vendor }, false), 'Hello!')
  })
})

describe.each([
  { client: 'a client that waits', stream: false },
  { client: 'a client that streams', stream: true },
])('$client gets its answer from a vendor that', ({ stream }) => {
  test.each<[string, Script]>([
    ['begins its JSON with a byte order mark', saying(`\ufeff${whole}`)],
    ['begins with an event without choices', streaming('data: {"choices":null}\n\n', ...events)],
    ['begins with an event without a delta', streaming(frame({ index: 0, delta: null as never }), ...events)],
    [
      'writes `message` for `delta`',
      streaming(first.replaceAll('"delta"', '"message"'), (events[2] as string).replace('"delta"', '"message"'), end),
    ],
    [
      'repeats the whole message behind its deltas',
      streaming(
        first,
        events[2] as string,
        frame({ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }),
        ...events.slice(4),
      ),
    ],
  ])('%s', async (_, vendor) => {
    expectComplete(await meet({ vendor }, stream), 'Hello!')
  })

  test.each<[string, unknown, unknown]>([
    ['numbers', 7, 8],
    ['one id for both', 'call_1', 'call_1'],
    ['the same number', 1, 1],
    ['no ids', undefined, null],
  ])('calls tools with %s: each call has a text of its own for an id', async (_, one, other) => {
    const called = [one, other].map((id, index) => {
      return { index, id, type: 'function', function: { name: 'f', arguments: `{"a":${index}}` } }
    })
    const script = (line: Line) =>
      line.answer('200', 'application/json', message({ content: null, tool_calls: called }))
    const streamed = streaming(
      frame({ index: 0, delta: { tool_calls: called } }),
      frame({ index: 0, finish_reason: 'tool_calls' }),
      'data: [DONE]\n\n',
    )
    for (const vendor of [script, streamed]) {
      const { text } = await meet({ vendor }, stream)
      const given = idsIn(text)
      expect(given).toHaveLength(2)
      expect(new Set(given).size).toBe(2)
      expect(given.every((id) => typeof id === 'string')).toBe(true)
    }
  })
})
