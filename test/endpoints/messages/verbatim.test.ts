/** Messages that are passed on as they came are the same as those that are translated. */
import * as fc from 'fast-check'
import { finish, text as word, type Call } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { verbatimMessages } from '../../../src/endpoints/messages/by-chat/verbatim.ts'
import { messagesOf } from '../../../src/endpoints/messages/by-chat/chat-messages.ts'
import { conversationOf } from '../../../src/endpoints/messages/reading/turns.ts'
import { printed } from '../../../src/endpoints/written-field.ts'
import { JsonBody } from '../../../src/http/json-body.ts'
import { defaultSizes } from '../../../src/http/sizes.ts'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import type { MessageRequest } from '../../../src/wire/messages.ts'
import { hostedWith } from '../../hosted.ts'
import { streamOf } from './scripted.ts'

type Member = readonly [name: string, text: string]

/** The JSON texts of a value: with as few escapes as possible, or with nothing else. */
const written = (value: string): fc.Arbitrary<string> =>
  fc.constantFrom(JSON.stringify(value), `"${value.split('').map(escaped).join('')}"`)

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const object = (members: readonly Member[], space: string) =>
  `{${members.map(([name, text]) => `${space}${name}${space}:${space}${text}`).join(',')}${space}}`

const words = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'Hi', ' Hi ', '"role":"user"', '\\', 'é😀', '\u2028', '\ud800', '{}', 'a\tb'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const text = words.chain(written)
const blocks = fc.constantFrom('[]', '[{"type":"text","text":"block"}]', '[{"type":"text","text":""}]')
const extra = fc.constantFrom<Member>(
  ['"name"', '"n"'],
  ['"__proto__"', '{"role":"system"}'],
  ['"cache_control"', 'null'],
  ['"cont\\u0065nt"', '"another"'],
  ['"role"', '"assistant"'],
  ['"content"', '"another"'],
)
const message = fc
  .record({
    role: fc.constantFrom('user', 'user', 'assistant', 'assistant', 'system'),
    content: fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: blocks }),
    extra: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.tuple(extra) }),
    swapped: fc.boolean(),
    space: fc.constantFrom('', ' ', '\n  '),
  })
  .map(({ role, content, extra: more, swapped, space }) => {
    const members: Member[] = [['"role"', `"${role}"`], ['"content"', content], ...more]
    return object(swapped ? members.toReversed() : members, space)
  })
const plain = fc.array(fc.tuple(words, fc.constantFrom('', ' ')), { minLength: 1, maxLength: 5 }).chain((said) =>
  fc.tuple(
    ...said.map(([each, space], index) =>
      written(`${each}.`).map((content) =>
        object(
          [
            ['"role"', index % 2 === 0 ? '"user"' : '"assistant"'],
            ['"content"', content],
          ],
          space,
        ),
      ),
    ),
  ),
)
const system = fc.oneof(
  text.map((each): Member[] => [['"system"', each]]),
  fc.constantFrom<Member[]>([], [['"system"', 'null']], [['"system"', '[{"type":"text","text":"block"}]']]),
)
/** A further field, which may repeat one. */
const field = fc.constantFrom<Member[]>(
  [],
  [['"1"', '"first of the keys"']],
  [['"m\\u0065ssages"', '[{"role":"user","content":"another"}]']],
  [['"system"', '"another"']],
)
const body = (messages: fc.Arbitrary<readonly string[]>, more: fc.Arbitrary<Member[]>) =>
  fc.tuple(messages, system, more, fc.constantFrom('', ' ')).map(([list, head, end, space]) => {
    const members: Member[] = [['"max_tokens"', '9'], ...head, ['"messages"', `[${list.join(`${space},`)}${space}]`]]
    return object([...members, ...end], space)
  })

/** The request of a text, and its messages if they are passed on. */
function read(bytes: Buffer) {
  const json = JsonBody.fromBytes(bytes, defaultSizes)
  const request = json.value as unknown as MessageRequest
  const textOf = (name: string, value: unknown, entries: number) => json.textOf(name, value, entries)
  return { request, verbatim: verbatimMessages(request, { textOf }) }
}

function requireSame(bytes: Buffer): boolean {
  const { request, verbatim } = read(bytes)
  if (verbatim === undefined) return false
  const translated = messagesOf(conversationOf(request.system, request.messages).turns, {}, 'vendor')
  expect(verbatim.value).toEqual(translated)
  const chat = printed({ model: 'm "1"', messages: verbatim.value, seed: undefined, temperature: 0.7 }, verbatim)
  // A parser that takes the first of two keys reads the same.
  expect(JSON.parse(chat.toString(), refuseRepeated(chat))).toEqual({
    model: 'm "1"',
    messages: translated,
    temperature: 0.7,
  })
  return true
}

/** Counts the keys that a text has, and fails at the end if the value has fewer. */
function refuseRepeated(json: Buffer): (key: string, value: unknown) => unknown {
  const keys = json.toString().match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length
  let read = 0
  return (key, value) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) read += Object.keys(value).length
    if (key === '') expect(read).toBe(keys)
    return value
  }
}

describe('a conversation that is passed on as it came', () => {
  test('is the same as the translated one, whatever the client has written', () => {
    let passed = 0
    fc.assert(
      fc.property(body(fc.array(message, { minLength: 1, maxLength: 4 }), field), (json) => {
        if (requireSame(Buffer.from(json))) passed++
      }),
      { numRuns: 2_000 },
    )
    expect(passed).toBeGreaterThan(20)
  })

  test('is any of texts in turn', () => {
    fc.assert(
      fc.property(body(plain, fc.constantFrom<Member[]>([], [['"1"', '2']])), (json) => {
        expect(requireSame(Buffer.from(json))).toBe(!json.includes('"block"'))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['further fields', '[{"role":"user","content":"a","name":"b"}]'],
    ['a key twice', '[{"role":"user","content":"a","content":"b"}]'],
    ['a key twice, once escaped', '[{"role":"user","content":"a","conten\\u0074":"b"}]'],
    ['two messages of the user', '[{"role":"user","content":"a"},{"role":"user","content":"b"}]'],
    ['an empty message', '[{"role":"user","content":"a"},{"role":"assistant","content":" "}]'],
    ['instructions among the turns', '[{"role":"user","content":"a"},{"role":"system","content":"b"}]'],
  ])('is none with %s', (_, messages) => {
    expect(read(Buffer.from(`{"max_tokens":9,"messages":${messages}}`)).verbatim).toBeUndefined()
  })

  test.each(['"messages":[]', '"m\\u0065ssages":[]', '"max_tokens":8', '"system":"a","system":"b"'])(
    'is none of a body with a second field: %s',
    (second) => {
      const messages = '"messages":[{"role":"user","content":"a"}]'
      expect(read(Buffer.from(`{"max_tokens":9,${second},${messages}}`)).verbatim).toBeUndefined()
    },
  )

  test('has a name that is not found if it is escaped', () => {
    const json = '{"m\\u0065ssages":[{"role":"user","content":"a"}]}'
    expect(read(Buffer.from(json)).verbatim).toBeUndefined()
  })

  test('is none of a body that the host has parsed, or whose messages were replaced', () => {
    const request = { max_tokens: 9, messages: [{ role: 'user' as const, content: 'a' }] }
    const parsed = JsonBody.fromValue(request, defaultSizes)
    expect(parsed.textOf('messages', request.messages, 3)).toBeUndefined()
    const json = JsonBody.fromBytes(Buffer.from(JSON.stringify(request)), defaultSizes)
    expect(json.textOf('messages', json.value['messages'], 3)?.toString()).toBe(JSON.stringify(request.messages))
    expect(json.textOf('messages', request.messages, 3)).toBeUndefined()
  })
})

test('a field with another value by now is written again', () => {
  const value = [1]
  const field = { name: 'list', value, member: ['"list":', Buffer.from('[ 1 ]')] }
  expect(printed({ list: value }, field).toString()).toBe('{"list":[ 1 ]}')
  expect(printed({ a: 1, list: value }, field).toString()).toBe('{"a":1,"list":[ 1 ]}')
  expect(printed({ a: 1, list: [2] }, field).toString()).toBe('{"a":1,"list":[2]}')
  expect(printed({ a: 1, list: undefined }, field).toString()).toBe('{"a":1}')
})

describe('the vendor of a conversation that is passed on', () => {
  const turns = '[ {"role":"user","content":"\\u0041"} ]'
  const request = `{"model":"m","max_tokens":9,"system":"Be brief","messages":${turns},"metadata":{"user_id":"u"}}`

  /** What the vendor is asked, as text and as a value, and as text with two fields changed. */
  async function asked(model: object) {
    const calls: { readonly text: string; readonly changed: string; readonly value: unknown }[] = []
    const chat = (call: Call<ChatRequest>) => {
      const text = Buffer.from(call.json({})).toString()
      const changed = Buffer.from(call.json({ model: 'other', messages: ['new'] })).toString()
      calls.push({ text, changed, value: call.request })
      return streamOf([word('Hi'), finish('stop')])
    }
    const { url } = await hostedWith({ models: { m: { provider: { name: 'p', chat }, ...model } } })
    const headers = { 'x-api-key': 'sk-test', 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: request })
    expect(response.status, await response.text()).toBe(200)
    return calls[0]
  }

  test('gets the text of the client, and the other fields of a chat', async () => {
    const call = await asked({})
    const messages = `[{"role":"system","content":"Be brief"}, {"role":"user","content":"\\u0041"} ]`
    expect(call?.text).toBe(`{"model":"m","max_tokens":9,"user":"u","messages":${messages}}`)
    expect(call?.value).toEqual(JSON.parse(call?.text ?? ''))
    expect(JSON.parse(call?.changed ?? '')).toEqual({ model: 'other', max_tokens: 9, user: 'u', messages: ['new'] })
  })

  test('gets what the host sets instead', async () => {
    const messages = [{ role: 'user', content: 'of the host' }]
    const call = await asked({ set: { messages, temperature: 0.5 } })
    expect(JSON.parse(call?.text ?? '')).toEqual(call?.value)
    expect(call?.value).toMatchObject({ messages, temperature: 0.5 })
  })

  test('gets the instructions of the host instead', async () => {
    const call = await asked({ set: { system: 'Of the host' } })
    expect(JSON.parse(call?.text ?? '')).toMatchObject({ messages: [{ role: 'system', content: 'Of the host' }, {}] })
  })
})
