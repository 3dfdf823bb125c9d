/** Which schemas are enforced, and which are only shown to Claude: the API rejects some schemas, and closes open objects. */
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { vendorRequests, type Sent } from '../vendor-requests.ts'

const of = (model = 'claude-sonnet-5') => vendorRequests((baseURL) => anthropic({ baseURL }), model)

type Schema = Readonly<Record<string, unknown>>

const tool = (name: string, parameters?: Schema) => ({
  type: 'function',
  function: { name, strict: true, ...(parameters && { parameters }) },
})
const object = (properties: Schema, required = Object.keys(properties), more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required,
  ...more,
})
const answer = (schema: Schema) => ({ type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } })
const many = (count: number, schema: unknown): Schema =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]))

const text = { type: 'string' }
const node = object({ value: text, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } })
const recursive = object({ root: { $ref: '#/$defs/Node' } }, ['root'], { $defs: { Node: node } })

async function held(tools: object[], response_format?: object): Promise<{ strict: boolean[]; body: Sent }> {
  const { sent } = await of()
  const body = await sent({ tools, response_format })
  return { strict: body.tools.map(({ strict = false }) => strict), body }
}

describe('strict tools', () => {
  test('beyond the twentieth are not strict, and keep their schemas', async () => {
    const parameters = object({ q: text })
    const { strict, body } = await held(Array.from({ length: 25 }, (_, index) => tool(`t${index}`, parameters)))
    expect(strict).toEqual(Array.from({ length: 25 }, (_, index) => index < 20))
    expect(body.tools[0].input_schema).toEqual({ ...parameters, additionalProperties: false })
    expect(body.tools[24].input_schema).toEqual(parameters)
  })

  test('share 24 optional and 16 union parameters with the response format', async () => {
    const optional = (count: number) => object(many(count, text), [])
    const unions = (count: number) => object(many(count, { type: ['string', 'null'] }))
    expect(
      (await held([10, 10, 5, 4].map((count) => tool(`t${count}${Math.random()}`, optional(count))))).strict,
    ).toEqual([true, true, false, true])
    expect((await held([tool('a', unions(16)), tool('b', unions(1)), tool('c', object({}))])).strict).toEqual([
      true,
      false,
      true,
    ])
    const { strict, body } = await held([tool('a', optional(4)), tool('b', optional(5))], answer(optional(20)))
    expect([strict, body.output_config.format.type]).toEqual([[true, false], 'json_schema'])
  })

  test.each<[string, Schema]>([
    ['a recursive schema', recursive],
    ['a reference to the whole schema', object({ inner: { $ref: '#' } })],
    ['a reference to another document', object({ inner: { $ref: 'https://example.com/schema' } })],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
    ['a nested map', object({ prices: { type: 'object', additionalProperties: { type: 'number' } } })],
    ['a map in a list', object({ list: { type: 'array', items: { type: 'object' } } })],
    ['a nullable map', object({ map: { type: ['object', 'null'] } })],
    ['additional properties', object({ q: text }, ['q'], { additionalProperties: true })],
    ['pattern properties', object({ q: text }, ['q'], { patternProperties: { '^x': text } })],
    ['a reference in allOf', object({ q: { allOf: [{ $ref: '#/$defs/Q' }] } }, ['q'], { $defs: { Q: text } })],
  ])('with %s are not strict, and keep their meaning', async (_, parameters) => {
    const { strict, body } = await held([tool('a', parameters), tool('b', object({ q: text }))])
    expect(strict).toEqual([false, true])
    expect(body.tools[0].input_schema).toEqual(parameters)
  })

  test('may reference a definition more than once, and need no parameters', async () => {
    const twice = object({ from: { $ref: '#/$defs/Q' }, to: { $ref: '#/$defs/Q' } }, ['from', 'to'], {
      $defs: { Q: text },
    })
    const { strict, body } = await held([tool('a', twice), tool('b')])
    expect(strict).toEqual([true, true])
    expect(body.tools[1].input_schema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
  })
})

describe('the schema of a response', () => {
  test.each<[string, Schema]>([
    ['is recursive', recursive],
    ['is a map', { type: 'object', additionalProperties: { type: 'number' } }],
    ['has too many optional properties', object(many(25, text), [])],
  ])('becomes the input of a tool if it %s', async (_, schema) => {
    const { sent } = await of()
    const body = await sent({ response_format: answer(schema) })
    expect(body).not.toHaveProperty('output_config')
    expect(body.tools).toMatchObject([{ name: 'answer', input_schema: schema }])
    expect(body.tool_choice).toMatchObject({ type: 'tool', name: 'answer' })
  })
})

describe('a tool schema with a choice at the top', () => {
  const byId = object({ id: { type: 'number' }, lang: text }, ['id'])
  const byName = object({ name: text, id: { type: 'string' } }, ['name', 'id'])

  const inputOf = async (parameters: Schema, strict = false) => {
    const { sent } = await of()
    const { tools } = await sent({ tools: [{ type: 'function', function: { name: 'f', parameters, strict } }] })
    expect(tools[0]).not.toHaveProperty('strict')
    return tools[0].input_schema
  }

  test.each(['anyOf', 'oneOf'])(
    '%s is merged: all properties, required if every branch requires them, and a description',
    async (name) => {
      for (const strict of [false, true]) {
        const choice = { description: 'One of two.', [name]: [byId, { $ref: '#/$defs/Name' }], $defs: { Name: byName } }
        expect(await inputOf(choice, strict)).toEqual({
          type: 'object',
          description: expect.stringMatching(/^One of two\.\nThe input must fit .* one of these schemas: \[/),
          properties: { id: { anyOf: [{ type: 'number' }, { type: 'string' }] }, lang: text, name: text },
          required: ['id'],
          $defs: { Name: byName },
        })
      }
    },
  )

  test('allOf is merged: required if any branch requires it', async () => {
    const input = await inputOf({ type: 'object', properties: { q: text }, allOf: [byId, { anyOf: [byName] }] })
    expect(input).toMatchObject({ required: ['id', 'name'] })
    expect(Object.keys(input.properties).sort()).toEqual(['id', 'lang', 'name', 'q'])
    expect(input).not.toHaveProperty('allOf')
  })

  test('with many references to itself takes little time', async () => {
    const inner = { anyOf: Array.from({ length: 400 }, () => ({ $ref: '#/$defs/A' })) }
    expect(await inputOf({ ...inner, $defs: { A: { ...inner, properties: many(500, text) } } })).toMatchObject({
      type: 'object',
    })
  })
})

test('thinking is off when the model continues an assistant message', async () => {
  for (const model of ['claude-sonnet-4-5', 'claude-3-7-sonnet-latest', 'claude-opus-4-20250514']) {
    const { sent } = await of(model)
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Dear' },
    ]
    const body = await sent({ reasoning_effort: 'high', messages, temperature: 0.5 })
    expect(body).not.toHaveProperty('thinking')
    expect(body).toMatchObject({ temperature: 0.5 })
    expect(await sent({ reasoning_effort: 'high' })).toHaveProperty('thinking')
  }
})
