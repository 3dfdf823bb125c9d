import {
  finishOf,
  merged,
  piecesOf,
  requireResults,
  type Dialect,
  type DialectTurn,
  type ErrorKind,
  type Script,
} from './dialect.ts'

const head = { id: 'chatcmpl-scripted', created: 1_700_000_000, model: 'gpt-scripted' }

/** The format of OpenAI's chat completions. */
export const openaiDialect: Dialect = {
  name: 'openai',
  model: 'gpt-scripted',
  reports: ['written', 'audio', 'serviceTier'],
  body(script) {
    const { reasoning, text, calls = [] } = script
    const message = {
      role: 'assistant',
      content: text ?? null,
      refusal: null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }) => {
          return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
        }),
      }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(script) }
    return JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], ...usageIn(script) })
  },
  stream(script) {
    const { reasoning = '', text = '', calls = [] } = script
    const frames = [
      chunk({ role: 'assistant', content: text === '' ? null : '' }),
      ...piecesOf(reasoning).map((piece) => chunk({ reasoning_content: piece })),
      ...piecesOf(text).map((piece) => chunk({ content: piece })),
      ...calls.flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...piecesOf(JSON.stringify(input)).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, finishOf(script)),
    ]
    const usage = frame({ ...head, object: 'chat.completion.chunk', choices: [], ...usageIn(script) })
    return { frames: [...frames, usage, 'data: [DONE]\n\n'], complete: frames.length }
  },
  errorReply(kind, secret) {
    const [status, type, code] = errors[kind]
    const headers = { 'x-request-id': secret, ...(kind === 'rate' && { 'retry-after': '7' }) }
    return { status, headers, body: JSON.stringify({ error: { message: secret, type, param: null, code } }) }
  },
  errorFrame: (secret) => frame({ error: { message: secret, type: 'server_error', param: null, code: null } }),
  parse({ json }) {
    const { stream, messages, tools = [] } = json as Request
    requireOrder(messages)
    const names = new Map(
      messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name])),
    )
    const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
    return {
      stream: stream === true,
      instructions: system.map(({ content }) => contentText(content)).join('\n\n'),
      turns: merged(messages.filter((message) => !system.includes(message)).map((message) => turnOf(message, names))),
      tools: tools.map((tool) => tool.function.name),
    }
  },
}

interface Request {
  readonly stream?: boolean
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface Message {
  readonly role: string
  readonly content?: string | readonly Part[] | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

interface Part {
  readonly text?: string
  readonly image_url?: { readonly url: string }
}

/** A turn's results must follow it directly. */
function requireOrder(messages: Request['messages']): void {
  messages.forEach(({ tool_calls: calls = [] }, index) => {
    const next = messages.slice(index + 1, index + 1 + calls.length)
    if (calls.length > 0) {
      requireResults(
        calls.map(({ id }) => id),
        next.map(({ tool_call_id: id = '' }) => id),
      )
    }
  })
}

function turnOf(message: Message, names: ReadonlyMap<string, string>): DialectTurn {
  const { role, content, tool_call_id: id = '', tool_calls: calls = [] } = message
  const text = contentText(content)
  const result = role === 'tool'
  const parts = Array.isArray(content) ? (content as readonly Part[]) : []
  return {
    role: role === 'assistant' ? 'assistant' : 'user',
    text: result ? '' : text,
    images: parts.flatMap(({ image_url: image }) => (image === undefined ? [] : [image.url.split(',')[1] ?? ''])),
    calls: calls.map(({ function: { name, arguments: input } }) => ({ name, input: JSON.parse(input) as unknown })),
    results: result ? [{ name: names.get(id) ?? '', text }] : [],
  }
}

function contentText(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text = '' }) => text).join('')
}

function chunk(delta: object, finish: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
  return frame({ ...head, object: 'chat.completion.chunk', choices: [choice], usage: null })
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function usageIn({ usage }: Script): object {
  if (usage === undefined) return {}
  const { input, cached, output, reasoning, written, audio, serviceTier } = usage
  return {
    ...(serviceTier && { service_tier: serviceTier }),
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: {
        cached_tokens: cached,
        ...(written !== undefined && { cache_write_tokens: written }),
        ...(audio !== undefined && { audio_tokens: audio }),
      },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }
}

const errors: Readonly<Record<ErrorKind, readonly [number, string, string | null]>> = {
  invalid: [400, 'invalid_request_error', null],
  key: [401, 'invalid_request_error', 'invalid_api_key'],
  'empty account': [429, 'insufficient_quota', 'insufficient_quota'],
  rate: [429, 'requests', 'rate_limit_exceeded'],
  overloaded: [503, 'server_error', null],
  broken: [500, 'server_error', null],
}
