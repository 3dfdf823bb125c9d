import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { thorough } from '../../long.ts'
import { turnsOf } from '../../worst/turns.ts'
import { say } from './ask.ts'
import { leastMs } from '../../cpu-time.ts'

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  logger: false,
  formats: { 'date-time': true, 'idn-email': /^\w+@[\w.]+$/, iri: /^https:/ },
})

async function valueOf(schema: object, question = 'Generate something.'): Promise<unknown> {
  const answer = await say(question, {
    response_format: { type: 'json_schema', json_schema: { name: 'value', schema: schema as Record<string, unknown> } },
  })
  return JSON.parse(answer ?? '')
}

async function expectConforming(schema: object, question?: string): Promise<void> {
  const value = await valueOf(schema, question)
  const valid = ajv.validate(schema, value)
  expect(valid, `${JSON.stringify(value)} for ${JSON.stringify(schema)}: ${ajv.errorsText()}`).toBe(true)
}

describe('JSON from the demo model', () => {
  test('returns an object with the answer for json_object, or the answer itself if it is one', async () => {
    const format = { response_format: { type: 'json_object' } } as const
    expect(JSON.parse((await say('Count to 3', format)) ?? '')).toEqual({ answer: '1, 2, 3' })
    expect(await say('Say exactly {"a": 1}', format)).toBe('{"a": 1}')
  })

  test.each<[string, object]>([
    ['bounds', { type: 'integer', minimum: 90, exclusiveMaximum: 92, multipleOf: 7 }],
    ['exclusive bounds close together', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 }],
    ['a negative range', { type: 'number', maximum: -5 }],
    [
      'a list of different items',
      { type: 'array', items: { type: 'integer', maximum: 13 }, minItems: 3, uniqueItems: true },
    ],
    ['different texts', { type: 'array', items: { type: 'string' }, minItems: 5, uniqueItems: true }],
    ['different choices', { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true }],
    ['a maximum length of a list', { type: 'array', items: { type: 'string' }, maxItems: 1 }],
    ['a tuple', { prefixItems: [{ type: 'string' }, { type: 'null' }], items: false, minItems: 2 }],
    ['lengths', { type: 'string', minLength: 200, maxLength: 201 }],
    ['formats of other alphabets', { prefixItems: [{ format: 'idn-email' }, { format: 'iri' }], minItems: 2 }],
    ['a constant', { const: { any: ['thing'] } }],
    ['one of several types', { type: ['null', 'boolean'] }],
    ['alternatives', { anyOf: [{ type: 'null' }, { type: 'integer' }] }],
    ['a record', { type: 'object', additionalProperties: { type: 'number' }, minProperties: 2 }],
    ['properties without required', { properties: { a: { type: 'integer' } } }],
    ['required without a property', { required: ['x'], additionalProperties: { type: 'boolean' } }],
    [
      'combined parts',
      {
        allOf: [
          { properties: { a: { type: 'integer' } }, required: ['a'] },
          { properties: { b: { $ref: '#/$defs/B' } }, required: ['b'] },
        ],
        $defs: { B: { type: 'string', enum: ['only'] } },
        unevaluatedProperties: false,
      },
    ],
    [
      'a schema that contains itself',
      {
        $ref: '#/definitions/Node',
        definitions: {
          Node: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              children: { type: 'array', items: { $ref: '#/definitions/Node' } },
              next: { anyOf: [{ $ref: '#/definitions/Node' }, { type: 'null' }] },
            },
            required: ['name', 'children', 'next'],
            additionalProperties: false,
          },
        },
      },
    ],
  ])('conforms to a schema with %s', async (_, schema) => {
    await expectConforming(schema)
  })

  test.each([
    z.email(),
    z.uuid(),
    z.iso.datetime(),
    z.iso.date(),
    z.url(),
    z.ipv4(),
    z.object({ theme: z.enum(['light', 'dark']), list: z.array(z.object({ n: z.int().min(3) })).length(3) }),
    z.object({ id: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), at: z.number() })]) }),
    z.record(z.string(), z.unknown()),
    z.tuple([z.string(), z.number().multipleOf(0.01)]),
  ])('conforms to a schema of zod (%#)', async (schema) => {
    const described = z.toJSONSchema(schema)
    const value = await valueOf(described)
    expect(schema.safeParse(value).error?.message ?? 'valid', JSON.stringify(value)).toBe('valid')
  })

  test('conforms to any schema', async () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: -99, max: 99 }) }),
      fc
        .tuple(fc.nat(50), fc.nat(50))
        .map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
      fc.constantFrom({ type: 'boolean' }, { type: 'null' }, { enum: [1, 'two', null] }, { const: 4 }, true, {}),
    )
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({
          type: fc.constant('array'),
          items: tie('schema'),
          minItems: fc.nat(2),
          maxItems: fc.integer({ min: 2, max: 3 }),
        }),
        fc.dictionary(fc.constantFrom('a', 'city', 'some name'), tie('schema')).map((properties) => ({
          type: 'object',
          properties,
          required: Object.keys(properties),
          additionalProperties: false,
        })),
        fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
      ),
    }))
    const whole = schema.map((part) => ({ type: 'object', properties: { part }, required: ['part'] }))
    await fc.assert(
      fc.asyncProperty(whole, (described) => expectConforming(described, 'In Paris, city=Rome and a is 7.')),
      { numRuns: thorough ? 150 : 40 },
    )
  })

  test('uses values from the question if they conform', async () => {
    const text = { type: 'string' }
    const schema = {
      type: 'object',
      properties: {
        serviceName: text,
        city: text,
        decision: { enum: ['UseFallback', 'UseAPI'] },
        age: { type: 'integer' },
        note: text,
        unasked: text,
      },
      required: ['serviceName', 'city', 'decision', 'age'],
    }
    const question = 'I want UseAPI in New York.\nService name: My Service\nage=42 note="be quick"'
    expect(await valueOf(schema, question)).toEqual({
      serviceName: 'My Service',
      city: 'New York',
      decision: 'UseAPI',
      age: 42,
      note: 'be quick',
    })
  })

  test.each<[string, object]>([
    ['that references itself', { $ref: '#' }],
    ['of infinite depth', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['of very many values', { type: 'array', minItems: 1_000_000_000 }],
    ['of lists of lists', { items: { items: { type: 'null' }, type: 'array', minItems: 200 }, minItems: 200 }],
  ])('rejects a schema %s', async (_, schema) => {
    await expect(valueOf(schema)).rejects.toMatchObject({ status: 400 })
  })

  test('limits the search for properties in the question', async () => {
    const names = Array.from({ length: 9_000 }, (_, at) => [`property${at}`, {}])
    const schema = { type: 'object', properties: Object.fromEntries(names) as object, required: [] }
    const least = await leastMs(1_000, async () => {
      const { result, total } = await turnsOf(() => valueOf(schema, 'property '.repeat(900)))
      expect(result).toEqual({})
      return total
    })
    expect(least).toBeLessThan(1_000)
  })

  test.each<object>([
    { anyOf: [null, 7, 'x'] },
    { properties: 'abc', required: [{}, null], additionalProperties: null },
    { type: [], enum: {}, $ref: 7, allOf: 'x' },
    { type: 'array', prefixItems: [null], minItems: '3', maxItems: -1 },
    { type: 'string', pattern: '[', minLength: -4, maxLength: 'x', format: {} },
    { $ref: '#/properties/0/%', properties: [] },
  ])('returns some value for an invalid schema: %j', async (schema) => {
    expect(await valueOf({ type: 'object', properties: { odd: schema }, required: ['odd'] })).toHaveProperty('odd')
  })

  test('a pattern is not followed, and never executed', async () => {
    expect(await valueOf({ type: 'string', pattern: '^(a+)+$', maxLength: 11 })).toBe('Sample text')
  })
})
