/** What the generators of all formats share: pieces of conversations and answers. */
import {
  array,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  nat,
  noBias,
  oneof,
  record,
  string,
  stringMatching,
  tuple,
  type Arbitrary,
  uint8Array,
  uuid,
} from 'fast-check'
import { anyGrapheme, anyUrl } from '../characters.ts'
import type { Citation, MediaSource, TokenLogprob } from '../../src/conversation/conversation.ts'

/** A text with something to read in it. */
export const words: Arbitrary<string> = string({ unit: anyGrapheme, minLength: 1, maxLength: 12 }).filter(
  (text) => text.trim() !== '' && text.isWellFormed(),
)

export const id: Arbitrary<string> = stringMatching(/^[a-zA-Z0-9_-]{1,20}$/)

export const base64: Arbitrary<string> = uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) =>
  Buffer.from(bytes).toString('base64'),
)

/** An image's data or address. */
export const picture: Arbitrary<MediaSource> = oneof(
  record({ mediaType: constantFrom('image/png', 'image/jpeg'), base64 }),
  record({ url: anyUrl }),
)

/** A tool's input: a JSON object, perhaps with integers that a number cannot hold. */
export const input: Arbitrary<string> = oneof(
  dictionary(
    // After a name with a backslash, V8 13 may take an escaped one for it: `{"a":1,"\\":2}`, then `{"a":1,"\"":2}`.
    string({ maxLength: 5 }).filter((name) => name !== '__proto__' && !/^\d+$|\\/.test(name)),
    oneof(string(), integer(), boolean(), constant(null)),
    { maxKeys: 3 },
  ).map((fields) => JSON.stringify(fields)),
  constantFrom('{"id":1234567890123456789}', '{"a":{"b":[9007199254740993,1.5]}}'),
)

/** The same, or what a model may write in place of it. */
export const anyInput: Arbitrary<string> = oneof(input, constantFrom('{"cut": "of', 'not JSON', '[1]'))

export const schema: Arbitrary<Readonly<Record<string, unknown>>> = constantFrom(
  { type: 'object', properties: { a: { type: 'string' } } },
  { type: 'object', properties: {}, additionalProperties: false },
)

export const citation: Arbitrary<Citation> = record({
  url: anyUrl,
  title: words,
  range: tuple(nat(20), nat(20)).map(([start, length]) => ({ start, end: start + length })),
})

export const tokens: Arbitrary<readonly TokenLogprob[]> = array(
  record({
    token: words,
    logprob: integer({ min: -40, max: 0 }),
    bytes: constant(null),
    top_logprobs: constantFrom([], [{ token: 'x', logprob: -1, bytes: [120] }]),
  }),
  { minLength: 1, maxLength: 3 },
)

/** An object some of whose fields may be missing. */
export function some<Value extends object, Name extends keyof Value>(
  fields: { [Each in keyof Value]: Arbitrary<Value[Each]> },
  required: readonly Name[],
): Arbitrary<Pick<Value, Name> & Partial<Value>> {
  return record(fields, { requiredKeys: [...required] }) as unknown as Arbitrary<Pick<Value, Name> & Partial<Value>>
}

/** Ids that a conversation has once each. */
export function ids(prefix: string, count: number): Arbitrary<readonly string[]> {
  return noBias(uuid()).map((uuid) =>
    Array.from({ length: count }, (_, index) => `${prefix}${uuid.slice(0, 8)}_${index}`),
  )
}
