/** Invalid values in any field are rejected with the name of the field, and never with a 500. */
import { onTestFinished, describe, expect, test } from 'vitest'
import { mount } from '../../adapters/hosts/fetch.ts'
import { createGateway } from '../../src/index.ts'
import { anthropic, demo, gemini, openai } from '../../src/providers/index.ts'
import { vendorFor } from '../hosted.ts'
import { onlyChats } from './ask.ts'
import { long, thorough } from '../long.ts'

const fields = `
  messages tools tool_choice parallel_tool_calls functions function_call response_format stop n max_tokens
  max_completion_tokens max_output_tokens temperature top_p top_k seed logprobs top_logprobs logit_bias presence_penalty
  frequency_penalty modalities audio thinking reasoning_effort reasoning verbosity service_tier web_search_options
  safety_settings stream_options metadata user safety_identifier moderation prediction prompt suffix echo best_of input
  instructions text include max_tool_calls truncation store system stop_sequences output_config output_format metadata
  context_management cache_control speed fallbacks container mcp_servers
`
  .trim()
  .split(/\s+/)

const tool = { type: 'function', name: 'look', function: { name: 'look' } }
const junk: readonly unknown[] = [
  -1,
  0.5,
  1e300,
  '',
  'x',
  true,
  [],
  [null],
  [-1],
  ['x'],
  [[]],
  [{}],
  {},
  { type: -1 },
  { type: 'function' },
  { type: 'json_schema' },
  { type: 'json_schema', json_schema: { name: 5, schema: [-1] } },
  { format: -1 },
  { format: { type: 'json_schema', name: 5, schema: -1 } },
  { effort: -1 },
  { type: 'allowed_tools' },
  [tool, null],
  [{ ...tool, function: { name: 'look', parameters: -1 } }],
  [{ type: 'text', text: 5 }],
  [{ role: 'assistant', content: [{ type: 'thinking', thinking: 5, signature: 'mh1.google.x' }] }],
  [
    {
      role: 'assistant',
      content: [{ type: 'thinking', signature: ['mh1.'] }, null, { type: 'redacted_thinking', data: 'mh1.' }],
    },
  ],
  [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'image', source: 5 }] }] }],
  [{ role: 'system', content: [{ type: 'text' }] }, 'mh1.'],
  { edits: [null, 5, { type: 'clear_thinking_x' }] },
  { type: 'enabled', budget_tokens: 'many' },
  { type: 'enabled', budget_tokens: 1e300 },
  { user_id: '{"session_id":[]' },
  { user_id: '{"session_id":[1],"account_uuid":{}}' },
  { parts: [null, { text: 5 }, { inlineData: 5 }] },
  [{ parts: [{ functionCall: { name: 5, args: [] } }, { functionResponse: 5 }, { thoughtSignature: {} }] }],
  [{ functionDeclarations: [null, { name: 5 }, { name: 'look', parameters: -1, parametersJsonSchema: [] }] }],
  { functionCallingConfig: { mode: -1, allowedFunctionNames: [5] } },
  { thinkingBudget: 'many', thinkingLevel: 5, includeThoughts: 'x' },
]
/** Too long for validation before a provider reads it. */
const large: readonly unknown[] = [null, -1, {}, []].map((each) => Array.from({ length: 9_000 }, () => each))

const bodies: Readonly<Record<string, object>> = {
  'chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  completions: { prompt: 'Hi' },
  responses: { input: 'Hi' },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  'messages/count_tokens': { messages: [{ role: 'user', content: 'Hi' }] },
}

async function gateway() {
  const { baseURL } = await vendorFor((_, response) => void response.writeHead(200, { 'content-type': 'x/y' }).end())
  const made = createGateway({
    keys: { 'sk-test': {} },
    retry: { maxAttempts: 1 },
    breaker: { failures: 1e9 },
    models: {
      openai: openai({ baseURL }),
      'openai-chat-only': { provider: onlyChats(baseURL) },
      claude: { provider: anthropic({ apiKey: 'x', baseURL }), providerModel: 'claude-sonnet-4-5' },
      gemini: { provider: gemini({ apiKey: 'x', baseURL }), providerModel: 'gemini-2.5-flash' },
      demo: demo(),
    },
  })
  onTestFinished(() => made.close({ graceMs: 0 }))
  return mount(made)
}

/** What the server fails at. */
async function failing(path: string, names: readonly string[], bodyOf: (name: string, value: unknown) => object) {
  const handle = await gateway()
  const failed: string[] = []
  for (const [index, name] of names.entries()) {
    const some = [...junk, ...large].filter((_, at) => long || (thorough && at === 0) || (at + index) % 40 === 0)
    for (const value of some) {
      const body = JSON.stringify(bodyOf(name, value))
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
      const answer = await handle(new Request(`http://host/${path}`, { method: 'POST', headers, body }))
      const text = await answer.text()
      if (answer.status === 500) failed.push(`${name}: ${JSON.stringify(value).slice(0, 80)}: ${text.slice(0, 100)}`)
    }
  }
  return failed
}

const models = ['openai-chat-only', 'claude', 'gemini', 'demo']

const contentFields = `
  contents systemInstruction system_instruction tools toolConfig safetySettings cachedContent labels serviceTier generationConfig
`
const configFields = `
  stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens
  temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs thinkingConfig mediaResolution
  speechConfig imageConfig enableEnhancedCivicAnswers
`
const [ofContent = [], ofConfig = []] = [contentFields, configFields].map((names) => names.trim().split(/\s+/))
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

test.each([1e9, 1e300, 0, 1.5, -1, 'x'])('generateContent makes no %o candidates', async (candidateCount) => {
  const handle = await gateway()
  const body = JSON.stringify({ contents, generationConfig: { candidateCount } })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const url = 'http://host/v1beta/models/demo:generateContent'
  const answer = await handle(new Request(url, { method: 'POST', headers, body }))
  const { error } = (await answer.json()) as { error: { message: string } }
  expect([answer.status, error.message]).toEqual([400, expect.stringContaining('generationConfig.candidateCount')])
})

describe.each(['generateContent', 'countTokens'])('%s', (method) => {
  test.each(models)('invalid values in any field are rejected, model %s', async (model) => {
    const bodyOf = (name: string, value: unknown) =>
      ofConfig.includes(name) ? { contents, generationConfig: { [name]: value } } : { contents, [name]: value }
    expect(await failing(`v1beta/models/${model}:${method}`, [...ofContent, ...ofConfig], bodyOf)).toEqual([])
  })
})

describe.each(Object.keys(bodies))('%s', (path) => {
  test.each(models)('invalid values in any field are rejected, model %s', async (model) => {
    const bodyOf = (field: string, value: unknown) => ({ ...bodies[path], model, tools: [tool], [field]: value })
    expect(await failing(`v1/${path}`, fields, bodyOf)).toEqual([])
  })
})

test.each([
  ['chat/completions', { modalities: [-1] }, 'modalities[0]'],
  ['completions', { modalities: [null] }, 'modalities[0]'],
  ['completions', { tools: -1 }, 'tools'],
  ['completions', { tool_choice: 'any' }, 'tool_choice'],
  ['chat/completions', { stop: Array.from({ length: 9_000 }, () => -1) }, 'stop'],
])('%s names the invalid field: %o', async (path, fault, param) => {
  const handle = await gateway()
  const body = JSON.stringify({ ...bodies[path], model: 'claude', ...fault })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const answer = await handle(new Request(`http://host/v1/${path}`, { method: 'POST', headers, body }))
  expect([answer.status, ((await answer.json()) as { error: { param: string } }).error.param]).toEqual([400, param])
})
