/** The features of chats, with the evidence that a vendor received each: the rows of the table in the guide. */
import type { Sent } from './vendor-requests.ts'

/** `anthropic` and `gemini` are bodies of the vendor's requests, `sdk` the options of a model of the AI SDK. */
export type Vendor = 'openai' | 'anthropic' | 'gemini' | 'sdk'

/** Whether the vendor's request has the feature: as a field (`native`), or expressed in another way (`emulated`). */
type Evidence = (sent: Sent) => boolean

interface Probe {
  readonly request: object
  readonly native: Partial<Record<Vendor, Evidence>>
  readonly emulated?: Partial<Record<Vendor, Evidence>>
  /** Vendors where it may be missing, because it changes only the style or the price of the response. */
  readonly leftOut?: Partial<Record<Vendor, Evidence>>
}

export interface Feature {
  readonly name: string
  /** One for each part of the feature. */
  readonly probes: readonly Probe[]
  /** An explanation for the guide. */
  readonly how?: string
}

const hello = { role: 'user', content: 'Hi' }
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
const sameAsSent = (field: string): Partial<Record<Vendor, Evidence>> => ({ openai: inBody(field) })
const fitted = (field: string) => ({ leftOut: { anthropic: (sent: Sent) => sent[field] === undefined } })

/** A probe for one field of the request. */
const field = (request: object, names: Partial<Record<Vendor, Evidence>>): Probe => ({ request, native: names })
const schemaByTool: Evidence = (sent) => sent.tool_choice?.name !== undefined && sent.tools.length === 1

export const features: readonly Feature[] = [
  {
    name: '`system` and `developer` anywhere',
    probes: [
      {
        request: {
          messages: [hello, { role: 'system', content: 'Be kind.' }, { role: 'developer', content: 'Be brief.' }],
        },
        native: { openai: (sent) => sent.messages.length === 3 },
        emulated: {
          anthropic: (sent) => JSON.stringify(sent.messages[0].content).includes('<system>\\nBe brief.'),
          gemini: (sent) =>
            sent.systemInstruction?.parts.length === 2 || JSON.stringify(sent.contents[0]).includes('Be brief.'),
          sdk: (sent) => sent.prompt[0].content === 'Be kind.\n\nBe brief.',
        },
      },
    ],
    how: 'as the words of the user at the same place, or all instructions at the start of the conversation',
  },
  {
    name: 'images, `data:` URL',
    probes: [
      {
        request: showing({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } }),
        native: {
          openai: (sent) => sent.messages[0].content.length === 2,
          anthropic: claudeBlock('image'),
          gemini: geminiInline('image/png'),
          sdk: sdkFile('image/png'),
        },
      },
    ],
  },
  {
    name: 'images, `http(s)` URL',
    probes: [
      {
        request: showing({ type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }),
        native: {
          openai: (sent) => sent.messages[0].content.length === 2,
          anthropic: claudeBlock('image'),
          gemini: (sent) => sent.contents[0].parts[1].fileData?.fileUri === 'https://pictures.test/a.png',
          sdk: sdkFile('image/*'),
        },
      },
    ],
    how: 'the vendor fetches it; the gateway fetches no URLs of clients',
  },
  {
    name: 'files (PDF)',
    probes: [
      {
        request: showing({ type: 'file', file: { file_data: 'data:application/pdf;base64,AAEC' } }),
        native: {
          openai: (sent) => sent.messages[0].content.length === 2,
          anthropic: claudeBlock('document'),
          gemini: geminiInline('application/pdf'),
          sdk: sdkFile('application/pdf'),
        },
      },
    ],
  },
  {
    name: 'audio in a message',
    probes: [
      {
        request: showing({ type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } }),
        native: {
          openai: (sent) => sent.messages[0].content.length === 2,
          gemini: geminiInline('audio/wav'),
          sdk: sdkFile('audio/wav'),
        },
      },
    ],
  },
  {
    name: 'tools and their results',
    probes: [
      {
        request: {
          tools: [lookup],
          messages: [
            hello,
            { role: 'assistant', tool_calls: [called] },
            { role: 'tool', tool_call_id: 'a', content: 'x' },
          ],
        },
        native: {
          openai: (sent) => sent.tools.length === 1 && sent.messages[2].role === 'tool',
          anthropic: (sent) => sent.tools.length === 1 && sent.messages[2].content[0].type === 'tool_result',
          gemini: (sent) =>
            sent.tools[0].functionDeclarations.length === 1 && sent.contents[2].parts[0].functionResponse !== undefined,
          sdk: (sent) => sent.tools.length === 1 && sent.prompt[2].content[0].type === 'tool-result',
        },
      },
    ],
  },
  {
    name: '`tool_choice`: `required`, one function',
    probes: [
      {
        request: { tools: [lookup], tool_choice: 'required' },
        native: {
          openai: (sent) => sent.tool_choice === 'required',
          anthropic: (sent) => sent.tool_choice.type === 'any',
          gemini: (sent) => sent.toolConfig.functionCallingConfig.mode === 'ANY',
          sdk: (sent) => sent.toolChoice.type === 'required',
        },
      },
      {
        request: { tools: [lookup, other], tool_choice: { type: 'function', function: { name: 'lookup' } } },
        native: {
          openai: (sent) => sent.tool_choice.function.name === 'lookup',
          anthropic: (sent) => sent.tool_choice.name === 'lookup',
          gemini: (sent) => sent.toolConfig.functionCallingConfig.allowedFunctionNames[0] === 'lookup',
          sdk: (sent) => sent.toolChoice.toolName === 'lookup',
        },
      },
    ],
    how: 'the newest Claude models decide themselves',
  },
  {
    name: '`tool_choice`: `allowed_tools`',
    probes: [
      {
        request: {
          tools: [lookup, other],
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'lookup' } }] },
          },
        },
        native: { openai: (sent) => sent.tool_choice.allowed_tools.tools.length === 1 && sent.tools.length === 2 },
        emulated: {
          anthropic: (sent) => sent.tools.length === 1,
          gemini: (sent) => sent.tools[0].functionDeclarations.length === 1,
          sdk: (sent) => sent.tools.length === 1,
        },
      },
    ],
    how: 'the other tools are not sent',
  },
  {
    name: '`parallel_tool_calls: false`',
    probes: [
      {
        request: { tools: [lookup], parallel_tool_calls: false },
        native: {
          openai: (sent) => sent.parallel_tool_calls === false,
          anthropic: (sent) => sent.tool_choice.disable_parallel_tool_use === true,
        },
        emulated: { gemini: inBody('tools'), sdk: inBody('tools') },
      },
    ],
    how: 'calls after the first one are dropped',
  },
  {
    name: '`response_format`: `json_schema`',
    probes: [
      {
        request: { response_format: { type: 'json_schema', json_schema: { name: 'thing', schema } } },
        native: {
          openai: (sent) => sent.response_format.json_schema.schema !== undefined,
          anthropic: (sent) => sent.output_config?.format?.type === 'json_schema',
          gemini: config('responseJsonSchema'),
          sdk: (sent) => sent.responseFormat?.schema !== undefined,
        },
        emulated: { anthropic: schemaByTool },
      },
    ],
    how: 'becomes a tool that the model must call',
  },
  {
    name: '`response_format`: `json_schema` beside tools',
    probes: [
      {
        request: { tools: [lookup], response_format: { type: 'json_schema', json_schema: { name: 'thing', schema } } },
        native: {
          openai: (sent) => sent.tools.length === 1 && sent.response_format.json_schema.schema !== undefined,
          anthropic: (sent) => sent.tools.length === 1 && sent.output_config?.format?.type === 'json_schema',
          gemini: (sent) => sent.tools[0].functionDeclarations.length === 1 && config('responseJsonSchema')(sent),
          sdk: (sent) => sent.tools.length === 1 && sent.responseFormat?.schema !== undefined,
        },
        emulated: {
          anthropic: (sent) => sent.tools.length === 2 && sent.tool_choice.type === 'any',
          gemini: (sent) =>
            sent.tools[0].functionDeclarations.length === 2 && sent.toolConfig.functionCallingConfig.mode === 'ANY',
        },
      },
    ],
    how: 'as above',
  },
  {
    name: '`response_format`: `json_object`',
    probes: [
      {
        request: { response_format: { type: 'json_object' } },
        native: {
          openai: (sent) => sent.response_format.type === 'json_object',
          gemini: config('responseMimeType'),
          sdk: (sent) => sent.responseFormat?.type === 'json',
        },
        emulated: { anthropic: (sent) => String(sent.system).includes('JSON object') },
      },
    ],
    how: 'becomes an instruction',
  },
  {
    name: '`reasoning_effort`',
    probes: [
      field(
        { reasoning_effort: 'low' },
        {
          openai: (sent) => sent.reasoning_effort === 'low',
          anthropic: inBody('thinking'),
          gemini: config('thinkingConfig'),
          sdk: (sent) => sent.reasoning === 'low',
        },
      ),
    ],
    how: 'a missing level becomes the nearest; older models get a token budget, the oldest have no reasoning',
  },
  {
    name: '`temperature`',
    probes: [
      {
        ...field(
          { temperature: 0.5 },
          {
            openai: inBody('temperature'),
            anthropic: inBody('temperature'),
            gemini: config('temperature'),
            sdk: inBody('temperature'),
          },
        ),
        ...fitted('temperature'),
      },
    ],
    how: "Claude: above 1 becomes 1; dropped for the newest models (`sampling: 'refuse'`: a 400 instead)",
  },
  {
    name: '`top_p`',
    probes: [
      {
        ...field(
          { top_p: 0.5 },
          { openai: inBody('top_p'), anthropic: inBody('top_p'), gemini: config('topP'), sdk: inBody('topP') },
        ),
        ...fitted('top_p'),
      },
    ],
    how: 'as above; dropped beside `temperature` if a model takes only one of them',
  },
  {
    name: '`max_tokens`, `max_completion_tokens`',
    probes: ['max_tokens', 'max_completion_tokens'].map((name) =>
      field(
        { [name]: 5 },
        {
          openai: (sent) => (sent.max_tokens ?? sent.max_completion_tokens) === 5,
          anthropic: (sent) => sent.max_tokens === 5,
          gemini: (sent) => sent.generationConfig.maxOutputTokens === 5,
          sdk: (sent) => sent.maxOutputTokens === 5,
        },
      ),
    ),
    how: 'in the field that the vendor has',
  },
  {
    name: '`stop`',
    probes: [
      field(
        { stop: ['END'] },
        {
          openai: inBody('stop'),
          anthropic: inBody('stop_sequences'),
          gemini: config('stopSequences'),
          sdk: inBody('stopSequences'),
        },
      ),
    ],
  },
  { name: '`n` above 1', probes: [field({ n: 2 }, { openai: inBody('n'), gemini: config('candidateCount') })] },
  {
    name: '`seed`',
    probes: [
      field(
        { seed: 7 },
        {
          openai: (sent) => (sent.seed ?? sent.random_seed) === 7,
          gemini: config('seed'),
          sdk: inBody('seed'),
        },
      ),
    ],
  },
  {
    name: '`presence_penalty`, `frequency_penalty`',
    probes: [
      field(
        { presence_penalty: 0.5 },
        { openai: inBody('presence_penalty'), gemini: config('presencePenalty'), sdk: inBody('presencePenalty') },
      ),
      field(
        { frequency_penalty: 0.5 },
        { openai: inBody('frequency_penalty'), gemini: config('frequencyPenalty'), sdk: inBody('frequencyPenalty') },
      ),
    ],
  },
  {
    name: '`logprobs`',
    probes: [
      field({ logprobs: true, top_logprobs: 2 }, { openai: inBody('logprobs'), gemini: config('responseLogprobs') }),
    ],
  },
  { name: '`logit_bias`', probes: [field({ logit_bias: { 5: 1 } }, sameAsSent('logit_bias'))] },
  { name: '`verbosity`', probes: [field({ verbosity: 'low' }, sameAsSent('verbosity'))] },
  {
    name: '`service_tier`: `flex`, `priority`',
    probes: ['flex', 'priority'].map((tier) =>
      field({ service_tier: tier }, { ...sameAsSent('service_tier'), gemini: (sent) => sent.serviceTier === tier }),
    ),
  },
  {
    name: '`modalities`: `image`',
    probes: [
      field({ modalities: ['text', 'image'] }, { openai: inBody('modalities'), gemini: config('responseModalities') }),
    ],
  },
  {
    name: '`modalities`: `audio`',
    probes: [field({ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, sameAsSent('audio'))],
  },
  { name: '`web_search_options`', probes: [field({ web_search_options: {} }, sameAsSent('web_search_options'))] },
  {
    name: 'tools of `type: custom`',
    probes: [
      {
        request: { tools: [{ type: 'custom', custom: { name: 'c' } }] },
        native: sameAsSent('tools'),
        emulated: {
          anthropic: (sent) => sent.tools[0].input_schema.required[0] === 'input',
          gemini: (sent) => sent.tools[0].functionDeclarations[0].parametersJsonSchema.required[0] === 'input',
          sdk: (sent) => sent.tools[0].inputSchema.required[0] === 'input',
        },
      },
    ],
    how: 'as a function with one text',
  },
  {
    name: 'cache breakpoints (`prompt_cache_breakpoint`)',
    probes: [
      {
        request: {
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }] },
          ],
        },
        native: {
          openai: (sent) => sent.messages[0].content[0].prompt_cache_breakpoint !== undefined,
          anthropic: (sent) => sent.messages[0].content[0].cache_control !== undefined,
        },
        leftOut: { gemini: inBody('contents'), sdk: inBody('prompt') },
      },
    ],
    how: 'the vendor decides what it caches',
  },
]
