import { describe, expect, test } from 'vitest'
import { gemini } from '../../../src/formats/gemini/gemini.ts'
import { said } from '../laws.ts'

const hello = { role: 'user', parts: [{ text: 'Hi' }] }

test('names may be written in snake case', () => {
  const snake = {
    system_instruction: { parts: [{ text: 'Be kind.' }] },
    contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'AAEC' } }] }],
    tools: [
      { function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object', properties: { a_b: {} } } }] },
    ],
    tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['f'] } },
    generation_config: { max_output_tokens: 5, thinking_config: { include_thoughts: true } },
  }
  const camel = {
    systemInstruction: { parts: [{ text: 'Be kind.' }] },
    contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'AAEC' } }] }],
    tools: [
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object', properties: { a_b: {} } } }] },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: { maxOutputTokens: 5, thinkingConfig: { includeThoughts: true } },
  }
  expect(said(gemini.readRequest(snake))).toEqual(said(gemini.readRequest(camel)))
})

test("a schema in Google's dialect of OpenAPI becomes a JSON schema", () => {
  const parameters = {
    type: 'OBJECT',
    properties: {
      type: { type: 'STRING', enum: ['a', 'b'], format: 'enum', nullable: true },
      list: { type: 'ARRAY', items: { anyOf: [{ type: 'INTEGER' }, { type: 'NULL' }] }, minItems: '1' },
    },
    propertyOrdering: ['list', 'type'],
  }
  const { tools } = gemini.readRequest({
    contents: [hello],
    tools: [{ functionDeclarations: [{ name: 'f', parameters }] }],
  })
  expect(tools[0]).toMatchObject({
    schema: {
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['a', 'b', null] },
        list: { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] }, minItems: 1 },
      },
    },
  })
})

test('results without ids belong to the calls of their functions, in order', () => {
  const call = (name: string) => ({ functionCall: { name, args: {} } })
  const result = (name: string, output: string) => ({ functionResponse: { name, response: { output } } })
  const { turns } = gemini.readRequest({
    contents: [
      hello,
      { role: 'model', parts: [call('a'), call('b'), call('a')] },
      { role: 'user', parts: [result('b', '2'), result('a', '1'), result('a', '3')] },
    ],
  })
  const ids = turns[1]?.blocks.map((block) => (block.kind === 'call' ? block.id : ''))
  expect(new Set(ids).size).toBe(3)
  const results = turns[2]?.blocks.map((block) => (block.kind === 'result' ? block.callId : ''))
  expect(results).toEqual([ids?.[1], ids?.[0], ids?.[2]])
})

test('of functions that may not be called, other vendors are not told', () => {
  const { tools, toolChoice } = gemini.readRequest({
    contents: [hello],
    tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a', 'b'] } },
  })
  expect(tools).toMatchObject([{ name: 'a' }, { name: 'b' }])
  expect(toolChoice).toBe('any')
})

describe('errors name the field', () => {
  test.each<[string, object]>([
    ['contents', {}],
    ['contents[0].role', { contents: [{ role: 'robot', parts: [] }] }],
    ['contents[0].parts[0]', { contents: [{ parts: ['text'] }] }],
    ['contents[0].parts[0].functionCall.name', { contents: [{ parts: [{ functionCall: {} }] }] }],
    ['tools[0].functionDeclarations[0].name', { contents: [hello], tools: [{ functionDeclarations: [{}] }] }],
    ['generationConfig', { contents: [hello], generationConfig: 'x' }],
    [
      'toolConfig.functionCallingConfig.allowedFunctionNames',
      { contents: [hello], toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [{}] } } },
    ],
  ])('%s', (param, body) => {
    expect(() => gemini.readRequest(body as Record<string, unknown>)).toThrow(
      expect.objectContaining({ param, status: 400 }),
    )
  })
})

test('the texts of a result are separated', () => {
  const to = { model: 'm', maker: 'google', traits: { thinking: 'levels' as const }, omit: () => undefined }
  const body = gemini.writeRequest(
    {
      turns: [
        { role: 'assistant', blocks: [{ kind: 'call', id: '1', name: 'f', by: 'function', input: '{}' }] },
        {
          role: 'user',
          blocks: [
            {
              kind: 'result',
              callId: '1',
              blocks: [
                { kind: 'text', text: 'eins' },
                { kind: 'text', text: 'zwei' },
              ],
            },
          ],
        },
      ],
      tools: [],
      settings: {},
    },
    to,
  )
  expect(JSON.stringify(body)).toContain('"response":{"output":"eins\\nzwei"}')
})

test('the pieces of a streamed answer, which clients send as contents of their own, are one answer', () => {
  const piece = (part: object) => ({ role: 'model', parts: [part] })
  const { turns } = gemini.readRequest({
    contents: [
      hello,
      piece({ text: 'Let', thought: true }),
      piece({ text: ' me see.', thought: true }),
      piece({ text: 'Hel' }),
      piece({ text: 'lo' }),
      piece({ text: '', thoughtSignature: 'sig' }),
      hello,
    ],
  })
  expect(turns).toHaveLength(3)
  expect(turns[1]?.blocks).toMatchObject([
    { kind: 'reasoning', text: 'Let me see.' },
    { kind: 'text', text: 'Hello', state: { maker: 'google' } },
  ])
})
