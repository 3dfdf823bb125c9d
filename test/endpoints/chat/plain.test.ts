/** The tests for plain values never change the verdict of the schema. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { check } from '../../../src/endpoints/check.ts'
import { plainFields } from '../../../src/endpoints/chat/plain.ts'
import { chatSchema } from '../../../src/endpoints/chat/request.ts'
import { JsonBody } from '../../../src/http/json-body.ts'
import { defaultSizes } from '../../../src/http/sizes.ts'

/** The message of the error; undefined if there is none. */
function verdict(value: object, plain?: typeof plainFields): string | undefined {
  try {
    check(chatSchema, JsonBody.fromValue(value, defaultSizes), [], plain)
    return undefined
  } catch (error) {
    return JSON.stringify(error)
  }
}

const roles = ['developer', 'system', 'user', 'assistant', 'tool', 'function']

/** Values that are valid in one field or another, values next to them, and any others. */
const oddity: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    'bot',
    'image_url',
    null,
    undefined,
    true,
    false,
    '',
    'text',
    ...roles,
    [],
    {},
    NaN,
    Infinity,
    -Infinity,
    Array(2),
  ),
  fc.constantFrom(-2.1, -2, -1, -0, 0, 0.5, 1, 1.5, 2, 2.1, 20, 21, 128, 129, 2 ** 53, 2 ** 53 - 1, -(2 ** 53)),
  fc.constantFrom(Object.create(null), new Date(0), { url: 'x' }, { url: 1 }, new Map(), Object('text'), 5n),
  fc.jsonValue({ maxDepth: 2 }),
)

function fields(usual: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  const any = Object.fromEntries(
    Object.entries(usual).map(([name, value]) => [
      name,
      fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: oddity }),
    ]),
  )
  return fc.record(any, { requiredKeys: [] })
}

const part = fields({
  type: fc.constantFrom('text', 'image_url', 'input_audio'),
  text: fc.string(),
  image_url: fc.record({ url: fc.webUrl() }),
})
const messages = fc.array(
  fields({
    role: fc.constantFrom(...roles),
    content: fc.oneof(fc.string(), fc.array(part, { maxLength: 3 })),
    name: fc.string(),
    tool_call_id: fc.string(),
    tool_calls: fc.array(fields({ id: fc.string(), type: fc.constant('function'), function: fc.object() })),
  }),
  { minLength: 1, maxLength: 3 },
)
const number = fc.oneof(fc.integer({ min: -3, max: 130 }), fc.double({ min: -2.5, max: 2.5 }))
const body = fields({
  model: fc.constant('m'),
  messages,
  stream_options: fc.record({ include_usage: fc.boolean() }),
  stop: fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 5 })),
  ...Object.fromEntries(['stream', 'logprobs', 'parallel_tool_calls'].map((name) => [name, fc.boolean()])),
  ...Object.fromEntries(['user', 'reasoning_effort', 'other'].map((name) => [name, fc.string()])),
  ...Object.fromEntries(
    ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'n'].map((name) => [name, number]),
  ),
  ...Object.fromEntries(['max_tokens', 'max_completion_tokens', 'top_logprobs'].map((name) => [name, number])),
  tools: fc.array(fields({ type: fc.constant('function'), function: fields({ name: fc.string() }) }), { maxLength: 2 }),
})

test('the verdict on any body is that of the schema', () => {
  fc.assert(
    fc.property(body, (value) => {
      expect(verdict(value, plainFields)).toBe(verdict(value))
    }),
    { numRuns: 1_000 },
  )
})

test('the verdict on any value of each field is that of the schema', () => {
  const usual = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  const values: Record<string, fc.Arbitrary<unknown>> = { messages, other: number }
  for (const name of plainFields.keys()) {
    fc.assert(
      fc.property(fc.oneof(oddity, values[name] ?? number), (value) => {
        expect(verdict({ ...usual, [name]: value }, plainFields)).toBe(verdict({ ...usual, [name]: value }))
      }),
      { numRuns: 300 },
    )
  }
})

/** A copy of a value with another value at a place inside. */
function changed(value: unknown, [key, ...rest]: readonly PropertyKey[], other: unknown): unknown {
  if (key === undefined) return other
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  return Object.assign(copy, { [key]: changed((value as Record<PropertyKey, unknown>)[key], rest, other) })
}

const content = [
  { type: 'text', text: 'Hi' },
  { type: 'image_url', image_url: { url: 'data:' } },
]
const full = { content, name: 'n', tool_call_id: 'c', tool_calls: [{ id: 'c', type: 'function' }] }
const places = [
  ...['role', 'content', 'name', 'tool_call_id', 'tool_calls'].map((name) => [name]),
  ...[0, 1].flatMap((at) => ['type', 'text', 'image_url'].map((name) => ['content', at, name])),
  ['content', 0],
  ['content', 1, 'image_url', 'url'],
  ...['id', 'type'].map((name) => ['tool_calls', 0, name]),
  ['tool_calls', 0],
]

test.each(places.map((place) => [place.join('.'), place] as const))(
  'the verdict on a message with any %s is that of the schema',
  (_, place) => {
    fc.assert(
      fc.property(fc.constantFrom(...roles, 'bot'), oddity, (role, other) => {
        const value = { model: 'm', messages: [changed({ role, ...full }, place, other)] }
        expect(verdict(value, plainFields)).toBe(verdict(value))
      }),
      { numRuns: 200 },
    )
  },
)

test('usual requests are plain', () => {
  const usual = {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }] },
      { role: 'tool', tool_call_id: 'c', content: '5', name: 'f' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.7,
    max_tokens: 100,
    seed: 5,
    user: null,
  }
  for (const [name, value] of Object.entries(usual))
    expect([name, plainFields.get(name)?.(value)]).toEqual([name, true])
})
