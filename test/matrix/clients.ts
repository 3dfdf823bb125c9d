/** The formats of clients: writes requests. */
import { contentIn as blocksIn, messageIn } from '../makers/collected.ts'
import { contentIn } from '../formats/recorded.ts'
import type { ClientName, Feature, Json, Part, Turn } from './feature.ts'

export interface Client {
  readonly path: (model: string, stream: boolean) => string
  readonly headers?: Readonly<Record<string, string>>
  /** A turn as entries of the conversation. */
  readonly entries: (turn: Turn) => Json[]
  /** The body of a request, without `model` and `stream`, if the body has them. */
  readonly body: (entries: readonly Json[], feature: Feature) => object
  /** A whole answer as entries of the conversation: what clients send back. */
  readonly back: (answer: Json) => Json[]
  /** The whole answer in the data of a stream's events. */
  readonly whole: (frames: readonly string[]) => Json
}

const isText = (parts: readonly Part[]) => parts.length === 1 && parts[0]?.text !== undefined && !parts[0].own
const of = <Key extends keyof Part>(parts: readonly Part[], key: Key) =>
  parts.filter((part) => part[key] !== undefined) as (Part & Required<Pick<Part, Key>>)[]
const contentOf = (parts: readonly Part[]) =>
  parts.filter(({ text, image, file, audio }) => (text ?? image ?? file ?? audio) !== undefined)
const dataOf = (url: string) => /^data:(?<type>[^;]+);base64,(?<data>.*)$/.exec(url)?.groups
const openSchema = { type: 'object', properties: {} }
const strictness = ({ strict }: { readonly strict?: boolean }) => (strict === undefined ? {} : { strict })
const system = (role: string) => role === 'system' || role === 'developer'

const parsed = (frames: readonly string[]): Json[] =>
  frames.filter((frame) => frame !== '[DONE]').map((frame) => JSON.parse(frame))

const chat: Client = {
  path: () => '/v1/chat/completions',
  entries: ({ role, parts }) => {
    const results = of(parts, 'result').map(({ result }) => {
      return { role: 'tool', tool_call_id: result.id, content: chatContent(result.parts) }
    })
    const content = contentOf(parts)
    const calls = of(parts, 'call').map(({ call: { id, name, input } }) => {
      return { id, type: 'function', function: { name, arguments: input } }
    })
    const [thought] = of(parts, 'reasoning')
    if (content.length + calls.length === 0) return results
    const message = {
      role,
      content: content.length > 0 ? chatContent(content) : null,
      ...(thought && { reasoning_content: thought.reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    return [...results, message]
  },
  body: (messages, { tools, choice, serial, schema, fields }) => ({
    messages,
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters, ...tool }) => {
        return { type: 'function', function: { name, description, parameters, ...strictness(tool) } }
      }),
    }),
    ...(choice && { tool_choice: chatChoice(choice) }),
    ...(serial && { parallel_tool_calls: false }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'thing', strict: true, schema } } }),
    ...fields?.chat,
  }),
  back: ({ choices }) => [choices[0].message],
  whole: (frames) => {
    const events = parsed(frames)
    const finish_reason = events.findLast(({ choices }) => choices?.[0]?.finish_reason)?.choices[0].finish_reason
    const usage = events.findLast((event) => event.usage)?.usage
    return { ...events.at(-1), choices: [{ message: messageIn(frames), finish_reason }], usage }
  },
}

function chatContent(parts: readonly Part[]): Json {
  if (isText(parts)) return parts[0]?.text
  return parts.map(({ text, image, file, audio, own }) => {
    if (image) return { type: 'image_url', image_url: { url: image, ...own?.chat } }
    if (file) return { type: 'file', file: { filename: 'a.pdf', file_data: file, ...own?.chat } }
    if (audio) return { type: 'input_audio', input_audio: { data: audio, format: 'wav' } }
    return { type: 'text', text, ...own?.chat }
  })
}

function chatChoice(choice: NonNullable<Feature['choice']>): Json {
  if (typeof choice === 'string') return choice
  if ('name' in choice) return { type: 'function', function: choice }
  const tools = choice.map((name) => ({ type: 'function', function: { name } }))
  return { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } }
}

const responses: Client = {
  path: () => '/v1/responses',
  entries: ({ role, parts }) => {
    const content = contentOf(parts)
    return [
      ...of(parts, 'reasoning').map(({ reasoning, state }) => {
        const summary = [{ type: 'summary_text', text: reasoning }]
        return { type: 'reasoning', id: 'rs_1', summary, ...(state && { encrypted_content: state }) }
      }),
      ...of(parts, 'result').map(({ result }) => {
        return { type: 'function_call_output', call_id: result.id, output: responsesContent('user', result.parts) }
      }),
      ...(content.length > 0 ? [{ type: 'message', role, content: responsesContent(role, content) }] : []),
      ...of(parts, 'call').map(({ call: { id, name, input } }) => {
        return { type: 'function_call', call_id: id, name, arguments: input }
      }),
    ]
  },
  body: (input, { tools, choice, serial, schema, fields }) => ({
    input,
    store: false,
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters = openSchema, ...tool }) => {
        return { type: 'function', name, description, parameters, strict: null, ...strictness(tool) }
      }),
    }),
    ...(choice && { tool_choice: responsesChoice(choice) }),
    ...(serial && { parallel_tool_calls: false }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'thing', strict: true, schema } } }),
    ...fields?.responses,
  }),
  back: ({ output }) => output,
  whole: (frames) => parsed(frames).findLast(({ response }) => response)?.response,
}

function responsesContent(role: string, parts: readonly Part[]): Json {
  if (isText(parts)) return parts[0]?.text
  return parts.map(({ text, image, file, audio, own }) => {
    if (image) return { type: 'input_image', image_url: image, detail: 'auto', ...own?.responses }
    if (file) {
      return {
        type: 'input_file',
        ...(dataOf(file) ? { filename: 'a.pdf', file_data: file } : { file_url: file }),
        ...own?.responses,
      }
    }
    if (audio) return { type: 'input_audio', input_audio: { data: audio, format: 'wav' } }
    return { type: role === 'assistant' ? 'output_text' : 'input_text', text, ...own?.responses }
  })
}

function responsesChoice(choice: NonNullable<Feature['choice']>): Json {
  if (typeof choice === 'string') return choice
  if ('name' in choice) return { type: 'function', ...choice }
  return { type: 'allowed_tools', mode: 'auto', tools: choice.map((name) => ({ type: 'function', name })) }
}

const messages: Client = {
  path: () => '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  entries: ({ role, parts }) => [{ role: system(role) ? 'system' : role, content: messagesContent(parts) }],
  body: (entries, { tools, choice, serial, schema, fields }) => {
    const first = entries.findIndex(({ role }) => role !== 'system')
    const instructions = entries.slice(0, first).map(({ content }) => content)
    const blocks = instructions.flatMap((each) => (typeof each === 'string' ? [{ type: 'text', text: each }] : each))
    const names = Array.isArray(choice) ? (choice as string[]) : undefined
    const offered = tools?.filter(({ name }) => names?.includes(name) !== false)
    return {
      max_tokens: 4_096,
      messages: entries.slice(first),
      ...(first > 0 && { system: first === 1 ? instructions[0] : blocks }),
      ...(offered && {
        tools: offered.map(({ name, description, schema: input_schema = openSchema, ...tool }) => {
          return { name, description, input_schema, ...strictness(tool) }
        }),
      }),
      ...((choice || serial) && {
        tool_choice: { ...messagesChoice(choice), ...(serial && { disable_parallel_tool_use: true }) },
      }),
      ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
      ...fields?.messages,
    }
  },
  back: ({ content }) => [{ role: 'assistant', content }],
  whole: (frames) => {
    const events = parsed(frames)
    const end = events.findLast(({ type }) => type === 'message_delta')
    const start = events[0]?.message
    return { ...start, ...end?.delta, usage: { ...start?.usage, ...end?.usage }, content: blocksIn(events) ?? [] }
  },
}

function messagesContent(parts: readonly Part[]): Json {
  if (isText(parts)) return parts[0]?.text
  return parts.map(({ text, image, file, audio, call, result, reasoning, state, own }) => {
    if (image) return { type: 'image', source: sourceOf(image), ...own?.messages }
    if (file) return { type: 'document', source: sourceOf(file), ...own?.messages }
    if (audio) return { type: 'audio', source: { type: 'base64', media_type: 'audio/wav', data: audio } }
    if (call) return { type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.input) }
    if (result) {
      const { id, parts: content, failed } = result
      return {
        type: 'tool_result',
        tool_use_id: id,
        content: messagesContent(content),
        ...(failed && { is_error: true }),
      }
    }
    if (reasoning !== undefined) return { type: 'thinking', thinking: reasoning, signature: state ?? '' }
    return { type: 'text', text, ...own?.messages }
  })
}

function sourceOf(url: string): object {
  const { type, data } = dataOf(url) ?? {}
  return type === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data }
}

function messagesChoice(choice: Feature['choice']): Json {
  if (choice === 'required') return { type: 'any' }
  if (typeof choice === 'string') return { type: choice }
  return choice && 'name' in choice ? { type: 'tool', ...choice } : { type: 'auto' }
}

const gemini: Client = {
  path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  entries: ({ role, parts }) => [{ role: role === 'assistant' ? 'model' : role, parts: parts.map(contentPart) }],
  body: (entries, { tools, choice, schema, fields }) => {
    const { generationConfig, ...more } = (fields?.gemini ?? {}) as Json
    const instructions = entries.filter(({ role }) => system(role)).flatMap(({ parts }) => parts)
    const json = schema && { responseMimeType: 'application/json', responseJsonSchema: schema }
    return {
      contents: entries.filter(({ role }) => !system(role)),
      ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
      ...(tools && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, description, schema: parametersJsonSchema }) => {
              return { name, description, parametersJsonSchema }
            }),
          },
        ],
      }),
      ...(choice && { toolConfig: { functionCallingConfig: contentChoice(choice) } }),
      ...((generationConfig || json) && { generationConfig: { ...json, ...generationConfig } }),
      ...more,
    }
  },
  back: ({ candidates }) => [candidates[0].content],
  whole: (frames) => contentIn(parsed(frames)),
}

function contentPart({ text, image, file, audio, call, result, reasoning, state, own }: Part): Json {
  const url = image ?? file
  const inline = audio ? { type: 'audio/wav', data: audio } : url && dataOf(url)
  if (inline) return { inlineData: { mimeType: inline['type'], data: inline['data'] }, ...own?.gemini }
  if (url) return { fileData: { fileUri: url, mimeType: image ? 'image/png' : 'application/pdf' } }
  if (call) return { functionCall: { id: call.id, name: call.name, args: JSON.parse(call.input) } }
  if (result) {
    const { id, name, parts, failed } = result
    const output = parts.map((part) => part.text ?? '').join('')
    const media = parts.filter((part) => part.text === undefined).map(contentPart)
    const response = failed ? { error: output } : { output }
    return { functionResponse: { id, name, response, ...(media.length > 0 && { parts: media }) } }
  }
  if (reasoning !== undefined) return { text: reasoning, thought: true, ...(state && { thoughtSignature: state }) }
  return { text, ...own?.gemini }
}

function contentChoice(choice: NonNullable<Feature['choice']>): Json {
  if (typeof choice !== 'string')
    return { mode: 'ANY', allowedFunctionNames: 'name' in choice ? [choice.name] : choice }
  return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() }
}

export const clients: Readonly<Record<ClientName, Client>> = { chat, responses, messages, gemini }
