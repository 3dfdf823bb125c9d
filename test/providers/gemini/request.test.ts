import { gemini, type GeminiOptions } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { vendorRequests, type Sent } from '../vendor-requests.ts'

const of = (model: string, options: GeminiOptions = {}) =>
  vendorRequests((baseURL) => gemini({ baseURL: baseURL.slice(0, -3), apiKey: 'key', ...options }), model)

const lookup = {
  type: 'function',
  function: { name: 'lookup', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
}
const called = (id: string, text: string, more: object = {}) => {
  return { id, type: 'function', function: { name: 'lookup', arguments: text }, ...more }
}
const hello = { role: 'user', content: 'Hi' }

async function signaturesIn(model: string, messages: object[]) {
  const body = await (await of(model)).sent({ messages })
  return body.contents[1].parts.map((part: Sent) => part.thoughtSignature)
}

function showing(url: string) {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
}

describe('messages', () => {
  test('sends instructions at the beginning as systemInstruction, and later ones at their place', async () => {
    const { sent } = await of('gemini-3-flash')
    const body = await sent({
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be' },
            { type: 'text', text: 'kind.' },
          ],
        },
        hello,
        { role: 'developer', content: 'Be brief.' },
      ],
    })
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be' }, { text: 'kind.' }] })
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: '<system>\nBe brief.\n</system>' }] },
    ])
  })

  test('sends a request with only instructions as a user message, as for a model without systemInstruction', async () => {
    const system = { role: 'system', content: 'Say hello.' }
    const alone = await (await of('gemini-3-flash')).sent({ messages: [system] })
    expect(alone).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] })
    const plain = await (await of('gemma-3-27b-it')).sent({ messages: [system, hello] })
    expect(plain).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }, { text: 'Hi' }] }] })
  })

  test('sends the results of parallel calls in one turn, named by their functions, before new text', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({
      messages: [
        hello,
        { role: 'assistant', content: 'Let me see.', tool_calls: [called('a', '{"q":"x"}'), called('b', '')] },
        { role: 'tool', tool_call_id: 'b', content: '{"two": 2}' },
        { role: 'user', content: 'And?' },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ],
    })
    expect(body.contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Let me see.' },
          { functionCall: { id: 'a', name: 'lookup', args: { q: 'x' } } },
          { functionCall: { id: 'b', name: 'lookup', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'b', name: 'lookup', response: { two: 2 } } },
          { functionResponse: { id: 'a', name: 'lookup', response: { output: 'one' } } },
          { text: 'And?' },
        ],
      },
    ])
  })

  test('sends a result with a $ref as text', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const content = '{"schema":{"$ref":"#/x"}}'
    const body = await sent({
      messages: [
        hello,
        { role: 'assistant', tool_calls: [called('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content },
      ],
    })
    expect(body.contents[2].parts[0].functionResponse.response).toEqual({ output: content })
  })

  test('sends calls of another vendor’s model to Gemini 3 with the value for a missing signature', async () => {
    const messages = [
      hello,
      { role: 'assistant', tool_calls: [called('a', '{}'), called('b', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
    ]
    expect(await signaturesIn('gemini-3-flash', messages)).toEqual(['skip_thought_signature_validator', undefined])
    expect(await signaturesIn('gemini-2.5-flash', messages)).toEqual([undefined, undefined])
    const own = { extra_content: { google: { thought_signature: 's' } } }
    const signed = { role: 'assistant', tool_calls: [called('a', '{}', own), called('b', '{}')] }
    expect(await signaturesIn('gemini-3-flash', [hello, signed, ...messages.slice(2)])).toEqual(['s', undefined])
  })

  test('sends broken arguments of an earlier call as text', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({
      messages: [
        hello,
        { role: 'assistant', tool_calls: [called('a', '[1')] },
        { role: 'tool', tool_call_id: 'a', content: '' },
      ],
    })
    expect(body.contents[1].parts[0].functionCall.args).toEqual({ invalid_arguments: '[1' })
  })
})

describe('media', () => {
  test('sends data inline', async () => {
    const { sent } = await of('gemini-3-flash')
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/png;charset=x;base64,AAEC' } },
      { type: 'input_audio', input_audio: { data: 'AAEC', format: 'mp3' } },
      { type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AAEC' } },
    ]
    const body = await sent({ messages: [{ role: 'user', content }] })
    expect(body.contents[0].parts.map(({ inlineData }: Sent) => inlineData)).toEqual(
      ['image/png', 'audio/mp3', 'audio/wav', 'application/pdf'].map((mimeType) => ({ mimeType, data: 'AAEC' })),
    )
  })

  test('sends a URL with https, which Google fetches, and rejects any other one', async () => {
    const { sent, refused } = await of('gemini-3-flash')
    const parts = async (url: string) => (await sent(showing(url))).contents[0].parts
    expect(await parts('https://example.test/cat.png?size=1')).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.test/cat.png?size=1' } },
    ])
    expect(await parts('https://www.youtube.com/watch?v=1')).toEqual([
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
    ])
    const refusal = await refused(showing('http://example.test/cat.png'))
    expect(refusal).toMatchObject({ status: 400, param: 'messages[0].content[0].image_url.url' })
    expect(refusal.message).toMatch(/https.*data URL/)
  })

  test('sends no URL but those of Google to a model that fetches no others', async () => {
    const { sent, refused } = await of('gemini-2.0-flash')
    expect(await refused(showing('https://example.test/cat.png'))).toMatchObject({ status: 400 })
    const body = await sent(showing('https://youtu.be/1'))
    expect(body.contents[0].parts).toEqual([{ fileData: { fileUri: 'https://youtu.be/1' } }])
  })

  test('sends an image in a tool result inside it, and for older models next to it', async () => {
    const messages = [
      hello,
      { role: 'assistant', tool_calls: [called('a', '{}')] },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [
          { type: 'text', text: 'here' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } },
        ],
      },
    ]
    const parts = async (model: string) => (await (await of(model)).sent({ messages })).contents[2].parts
    const inlineData = { mimeType: 'image/png', data: 'AAEC' }
    const functionResponse = { id: 'a', name: 'lookup', response: { output: 'here' } }
    expect(await parts('gemini-3-flash')).toEqual([
      { functionResponse: { ...functionResponse, parts: [{ inlineData }] } },
    ])
    expect(await parts('gemini-2.5-flash')).toEqual([{ functionResponse }, { inlineData }])
  })
})

describe('tools', () => {
  test('passes a schema on unchanged', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const parameters = {
      type: 'object',
      properties: { q: { anyOf: [{ const: 'x' }, { $ref: '#/$defs/Q' }] } },
      additionalProperties: false,
      $defs: { Q: { type: 'number' } },
    }
    const body = await sent({ tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters } }] })
    expect(body.tools).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'F', parametersJsonSchema: parameters }] },
    ])
    expect(body).not.toHaveProperty('toolConfig')
  })

  test.each([
    ['auto', { mode: 'AUTO' }],
    ['required', { mode: 'ANY' }],
    ['none', { mode: 'NONE' }],
    [
      { type: 'function', function: { name: 'lookup' } },
      { mode: 'ANY', allowedFunctionNames: ['lookup'] },
    ],
  ])('translates tool_choice %j', async (choice, expected) => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({ tools: [lookup], tool_choice: choice })
    expect(body.toolConfig).toEqual({ functionCallingConfig: expected })
  })

  test.each<[string, object, unknown]>([
    ['is omitted if it is empty', {}, undefined],
    [
      'of a nullable object becomes one of an object',
      { type: ['object', 'null'], properties: { q: { type: ['string', 'null'] } } },
      { type: 'object', properties: { q: { type: ['string', 'null'] } } },
    ],
    ['without a type becomes one of an object', { properties: { q: {} } }, { type: 'object', properties: { q: {} } }],
    [
      'that is a reference is replaced by its target',
      { $ref: '#/$defs/A', $defs: { A: { type: 'object', properties: { a: { $ref: '#/$defs/A' } } } } },
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/A' } },
        $defs: { A: { type: 'object', properties: { a: { $ref: '#/$defs/A' } } } },
      },
    ],
    [
      'has no keywords next to a reference',
      {
        type: 'object',
        properties: { $ref: { type: 'string' }, a: { $ref: '#/$defs/A', description: 'An A' } },
        $defs: { A: { type: 'array', items: { $ref: '#/$defs/A', nullable: true } } },
      },
      {
        type: 'object',
        properties: { $ref: { type: 'string' }, a: { anyOf: [{ $ref: '#/$defs/A' }], description: 'An A' } },
        $defs: { A: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/A' }], nullable: true } } },
      },
    ],
  ])('a schema %s', async (_, parameters, expected) => {
    const { sent } = await of('gemini-3-flash')
    const before = JSON.stringify(parameters)
    const body = await sent({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
    expect(body.tools[0].functionDeclarations[0].parametersJsonSchema).toEqual(expected)
    expect(JSON.stringify(parameters)).toBe(before)
  })

  test('replaces a name that the vendor rejects wherever it occurs', async () => {
    const { sent } = await of('gemini-3-flash')
    const tool = (name: string) => ({ type: 'function', function: { name } })
    const past = { id: 'a', type: 'function', function: { name: '3d_model', arguments: '{}' } }
    const body = await sent({
      tools: ['3d_model', '_3d_model', '-x', 'a b'].map(tool),
      tool_choice: tool('3d_model'),
      messages: [hello, { role: 'assistant', tool_calls: [past] }, { role: 'tool', tool_call_id: 'a', content: '1' }],
    })
    const names = body.tools[0].functionDeclarations.map(({ name }: Sent) => name)
    expect(names).toEqual(['_3d_model_2', '_3d_model', '_-x', 'a_b'])
    expect(body.toolConfig.functionCallingConfig.allowedFunctionNames).toEqual(['_3d_model_2'])
    expect(body.contents[1].parts[0].functionCall.name).toBe('_3d_model_2')
    expect(body.contents[2].parts[0].functionResponse.name).toBe('_3d_model_2')
  })

  test('requests validated calls for strict functions', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const strict = { type: 'function', function: { ...lookup.function, strict: true } }
    expect((await sent({ tools: [strict] })).toolConfig).toEqual({ functionCallingConfig: { mode: 'VALIDATED' } })
  })
})

describe('response_format', () => {
  const schema = { type: 'object', properties: { kind: { const: 'x' }, const: { type: 'string' } }, required: ['kind'] }
  const format = { type: 'json_schema', json_schema: { name: 'thing', schema } }

  test('sends a schema, and replaces the keyword that the vendor does not know', async () => {
    const { sent } = await of('gemini-2.5-flash')
    expect((await sent({ response_format: format })).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { kind: { enum: ['x'] }, const: { type: 'string' } },
        required: ['kind'],
      },
    })
  })

  test('requests a JSON object', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({ response_format: { type: 'json_object' } })
    expect(body.generationConfig).toEqual({ responseMimeType: 'application/json' })
  })

  test('gives an older model with tools a schema as a forced function', async () => {
    const old = await (await of('gemini-2.5-flash')).sent({ response_format: format, tools: [lookup] })
    expect(old).not.toHaveProperty('generationConfig')
    expect(old.tools[0].functionDeclarations.map(({ name }: Sent) => name)).toEqual(['lookup', 'thing'])
    expect(old.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY' } })
    const young = await (await of('gemini-3-flash')).sent({ response_format: format, tools: [lookup] })
    expect(young.generationConfig).toHaveProperty('responseJsonSchema')
    expect(young).not.toHaveProperty('toolConfig')
  })

  test('gives an older model with tools an instruction to respond in JSON', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({ response_format: { type: 'json_object' }, tools: [lookup] })
    expect(body.systemInstruction.parts[0].text).toMatch(/JSON object/)
    expect(body).not.toHaveProperty('generationConfig')
  })
})

test.each([
  ['gemini-3-flash', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }],
  ['gemini-3-pro-preview', 'minimal', { thinkingLevel: 'low', includeThoughts: true }],
  ['gemini-3-pro-preview', 'max', { thinkingLevel: 'high', includeThoughts: true }],
  ['gemini-3-pro-preview', 'none', { thinkingLevel: 'low', includeThoughts: false }],
  ['gemini-4-hydrogen', 'max', { thinkingLevel: 'xhigh', includeThoughts: true }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
  ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: false }],
  ['gemini-2.5-flash', 'medium', { thinkingBudget: 8_192, includeThoughts: true }],
  ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }],
  ['gemini-2.0-flash', 'none', undefined],
])('sets the thinking of %s for effort %s', async (model, effort, config) => {
  const { sent } = await of(model)
  expect((await sent({ reasoning_effort: effort })).generationConfig?.thinkingConfig).toEqual(config)
})

describe('settings', () => {
  test('are sent under the vendor’s names', async () => {
    const { sent } = await of('gemini-2.5-flash')
    const body = await sent({
      temperature: 1.5,
      top_p: 0.5,
      top_k: 3,
      max_completion_tokens: 9,
      stop: ['a', 'b'],
      n: 2,
      seed: 2 ** 40 + 5,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logprobs: true,
      top_logprobs: 2,
      modalities: ['text', 'image'],
      safety_settings: [{ category: 'c', threshold: 't' }],
    })
    expect(body.generationConfig).toEqual({
      temperature: 1.5,
      topP: 0.5,
      topK: 3,
      maxOutputTokens: 9,
      stopSequences: ['a', 'b'],
      candidateCount: 2,
      seed: 5,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseLogprobs: true,
      logprobs: 2,
      responseModalities: ['TEXT', 'IMAGE'],
    })
    expect(body.safetySettings).toEqual([{ category: 'c', threshold: 't' }])
  })

  test('rejects unsupported fields by name', async () => {
    const { refused, sent } = await of('gemini-2.0-flash')
    for (const [field, value] of Object.entries({
      logit_bias: { 1: 5 },
      modalities: ['text', 'audio'],
      audio: { voice: 'x', format: 'wav' },
      verbosity: 'low',
      service_tier: 'flex',
      web_search_options: {},
      functions: [{ name: 'f' }],
      reasoning_effort: 'low',
    })) {
      expect(await refused({ [field]: value })).toMatchObject({ status: 400, param: field })
    }
    expect(Object.keys(await sent({ store: true, metadata: { a: 'b' }, user: 'u' }))).toEqual(['contents'])
  })
})

test.each([
  ['gemini-x', '/v1beta/models/gemini-x:generateContent'],
  ['tunedModels/x-1', '/v1beta/tunedModels/x-1:generateContent'],
  ['../../secrets?x=', '/v1beta/models/..%2F..%2Fsecrets%3Fx%3D:generateContent'],
])('sends the model %s to %s', async (model, path) => {
  const { sent, url } = await of(model)
  await sent({})
  expect(url()).toBe(path)
})

test('keeps a version in the base URL', async () => {
  const place = '/v1/projects/p/locations/l/publishers/google'
  const { sent, url } = await vendorRequests(
    (baseURL) => gemini({ baseURL: baseURL.replace('/v1', place), headers: { authorization: 'Bearer t' } }),
    'gemini-x',
  )
  await sent({})
  expect(url()).toBe(`${place}/models/gemini-x:generateContent`)
})
