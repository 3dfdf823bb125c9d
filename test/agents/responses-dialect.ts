/** The format of OpenAI's Responses API, for a vendor that serves agents. */
import {
  merged,
  requireResults,
  type Dialect,
  type DialectTurn,
  type Script,
} from '../../src/testing/dialects/dialect.ts'

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: string | readonly { readonly text?: string }[]
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly output?: string | readonly { readonly text?: string }[]
}

interface Request {
  readonly stream?: boolean
  readonly store?: boolean
  readonly instructions?: string | null
  readonly input: readonly Item[]
  readonly tools?: readonly { readonly name?: string }[]
}

export const responsesDialect: Dialect = {
  name: 'openai responses',
  model: 'gpt-5',
  body: (script) => JSON.stringify(responseOf(script, 'completed')),
  stream(script) {
    const response = responseOf(script, 'completed')
    const opening = { ...response, status: 'in_progress', output: [], usage: null }
    let number = 0
    const frame = (event: Event) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number++ })}\n\n`
    const frames = [
      frame({ type: 'response.created', response: opening }),
      ...response.output.flatMap((item, output_index) => eventsOf(item, output_index).map((event) => frame(event))),
    ]
    return { frames: [...frames, frame({ type: 'response.completed', response })], complete: frames.length + 1 }
  },
  errorReply: (_, secret) => ({ status: 400, body: JSON.stringify({ error: { message: secret, type: 'invalid' } }) }),
  errorFrame: (secret) => `event: error\ndata: ${JSON.stringify({ type: 'error', message: secret })}\n\n`,
  parse({ json }) {
    const { stream, store, input, instructions, tools = [] } = json as Request
    if (store !== false) throw new TypeError('the gateway lets the vendor store a response')
    const calls = input.filter(({ type }) => type === 'function_call')
    const results = input.filter(({ type }) => type === 'function_call_output')
    requireResults(
      calls.map(({ call_id = '' }) => call_id),
      results.map(({ call_id = '' }) => call_id),
    )
    const names = new Map(calls.map(({ call_id, name = '' }) => [call_id, name]))
    const isSystem = ({ role }: Item) => role === 'system' || role === 'developer'
    return {
      stream: stream === true,
      instructions: [instructions ?? '', ...input.filter(isSystem).map(({ content }) => textOf(content))].join('\n\n'),
      turns: merged(input.filter((item) => !isSystem(item)).map((item) => turnOf(item, names))),
      tools: tools.map(({ name = '' }) => name),
    }
  },
}

function responseOf({ text = '', calls = [], usage }: Script, status: string) {
  const message = {
    type: 'message',
    id: 'msg_scripted',
    status,
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
  const called = calls.map(({ id, name, input }) => {
    return { type: 'function_call', id: `fc_${id}`, call_id: id, status, name, arguments: JSON.stringify(input) }
  })
  const { input = 1, output = 1 } = usage ?? {}
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'gpt-5',
    status,
    output: [...(text === '' ? [] : [message]), ...called],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

type Output = ReturnType<typeof responseOf>['output'][number]

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

function eventsOf(item: Output, output_index: number): Event[] {
  const at = { item_id: item.id, output_index }
  const added = (fields: object) => {
    return { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...fields } }
  }
  const done = { type: 'response.output_item.done', output_index, item }
  if ('arguments' in item) {
    const delta = { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments }
    const whole = { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments }
    return [added({ arguments: '' }), delta, whole, done]
  }
  const place = { ...at, content_index: 0 }
  const [part = { text: '' }] = item.content
  return [
    added({ content: [] }),
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: part.text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    done,
  ]
}

function turnOf(item: Item, names: ReadonlyMap<string | undefined, string>): DialectTurn {
  const { type = 'message', role, name = '', arguments: given = '{}', call_id, output, content } = item
  const empty = { text: '', images: [], calls: [], results: [] }
  if (type === 'function_call') return { ...empty, role: 'assistant', calls: [{ name, input: JSON.parse(given) }] }
  if (type === 'function_call_output') {
    return { ...empty, role: 'user', results: [{ name: names.get(call_id) ?? '', text: textOf(output) }] }
  }
  return { ...empty, role: role === 'user' ? 'user' : 'assistant', text: textOf(content) }
}

function textOf(content: Item['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('')
}
