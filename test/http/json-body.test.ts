import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonBody, type JsonObject } from '../../src/http/json-body.ts'
import { hasShared, sharedJson } from '../shared.ts'
import { extent, refusal, sizes, standard } from './json.ts'
import { thorough } from '../long.ts'

const fromText = (text: string) => JsonBody.fromBytes(Buffer.from(text), sizes)
const statusOf = (bytes: Uint8Array, limits = sizes) => refusal(() => JsonBody.fromBytes(Buffer.from(bytes), limits))

const lists = (levels: number) => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)

/** Too long to be parsed whole, so that each field is parsed on its own. */
const padded = (text: string) => `${' '.repeat(20_000)}${text}`

/** The value after a JSON round trip, which turns -0 into 0. */
const anyValue = (maxDepth: number) =>
  fc.jsonValue({ maxDepth }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

const anyObject = fc.dictionary(fc.string(), anyValue(4), { maxKeys: 8 })

/** JSON text with white space wherever it is allowed, and with unnecessary escapes. */
function loosely(value: unknown, space: string): string {
  if (Array.isArray(value)) return `[${space}${value.map((part) => loosely(part, space)).join(`${space},`)}${space}]`
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('e', '\\u0065')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, part]) => `${loosely(name, '')}${space}:${space}${loosely(part, space)}`,
  )
  return `{${space}${members.join(`${space},${space}`)}${space}}`
}

describe('JSON bodies', () => {
  it.skipIf(!hasShared)('accept and reject the same documents of JSONTestSuite as JSON.parse', () => {
    const documents = sharedJson('corpora/json-parsing.json') as { name: string; expect: string; base64: string }[]
    expect(documents.length).toBe(318)
    for (const { name, expect: expected, base64 } of documents) {
      // The document as the body, and as a field of a body.
      const bytes = Buffer.from(base64, 'base64')
      const field = Buffer.concat([Buffer.from('{"a":'), bytes, Buffer.from('}')])
      for (const body of [bytes, field]) {
        const value = standard(body)
        const fits = value !== undefined && extent(value).depth <= sizes.jsonDepth
        expect([name, statusOf(body)]).toEqual([name, fits ? undefined : 400])
        if (fits) expect(JsonBody.fromBytes(body, sizes).value).toEqual(value)
      }
      if (expected === 'n') expect([name, statusOf(bytes)]).toEqual([name, 400])
    }
  })

  it('accept and reject the same texts as JSON.parse after random changes of bytes', () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc.oneof(
        fc.constantFrom(...'{}[]",:\\/ \t\n0123456789-+.eEtfnu'.split('').map((each) => Buffer.from(each))),
        fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
      ),
    })
    fc.assert(
      fc.property(
        anyObject,
        fc.constantFrom('', ' ', '\r\n\t'),
        fc.array(change, { maxLength: 3 }),
        (value, space, changes) => {
          let bytes = Buffer.from(loosely(value, space))
          for (const { at, remove, insert } of changes) {
            const from = at % (bytes.length + 1)
            bytes = Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)])
          }
          const expected = standard(bytes)
          expect(statusOf(bytes)).toBe(expected === undefined ? 400 : undefined)
          if (expected !== undefined) expect(JsonBody.fromBytes(bytes, sizes).value).toEqual(expected)
        },
      ),
      { numRuns: thorough ? 3_000 : 500 },
    )
  })

  it('reject control characters in strings, and unknown escapes', () => {
    for (let code = 0; code < 256; code++) {
      const character = String.fromCharCode(code)
      for (const text of [
        `{"a":"${character}"}`,
        `{"a":"\\${character}"}`,
        `{"a":"\\u00${character}0"}`,
        `{"${character}":1}`,
      ]) {
        const bytes = Buffer.from(text)
        expect([text, statusOf(bytes)]).toEqual([text, standard(bytes) === undefined ? 400 : undefined])
      }
    }
  })

  it('have the same limits as text and as a parsed value', () => {
    const limits = { ...sizes, jsonDepth: 3, jsonEntries: 4, jsonNodes: 9 }
    fc.assert(
      fc.property(anyObject, (value) => {
        const { depth, entries, nodes } = extent(value)
        const expected = depth > 3 || entries > 4 || nodes > 9 ? 400 : undefined
        expect(statusOf(Buffer.from(JSON.stringify(value)), limits)).toBe(expected)
        expect(refusal(() => JsonBody.fromValue(value, limits))).toBe(expected)
      }),
      { numRuns: thorough ? 1_000 : 200 },
    )
  })

  it('are rejected with 3,000 levels in 6 KB, and with a million levels', () => {
    for (const levels of [65, 3_000, 1_000_000]) {
      expect(
        statusOf(Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`), { ...sizes, jsonBytes: 1e7 }),
      ).toBe(400)
      expect(
        statusOf(Buffer.from(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`), { ...sizes, jsonBytes: 1e7 }),
      ).toBe(400)
    }
    expect([statusOf(lists(63)), statusOf(lists(64))]).toEqual([undefined, 400])
    let nested: unknown = 1
    for (let level = 0; level < 100_000; level++) nested = { a: nested }
    expect(refusal(() => JsonBody.fromValue(nested, sizes))).toBe(400)
  })

  it('are rejected with too many parts, however small', () => {
    expect(statusOf(Buffer.from(`{"a":[${'1,'.repeat(10_000)}1]}`))).toBe(400)
    expect(statusOf(Buffer.from(`{"a":[${'1,'.repeat(9_999)}1]}`))).toBeUndefined()
    const five = (parts: number) =>
      statusOf(Buffer.from(`{"a":[${'1,'.repeat(parts - 2)}1]}`), { ...sizes, jsonNodes: 5 })
    expect([five(5), five(6)]).toEqual([undefined, 400])
  })

  it('are rejected with too many bytes, and with invalid UTF-8', () => {
    expect(statusOf(Buffer.alloc(sizes.jsonBytes + 1, ' '))).toBe(413)
    for (const bad of [[0xff], [0xc0, 0xae], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe4, 0xb8]]) {
      expect(statusOf(Buffer.from([...Buffer.from('{"a":"'), ...bad, ...Buffer.from('"}')]))).toBe(400)
    }
  })

  it('are rejected if the host parsed anything but an object', () => {
    for (const value of [undefined, null, 'text', 1, true, [], [{}]]) {
      expect(refusal(() => JsonBody.fromValue(value, sizes))).toBe(400)
    }
  })
})

describe('the fields of a JSON body', () => {
  it('have the same values whether parsed one by one or with the whole body', () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const text = loosely(value, space)
        const expected = standard(Buffer.from(text)) as JsonObject
        for (const body of [fromText(text), fromText(padded(text)), JsonBody.fromValue(expected, sizes)]) {
          expect(body.names().sort()).toEqual(Object.keys(expected).sort())
          for (const name of [...Object.keys(expected), 'absent', 'constructor']) {
            expect(body.get(name)).toEqual(Object.hasOwn(expected, name) ? expected[name] : undefined)
            expect(body.isList(name)).toBe(Object.hasOwn(expected, name) && Array.isArray(expected[name]))
          }
        }
      }),
      { numRuns: thorough ? 500 : 100 },
    )
  })

  it('have exact offsets', () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom('', '  ', '\r\n'), (value, space) => {
        const body = fromText(padded(loosely(value, space)))
        for (const [name, field] of Object.entries(value)) {
          expect(body.sizeOf(name)).toBe(Buffer.byteLength(loosely(field, space)))
        }
        expect(body.sizeOf('absent')).toBe(0)
      }),
      { numRuns: thorough ? 500 : 100 },
    )
  })

  it('can be changed while all others stay byte for byte', () => {
    const changes = fc.dictionary(fc.string(), fc.option(anyValue(2), { nil: undefined }), {
      maxKeys: 3,
    })
    fc.assert(
      fc.property(anyObject, changes, fc.constantFrom('', ' '), (value, change, space) => {
        const text = loosely(value, space)
        const first = Object.keys(value)[0]
        const wanted: JsonObject = first === undefined ? { ...change } : { ...change, [first]: 'new' }
        const expected = Object.entries({ ...standard(Buffer.from(text)), ...wanted }).filter(
          ([, each]) => each !== undefined,
        )
        for (const body of [fromText(text), fromText(padded(text)), JsonBody.fromValue(value, sizes)]) {
          const changed = body.with(wanted)
          expect(standard(changed)).toEqual(Object.fromEntries(expected))
          for (const [name, field] of Object.entries(value)) {
            if (!Object.hasOwn(wanted, name) && body.sizeOf(name) > 0)
              expect(changed.toString()).toContain(loosely(field, space))
          }
        }
      }),
      { numRuns: thorough ? 500 : 100 },
    )
  })

  it('leave the text unchanged if none of them changes', () => {
    const text = ' { "a" : 1.0 , "b":12345678901234567890, "c":"\\u0041" } '
    expect(fromText(text).with({}).toString()).toBe(text)
    expect(fromText(text).with({ a: 2 }).toString()).toBe('{"a":2,"b":12345678901234567890,"c":"\\u0041"}')
    expect(fromText('{"a":1}').with({ a: undefined }).toString()).toBe('{}')
    expect(fromText('{}').with({ b: 1 }).toString()).toBe('{"b":1}')
  })

  it('that are duplicated have the value that JSON.parse takes, and are passed on once', () => {
    for (const text of ['{"a":1,"b":2,"a":3}', '{"a":1,"b":2,"\\u0061":3}']) {
      for (const body of [fromText(text), fromText(padded(text))]) {
        expect(body.get('a')).toBe(3)
        expect(body.with({}).toString()).toBe('{"a":3,"b":2}')
        expect(body.with({ b: 4 }).toString()).toBe('{"a":3,"b":4}')
      }
    }
  })

  it('named like properties of Object.prototype are ordinary fields', () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"hasOwnProperty":1}'
    for (const body of [fromText(text), fromText(padded(text))]) {
      expect(body.get('toString')).toBeUndefined()
      expect(body.get('hasOwnProperty')).toBe(1)
      expect(body.names()).toEqual(['__proto__', 'constructor', 'hasOwnProperty'])
      const changed = body.with({ hasOwnProperty: 2 }).toString()
      expect(changed).toBe(text.replace(':1}', ':2}'))
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('may follow a byte order mark', () => {
    const body = JsonBody.fromBytes(Buffer.from('\ufeff{"a":1}'), sizes)
    expect(body.get('a')).toBe(1)
    expect(body.with({}).toString()).toBe('{"a":1}')
    expect(statusOf(Buffer.from('\ufeff\ufeff{"a":1}'))).toBe(400)
  })
})

describe('a large body', () => {
  const padding = 'x'.repeat(300_000)

  it('is parsed field by field, as it would be at once', () => {
    const text = `{"a":[1,{"b":2}],"padding":"${padding}","__proto__":{"c":3},"a":null,"\\u0064":"e"}`
    const body = JsonBody.fromBytes(Buffer.from(text), sizes)
    expect(body.value).toEqual(JSON.parse(text))
    expect(Object.hasOwn(body.value, '__proto__')).toBe(true)
  })

  it('parses a field once', () => {
    const body = JsonBody.fromBytes(Buffer.from(`{"a":[1],"padding":"${padding}"}`), sizes)
    expect(body.get('a')).toBe(body.get('a'))
    expect(body.value['a']).toBe(body.get('a'))
  })

  it('can be made of fields that are serialized already', () => {
    const fields = new Map([
      ['a "b"', Buffer.from('[1]')],
      ['c', Buffer.from(JSON.stringify(padding))],
    ])
    const body = JsonBody.fromFields(fields)
    expect(body.bytes.toString()).toBe(JSON.stringify({ 'a "b"': [1], c: padding }))
    expect(body.with({ c: undefined, d: 2 }).toString()).toBe('{"a \\"b\\"":[1],"d":2}')
    expect(JsonBody.fromFields(new Map()).with({}).toString()).toBe('{}')
  })
})

describe('a released body', () => {
  it.each([
    ['short', 'x'],
    ['long', 'x'.repeat(20_000)],
    ['large', 'x'.repeat(300_000)],
  ])('keeps the named fields, its length and which fields it had: %s', (_, padding) => {
    const text = `{"a":{"b":[1]},"padding":"${padding}","__proto__":{"c":3}}`
    for (const body of [fromText(text), JsonBody.fromValue(JSON.parse(text), sizes)]) {
      const { length, isLarge } = body
      body.release(['a', 'absent'])
      expect(body.names()).toEqual(['a', 'padding', '__proto__'])
      expect(['a', 'padding', '__proto__', 'absent'].map((name) => body.get(name))).toEqual([
        { b: [1] },
        null,
        null,
        undefined,
      ])
      expect([body.length, body.isLarge]).toEqual([length, isLarge])
      expect(length).toBe(text.length)
      expect(() => body.with({})).toThrow('released')
    }
  })
})

it('knows the types inside a field without parsing it, and of a parsed value', () => {
  const part = {
    type: 'image',
    source: { TYPE: 'file', FileId: 'f', n: [{ type: 1 }, { type: ['x'] }, { kind: 'type' }] },
  }
  const value = {
    type: 'top',
    messages: [{ role: 'user', content: ['type', part, { type: 'text', text: '"type":"no"' }] }],
  }
  for (const padding of ['', 'x'.repeat(20_000)]) {
    const bytes = Buffer.from(JSON.stringify({ ...value, padding }))
    for (const body of [JsonBody.fromBytes(bytes, sizes), JsonBody.fromValue({ ...value, padding }, sizes)]) {
      expect([...(body.typesWithin('messages') ?? [])].sort()).toEqual(['file', 'file_id', 'image', 'text'])
      expect([...(body.typesWithin('padding') ?? [])]).toEqual([])
    }
  }
  for (const unknown of [
    '{"a":{"t\\u0079pe":"x"}}',
    '{"a":{"type":"\\u0078"}}',
    `{"a":{"type":"${'x'.repeat(65)}"}}`,
    `{"a":[${Array.from({ length: 65 }, (_, at) => `{"type":"t${at}"}`).join()}]}`,
    '{"a":{"type":"x"},"a":{"type":"y"}}',
  ]) {
    expect(JsonBody.fromBytes(Buffer.from(unknown), sizes).typesWithin('a'), unknown).toBeUndefined()
  }
})

describe('a number that parsing may change', () => {
  const within = (text: string) => fromText(`{"a":[{"b":${text}}],"c":1}`).hasLongNumber

  it.each(['9007199254740993', '-12345678901234567890', '0.12345678901234567', '1e400', '2E-5'])(
    'is known: %s',
    (text) => {
      expect(within(text)).toBe(true)
    },
  )

  it.each(['0', '-1.5', '999999999999999', '"9007199254740993"', '"1e400"'])('is not %s', (text) => {
    expect(within(text)).toBe(false)
  })

  it('is any that does not print as it was written', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat({ max: 20 }), (whole, decimals) => {
        const text = decimals === 0 ? `${whole}` : `${whole}.${'7'.repeat(decimals)}`
        if (!within(text)) expect(JSON.stringify(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('is still known of a released body, and not of a parsed one', () => {
    const text = '{"a":9007199254740993}'
    const body = fromText(text)
    body.release([])
    expect(body.hasLongNumber).toBe(true)
    expect(JsonBody.fromValue(JSON.parse(text), sizes).hasLongNumber).toBe(false)
  })
})
