/** Malicious vendor responses: they become a 503 before they are parsed, and the gateway tries the next deployment. */
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { expectBrokenOff, expectComplete, expectRefused, unavailable } from './answers.ts'
import { runFault } from './run-fault.ts'
import { rawVendor, type Line, type Script } from './raw-vendor.ts'
import { events, healthy, whole } from './healthy.ts'
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

/** Sizes that an answer may have if the request asks for very much. The vendor bills them. */
const large = ['a million members', '300,000 objects', 'an event of 300,000 empty objects']
const oversized = excessive.filter(([name]) => large.includes(name))
const absurd = excessive.filter(([name]) => !large.includes(name))

const shapeless: [string, Script][] = [
  ['tool calls that are a string', saying(message({ content: null, tool_calls: 'x' }))],
  ['tool calls that are strings', saying(message({ content: null, tool_calls: ['x'] }))],
  ['a function that is a string', saying(message({ content: null, tool_calls: [{ id: '1', function: 'x' }] }))],
  ['a message that is a string', saying(JSON.stringify({ ...head, choices: [{ index: 0, message: 'x' }] }))],
  ['content that is an object', saying(message({ content: { a: 1 } }))],
  ['no choices in its first event', streaming('data: {"choices":null}\n\n')],
  ['no delta in its first event', streaming(frame({ index: 0, delta: null as never }))],
]

/** The ids of all tool calls in a response, streamed or not. */
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
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets a 503 for a response with', ({ stream }) => {
  test.each([...absurd, ...shapeless])('%s', async (_, vendor) => {
    expectRefused(await runFault({ vendor }, stream), unavailable, true)
  })

  test.each(oversized)('%s, which is charged', async (_, vendor) => {
    expectRefused(await runFault({ vendor }, stream), { ...unavailable, billed: true }, true)
  })
})

test.each(absurd)('the gateway tries the next deployment after %s', async (_, vendor) => {
  const good = await rawVendor(healthy)
  const met = await runFault(
    {
      vendor,
      models: (provider) => ({ m: { route: ['bad', 'good'] }, bad: provider, good: openai({ baseURL: good.baseURL }) }),
    },
    false,
  )
  expectComplete(met, 'Hello!')
})

test('aborts a stream that exceeds the number of tool calls in the middle', async () => {
  const said = frame({ index: 0, delta: { content: 'Hello' } })
  const more = calls(2_000).map((call) => frame({ index: 0, delta: { tool_calls: [call] } }))
  const met = await runFault({ vendor: streaming(said, more.join('')) }, true)
  expectBrokenOff(met, 'Hello')
  expect(idsIn(met.text).length).toBeLessThanOrEqual(1_000)
})

const first = events.slice(0, 2).join('')
const end = events.slice(3).join('')

describe('a stream that reports a failure in a vendor-specific form and then ends normally ends with an error:', () => {
  test.each([
    ['object: error', 'data: {"object":"error","message":"canary","code":50001}\n\n'],
    ['text and error_code', 'data: {"text":"canary","error_code":50001}\n\n'],
    ['code and message', 'data: {"code":"1301","message":"canary"}\n\n'],
    ['base_resp', 'data: {"id":"1","choices":null,"base_resp":{"status_code":1013,"status_msg":"canary"}}\n\n'],
    ['detail', 'data: {"detail":"canary"}\n\n'],
    ['an error field', 'error: {"message":"canary"}\n\n'],
    ['an error field before the finish reason', 'error: canary\n'],
    ['plain text', 'canary: upstream failed\n\n'],
    ['plain text of several lines', 'Internal Server Error\ncanary\n\n'],
    ['an event named "exception"', 'event: exception\ndata: {"canary":1}\n\n'],
  ])('%s', async (_, failure) => {
    const [line, ...rest] = end.split('\n')
    const vendor = streaming(first, failure.endsWith('\n\n') ? failure + end : `${failure}${line}\n${rest.join('\n')}`)
    expectBrokenOff(await runFault({ vendor }, true), 'Hello')
    expectRefused(await runFault({ vendor }, false), unavailable, true)
  })
})

describe('a stream is complete with', () => {
  test.each([
    ['comments', ': waiting\n\n'],
    ['a ping', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['a ping without an event name', 'data: {"type":"ping"}\n\n'],
    ['an empty object', 'data: {}\n\n'],
    ['a chunk without choices', `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk' })}\n\n`],
    ['a base_resp without error', frame({ index: 0, delta: {} }).replace('{', '{"base_resp":{"status_code":0},')],
    ['an event named "metadata"', 'event: metadata\ndata: {"took":3}\n\n'],
    ['a non-standard field beside data', `x-trace: 1\n${frame({ index: 0, delta: {} })}`],
  ])('%s', async (_, more) => {
    const vendor = streaming(first, more, events[2] as string, more, end)
    expectComplete(await runFault({ vendor }, true), 'Hello!')
    expectComplete(await runFault({ vendor }, false), 'Hello!')
  })
})

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets its response from a vendor that', ({ stream }) => {
  test.each<[string, Script]>([
    ['begins its JSON with a byte order mark', saying(`\ufeff${whole}`)],
    ['begins with an event without choices', streaming('data: {"choices":null}\n\n', ...events)],
    ['begins with an event without a delta', streaming(frame({ index: 0, delta: null as never }), ...events)],
    [
      'writes `message` instead of `delta`',
      streaming(first.replaceAll('"delta"', '"message"'), (events[2] as string).replace('"delta"', '"message"'), end),
    ],
    [
      'repeats the whole message after its deltas',
      streaming(
        first,
        events[2] as string,
        frame({ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }),
        ...events.slice(4),
      ),
    ],
  ])('%s', async (_, vendor) => {
    expectComplete(await runFault({ vendor }, stream), 'Hello!')
  })

  test.each<[string, unknown, unknown]>([
    ['numbers', 7, 8],
    ['the same string', 'call_1', 'call_1'],
    ['the same number', 1, 1],
    ['no ids at all', undefined, null],
  ])('sends tool calls with %s as ids: each gets a unique string', async (_, one, other) => {
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
      const { text } = await runFault({ vendor }, stream)
      const given = idsIn(text)
      expect(given).toHaveLength(2)
      expect(new Set(given).size).toBe(2)
      expect(given.every((id) => typeof id === 'string')).toBe(true)
    }
  })
})

test('the last event, whose blank line is missing, has the bounds of all others', async () => {
  const last = `data: {"x":[${'{},'.repeat(300_000)}{}],"choices":[]}`
  const met = await runFault({ vendor: streaming(...events.slice(0, 5), last) }, true)
  expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
})
