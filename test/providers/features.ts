/** What a client may ask of a chat, and how each vendor shows that it was asked: the rows of the table in the readme. */
import type { Sent } from './asking.ts'

/** `anthropic` and `gemini` are bodies of the vendor's requests, `sdk` the options of a model of the AI SDK. */
export type Vendor = 'openai' | 'anthropic' | 'gemini' | 'sdk'

/** Whether it stands in what the vendor got: in a field of its own (`native`), or in other words (`emulated`). */
type Evidence = (sent: Sent) => boolean

export interface Feature {
  readonly name: string
  readonly request: object
  readonly native: Partial<Record<Vendor, Evidence>>
  readonly emulated?: Partial<Record<Vendor, Evidence>>
  /** How, for the readme. */
  readonly how?: string
}

const asked = { role: 'user', content: 'Hi' }
const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }
const other = { type: 'function', function: { name: 'other', parameters: { type: 'object' } } }
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const called = { id: 'a', type: 'function', function: { name: 'lookup', arguments: '{}' } }

const showing = (part: object) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }] })
const inBody =
  (field: string): Evidence =>
  (sent) =>
    sent[field] !== undefined
const firstPart = (place: (sent: Sent) => Sent) => (sent: Sent) => place(sent) !== undefined
const claudeBlock = (type: string) =>
  firstPart((sent) => sent.messages[0].content.find((each: Sent) => each.type === type))
const geminiInline = (type: string) =>
  firstPart((sent) => sent.contents[0].parts.find((each: Sent) => each.inlineData?.mimeType === type))
const sdkFile = (type: string) =>
  firstPart((sent) => sent.prompt[0].content.find((each: Sent) => each.mediaType === type))
const config =
  (field: string): Evidence =>
  (sent) =>
    sent.generationConfig?.[field] !== undefined
const sameAsSent = (field: string) => ({ openai: inBody(field) })

export const features: readonly Feature[] = [
  {
    name: '`system` and `developer` anywhere',
    request: {
      messages: [asked, { role: 'system', content: 'Be kind.' }, { role: 'developer', content: 'Be brief.' }],
    },
    native: { openai: (sent) => sent.messages.length === 3 },
    emulated: {
      anthropic: (sent) => sent.system === 'Be kind.\n\nBe brief.',
      gemini: (sent) => sent.systemInstruction.parts.length === 2,
      sdk: (sent) => sent.prompt[0].content === 'Be kind.\n\nBe brief.',
    },
    how: 'all instructions are told in front of the conversation',
  },
  {
    name: 'images, `data:` URL',
    request: showing({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } }),
    native: {
      openai: (sent) => sent.messages[0].content.length === 2,
      anthropic: claudeBlock('image'),
      gemini: geminiInline('image/png'),
      sdk: sdkFile('image/png'),
    },
  },
  {
    name: 'images, `http(s)` URL',
    request: showing({ type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }),
    native: {
      openai: (sent) => sent.messages[0].content.length === 2,
      anthropic: claudeBlock('image'),
      sdk: sdkFile('image/*'),
    },
  },
  {
    name: 'files (PDF)',
    request: showing({ type: 'file', file: { file_data: 'data:application/pdf;base64,AAEC' } }),
    native: {
      openai: (sent) => sent.messages[0].content.length === 2,
      anthropic: claudeBlock('document'),
      gemini: geminiInline('application/pdf'),
      sdk: sdkFile('application/pdf'),
    },
  },
  {
    name: 'sound in a message',
    request: showing({ type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } }),
    native: {
      openai: (sent) => sent.messages[0].content.length === 2,
      gemini: geminiInline('audio/wav'),
      sdk: sdkFile('audio/wav'),
    },
  },
  {
    name: 'tools and their results',
    request: {
      tools: [lookup],
      messages: [asked, { role: 'assistant', tool_calls: [called] }, { role: 'tool', tool_call_id: 'a', content: 'x' }],
    },
    native: {
      openai: (sent) => sent.messages[2].role === 'tool',
      anthropic: (sent) => sent.messages[2].content[0].type === 'tool_result',
      gemini: (sent) => sent.contents[2].parts[0].functionResponse !== undefined,
      sdk: (sent) => sent.prompt[2].content[0].type === 'tool-result',
    },
  },
  {
    name: '`tool_choice`: `required`, one function',
    request: { tools: [lookup], tool_choice: 'required' },
    native: {
      openai: inBody('tool_choice'),
      anthropic: (sent) => sent.tool_choice.type === 'any',
      gemini: (sent) => sent.toolConfig.functionCallingConfig.mode === 'ANY',
      sdk: (sent) => sent.toolChoice.type === 'required',
    },
  },
  {
    name: '`tool_choice`: `allowed_tools`',
    request: {
      tools: [lookup, other],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'lookup' } }] },
      },
    },
    native: { openai: inBody('tool_choice') },
    emulated: {
      anthropic: (sent) => sent.tools.length === 1,
      gemini: (sent) => sent.tools[0].functionDeclarations.length === 1,
      sdk: (sent) => sent.tools.length === 1,
    },
    how: 'the others are not offered',
  },
  {
    name: '`parallel_tool_calls: false`',
    request: { tools: [lookup], parallel_tool_calls: false },
    native: {
      openai: inBody('parallel_tool_calls'),
      anthropic: (sent) => sent.tool_choice.disable_parallel_tool_use === true,
    },
    emulated: { gemini: inBody('tools'), sdk: inBody('tools') },
    how: 'calls behind the first one are dropped',
  },
  {
    name: '`response_format`: `json_schema`',
    request: { response_format: { type: 'json_schema', json_schema: { name: 'thing', schema } } },
    native: {
      openai: inBody('response_format'),
      anthropic: (sent) => sent.output_config?.format?.type === 'json_schema',
      gemini: config('responseJsonSchema'),
      sdk: (sent) => sent.responseFormat?.schema !== undefined,
    },
    how: 'Claude before 4.1, and Gemini before 3 beside tools: a tool that the model must call stands in',
  },
  {
    name: '`response_format`: `json_object`',
    request: { response_format: { type: 'json_object' } },
    native: {
      openai: inBody('response_format'),
      gemini: config('responseMimeType'),
      sdk: (sent) => sent.responseFormat?.type === 'json',
    },
    emulated: { anthropic: (sent) => String(sent.system).includes('JSON object') },
    how: 'the model is asked in words',
  },
  {
    name: '`reasoning_effort`',
    request: { reasoning_effort: 'low' },
    native: {
      openai: inBody('reasoning_effort'),
      anthropic: inBody('thinking'),
      gemini: config('thinkingConfig'),
      sdk: inBody('reasoning'),
    },
    how: 'levels a model lacks become the nearest; older models get a budget of tokens',
  },
  {
    name: '`temperature`, `top_p`',
    request: { temperature: 0.5 },
    native: { openai: inBody('temperature'), gemini: config('temperature'), sdk: inBody('temperature') },
    emulated: { anthropic: (sent) => sent.temperature === undefined },
    how: "Claude: above 1 becomes 1; left out for models that take none (`sampling: 'refuse'` for a 400)",
  },
  {
    name: '`max_tokens`, `max_completion_tokens`',
    request: { max_completion_tokens: 5 },
    native: {
      openai: inBody('max_completion_tokens'),
      anthropic: (sent) => sent.max_tokens === 5,
      gemini: config('maxOutputTokens'),
      sdk: inBody('maxOutputTokens'),
    },
  },
  {
    name: '`stop`',
    request: { stop: ['END'] },
    native: {
      openai: inBody('stop'),
      anthropic: inBody('stop_sequences'),
      gemini: config('stopSequences'),
      sdk: inBody('stopSequences'),
    },
  },
  { name: '`n` above 1', request: { n: 2 }, native: { openai: inBody('n'), gemini: config('candidateCount') } },
  {
    name: '`seed`',
    request: { seed: 7 },
    native: { openai: inBody('seed'), gemini: config('seed'), sdk: inBody('seed') },
  },
  {
    name: '`presence_penalty`, `frequency_penalty`',
    request: { presence_penalty: 0.5 },
    native: { openai: inBody('presence_penalty'), gemini: config('presencePenalty'), sdk: inBody('presencePenalty') },
  },
  {
    name: '`logprobs`',
    request: { logprobs: true, top_logprobs: 2 },
    native: { openai: inBody('logprobs'), gemini: config('responseLogprobs') },
  },
  { name: '`logit_bias`', request: { logit_bias: { 5: 1 } }, native: sameAsSent('logit_bias') },
  { name: '`verbosity`', request: { verbosity: 'low' }, native: sameAsSent('verbosity') },
  { name: '`service_tier`: `flex`, `priority`', request: { service_tier: 'flex' }, native: sameAsSent('service_tier') },
  {
    name: '`modalities`: `image`',
    request: { modalities: ['text', 'image'] },
    native: { openai: inBody('modalities'), gemini: config('responseModalities') },
  },
  {
    name: '`modalities`: `audio`',
    request: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    native: sameAsSent('audio'),
  },
  { name: '`web_search_options`', request: { web_search_options: {} }, native: sameAsSent('web_search_options') },
  {
    name: 'tools of `type: custom`',
    request: { tools: [{ type: 'custom', custom: { name: 'c' } }] },
    native: sameAsSent('tools'),
  },
  {
    name: 'marks for caches (`prompt_cache_breakpoint`)',
    request: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }] },
      ],
    },
    native: {
      openai: (sent) => sent.messages[0].content[0].prompt_cache_breakpoint !== undefined,
      anthropic: (sent) => sent.messages[0].content[0].cache_control !== undefined,
    },
    emulated: { gemini: inBody('contents'), sdk: inBody('prompt') },
    how: 'no effect: the vendor decides what it keeps',
  },
]
