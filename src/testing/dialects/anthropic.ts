import {
  finishOf,
  merged,
  piecesOf,
  requireResults,
  type Dialect,
  type DialectTurn,
  type ErrorKind,
  type Script,
  type ScriptedUsage,
} from './dialect.ts'

const head = { id: 'msg_scripted', type: 'message', role: 'assistant', model: 'claude-sonnet-4-20250514' }

const reasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }

/** The format of Anthropic's Messages API. */
export const anthropicDialect: Dialect = {
  name: 'anthropic',
  model: 'claude-sonnet-4-20250514',
  reports: ['written', 'written1h', 'searches', 'serviceTier'],
  body(script) {
    const stop = { stop_reason: reasons[finishOf(script)], stop_sequence: null }
    return JSON.stringify({ ...head, content: blocksOf(script), ...stop, usage: usageOf(script) })
  },
  stream(script) {
    const { output_tokens: written, output_tokens_details: details, server_tool_use: tools, ...input } = usageOf(script)
    const output = { output_tokens: written, output_tokens_details: details, ...(tools && { server_tool_use: tools }) }
    const begun = { ...head, content: [], stop_reason: null, stop_sequence: null }
    const frames = [
      frame('message_start', {
        message: { ...begun, usage: { ...input, output_tokens: 1 } },
      }),
      frame('ping', {}),
      ...blocksOf(script).flatMap((block, index) => [
        frame('content_block_start', { index, content_block: emptied(block) }),
        ...deltasOf(block).map((delta) => frame('content_block_delta', { index, delta })),
        frame('content_block_stop', { index }),
      ]),
      frame('message_delta', { delta: { stop_reason: reasons[finishOf(script)], stop_sequence: null }, usage: output }),
    ]
    return { frames: [...frames, frame('message_stop', {})], complete: frames.length }
  },
  errorReply(kind, secret) {
    const [status, type, message] = errors[kind]
    const error = { type, message: message + secret }
    const headers = { 'request-id': secret, ...(kind === 'rate' && { 'retry-after': '7' }) }
    return { status, headers, body: JSON.stringify({ type: 'error', error, request_id: secret }) }
  },
  errorFrame: (secret) => frame('error', { error: { type: 'overloaded_error', message: secret } }),
  parse({ json }) {
    const { stream, system = '', messages, tools = [] } = json as Request
    requireOrder(messages)
    const names = new Map(
      messages.flatMap(({ content }) => blocksIn(content).map(({ id = '', name = '' }) => [id, name])),
    )
    return {
      stream: stream === true,
      instructions: typeof system === 'string' ? system : system.map(({ text = '' }) => text).join('\n\n'),
      turns: merged(messages.map(({ role, content }) => turnOf(role, blocksIn(content), names))),
      tools: tools.map(({ name }) => name),
    }
  },
}

interface Request {
  readonly stream?: boolean
  readonly system?: string | readonly Block[]
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string | readonly Block[] }[]
  readonly tools?: readonly { readonly name: string }[]
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: string | readonly Block[]
  readonly source?: { readonly data?: string }
}

/** Call ids must be unique and match Anthropic's pattern; a turn's results must come first in the next turn. */
function requireOrder(messages: Request['messages']): void {
  const seen = new Set<string>()
  messages.forEach(({ content }, index) => {
    const ids = blocksIn(content).flatMap(({ type, id = '' }) => (type === 'tool_use' ? [id] : []))
    for (const id of ids) {
      if (!/^[\w-]{1,64}$/.test(id) || seen.has(id)) throw new TypeError(`"${id}" is not a valid new call id`)
      seen.add(id)
    }
    const next = blocksIn(messages[index + 1]?.content)
    const results = next.slice(0, ids.length).map(({ tool_use_id: id = '' }) => id)
    requireResults(ids, results)
    if (next.slice(ids.length).some(({ type }) => type === 'tool_result')) throw new TypeError('a result has no call')
  })
}

function blocksIn(content: string | readonly Block[] | undefined): readonly Block[] {
  if (content === undefined) return []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function turnOf(role: 'user' | 'assistant', blocks: readonly Block[], names: ReadonlyMap<string, string>): DialectTurn {
  const of = (type: string) => blocks.filter((block) => block.type === type)
  return {
    role,
    text: of('text')
      .map(({ text = '' }) => text)
      .join(''),
    images: of('image').map(({ source }) => source?.data ?? ''),
    calls: of('tool_use').map(({ name = '', input }) => ({ name, input })),
    results: of('tool_result').map(({ tool_use_id: id = '', content }) => {
      return {
        name: names.get(id) ?? '',
        text: blocksIn(content)
          .map(({ text = '' }) => text)
          .join(''),
      }
    }),
  }
}

function blocksOf({ reasoning, text, calls = [] }: Script): Block[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'signed' }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
}

function emptied(block: Block): Block {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} }
}

function deltasOf({ type, thinking = '', signature, text = '', input }: Block): object[] {
  if (type === 'text') return piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece }))
  if (type === 'thinking') {
    const deltas = piecesOf(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
    return [...deltas, { type: 'signature_delta', signature }]
  }
  const json = Object.keys(Object(input) as object).length === 0 ? '' : JSON.stringify(input)
  return ['', ...piecesOf(json)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
}

function frame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** Anthropic's `input_tokens` does not include cached tokens. */
function usageOf({ usage }: Script) {
  const given: ScriptedUsage = usage ?? { input: 1, cached: 0, output: 1, reasoning: 0 }
  const { input, cached, output, reasoning, written = 0, written1h = 0, searches = 0, serviceTier } = given
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written - written1h, ephemeral_1h_input_tokens: written1h },
    service_tier: serviceTier ?? 'standard',
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } }),
  }
}

const errors: Readonly<Record<ErrorKind, readonly [number, string, string]>> = {
  invalid: [400, 'invalid_request_error', ''],
  key: [401, 'authentication_error', ''],
  'empty account': [400, 'invalid_request_error', 'Your credit balance is too low to access the API. '],
  rate: [429, 'rate_limit_error', ''],
  overloaded: [529, 'overloaded_error', ''],
  broken: [500, 'api_error', ''],
}
