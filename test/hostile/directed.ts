/** Small requests that once were expensive or had a faulty response. All are sent in every run. */
import type { Body } from './grammar.ts'
import { json } from './asking.ts'

type Named = Body & { readonly name: string }

const chat = '/v1/chat/completions'
const user = [{ role: 'user', content: 'Hi' }]

function request(name: string, path: string, fields: object): Named {
  return { name, path, contentType: json, body: Buffer.from(JSON.stringify(fields)) }
}

function schema(name: string, given: object): Named {
  const format = { type: 'json_schema', json_schema: { name: 'x', schema: given } }
  return request(`a schema ${name}`, chat, { model: 'demo', messages: user, response_format: format })
}

const numbers = Array.from({ length: 4_900 }, (_, at) => at)
const required = Array.from({ length: 9_900 }, (_, at) => `n${at}`)

export const directed: readonly Named[] = [
  schema('of large constants', { type: 'array', minItems: 990, items: { const: [numbers, numbers] } }),
  schema('of one reference again and again', {
    allOf: Array.from({ length: 480 }, () => ({ $ref: '#/$defs/a' })),
    $defs: { a: { type: 'object', required } },
  }),
  schema('of long references', { allOf: Array.from({ length: 48 }, () => ({ $ref: `#${'/a'.repeat(20_000)}` })) }),
  schema('of a long constant', { type: 'array', minItems: 990, items: { const: 'x'.repeat(1_000_000) } }),
  request('a text that grows when it is normalised', '/v1/embeddings', {
    model: 'demo',
    input: '\ufdfa'.repeat(2_000_000),
  }),
  request('many long answers with logprobs', chat, {
    model: 'demo',
    n: 128,
    logprobs: true,
    messages: [{ role: 'user', content: 'Count from 1 to 9999' }],
  }),
  request('a long name of a tool', chat, {
    model: 'demo',
    messages: user,
    tool_choice: 'required',
    tools: [{ type: 'function', function: { name: 'x'.repeat(100_000) } }],
  }),
  ...['claude', 'gemini', 'openai', 'echo', 'demo'].flatMap((model) =>
    [
      'tools',
      'messages',
      'stop',
      'n',
      'stream',
      'response_format',
      'tool_choice',
      'max_tokens',
      'reasoning_effort',
    ].map((field) =>
      request(`${field}: -1 beside a prompt of ${model}`, '/v1/completions', { model, prompt: 'x', [field]: -1 }),
    ),
  ),
  request('blanks', chat, {}),
].map((each) => (each.name === 'blanks' ? { ...each, body: Buffer.from(' '.repeat(19_000_000) + '{}') } : each))
